package server

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"muster/protocol"
)

const (
	ackPath, leaveMatchPath = "/v1/matching/ack", "/v1/matching/leave_match"
	acceptPath, declinePath = "/v1/matching/accept", "/v1/matching/decline"
)

// httpTwin is the HTTP request that does the same as a message of the WebSocket, or why there is none.
var httpTwin = map[string]struct{ method, path, without string }{
	protocol.TypeHello:      {without: "each request names its player; a heartbeat makes the player live"},
	protocol.TypeJoin:       {post, joinPath, ""},
	protocol.TypeLeave:      {post, leavePath, ""},
	protocol.TypeStatus:     {get, statusPath, ""},
	protocol.TypeAccept:     {post, acceptPath, ""},
	protocol.TypeDecline:    {post, declinePath, ""},
	protocol.TypeAck:        {post, ackPath, ""},
	protocol.TypeLeaveMatch: {post, leaveMatchPath, ""},
	protocol.TypePing:       {without: "it tests a connection that is kept; a request without an answer shows the same"},
}

func TestHTTP_HasEachVerbOfTheWebSocket(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(document), "\n## 7. HTTP")
	var routes []string
	for _, r := range run(t, serving(duel("voice"))).server.handler().(*gin.Engine).Routes() {
		routes = append(routes, r.Method+" "+r.Path)
	}
	for _, kind := range protocol.RequestTypes() {
		twin, known := httpTwin[kind]
		switch route := twin.method + " " + twin.path; {
		case !known:
			t.Errorf("%s has no twin, and no reason to have none", kind)
		case twin.without != "":
		case !slices.Contains(routes, route):
			t.Errorf("%s: there is no route %s", kind, route)
		case !strings.Contains(section, "`"+route):
			t.Errorf("%s: docs/protocol.md, section 7, lacks %s", kind, route)
		}
	}
	if len(httpTwin) != len(protocol.RequestTypes()) {
		t.Errorf("%d twins of %d types of requests", len(httpTwin), len(protocol.RequestTypes()))
	}
}

// A match has a life over HTTP alone: it is accepted, acknowledged and left.
func TestHTTP_AcknowledgesAndLeavesAMatch(t *testing.T) {
	t.Parallel()
	config := settings(t, serving(duel("voice")))
	one, two := launch(t, config), launch(t, config)
	beat := func(player string) object {
		return one.wantStatus(http.StatusOK, nil, player, post, heartbeatPath, "").body
	}
	for _, player := range []string{"ana", "ben"} {
		beat(player)
		one.wantStatus(http.StatusCreated, nil, player, post, joinPath, `{"world":"voice"}`)
	}
	var match object
	eventually(t, "they are in a match", func() bool {
		match, _ = beat("ana")["match"].(object)
		return match != nil
	})
	body := `{"match_id":"` + match["id"].(string) + `"}`
	for _, path := range []string{ackPath, leaveMatchPath} {
		one.wantStatus(http.StatusBadRequest, object{"code": "bad_message"}, "ana", post, path, `{}`)
		one.wantStatus(http.StatusUnauthorized, object{"code": "unauthorized"}, "", post, path, body)
		one.wantStatus(http.StatusNotFound, object{"code": "no_such_match"}, "ana", post, path, `{"match_id":"other"}`)
		one.wantStatus(http.StatusNotFound, object{"code": "no_such_match"}, "zoe", post, path, body)
	}
	for range 2 { // sent again, it is acknowledged again
		a := one.wantStatus(http.StatusOK, nil, "ana", post, ackPath, body)
		wantShape(t, fields{"match_id": exactly(match["id"].(string))}, a.body)
		wantFields(t, beat("ana")["match"].(object), object{"id": match["id"], "acked": true})
	}
	wantFields(t, beat("ben")["match"].(object), object{"acked": false})

	a := two.wantStatus(http.StatusOK, nil, "game-server", post, leaveMatchPath, `{"player_id":"ana",`+body[1:])
	wantShape(t, fields{"match_id": exactly(match["id"].(string))}, a.body)
	two.wantStatus(http.StatusNotFound, object{"code": "no_such_match"}, "ana", post, leaveMatchPath, body)
	wantFields(t, beat("ana"), object{"match": nil, "notices": []any{}})
	wantFields(t, beat("ben")["match"].(object), object{"id": match["id"]})
	one.wantStatus(http.StatusCreated, nil, "ana", post, joinPath, `{"world":"voice"}`)
}

// A seat that is acknowledged over HTTP is kept beyond seat_hold.
func TestHTTP_TakesUpItsSeat(t *testing.T) {
	t.Parallel()
	w := lounge(2)
	w.SeatHold = time.Second
	i := run(t, serving(w))
	seated := func(player string) object {
		m, _ := i.wantStatus(http.StatusOK, nil, player, post, heartbeatPath, "").body["match"].(object)
		return m
	}
	for _, player := range []string{"ana", "ben"} {
		seated(player)
		i.wantStatus(http.StatusCreated, nil, player, post, joinPath, `{"world":"lounge"}`)
	}
	eventually(t, "both have a seat", func() bool { return seated("ana") != nil && seated("ben") != nil })
	i.wantStatus(http.StatusOK, nil, "ana", post, ackPath, `{"match_id":"`+seated("ana")["id"].(string)+`"}`)
	eventually(t, "a seat that is not taken up is given back", func() bool { return seated("ben") == nil })
	if seated("ana") == nil {
		t.Error("the seat that was acknowledged is given back too")
	}
}

// The player's own session knows what was done for it by HTTP.
func TestHTTP_AckAndLeaveReachTheSession(t *testing.T) {
	t.Parallel()
	config := settings(t, serving(duel("voice")))
	one, two := launch(t, config), launch(t, config)
	ana, ben := one.greet("ana"), one.greet("ben")
	match := matched(ana, ben, "voice")
	body := `{"match_id":"` + match["id"].(string) + `"}`
	two.wantStatus(http.StatusOK, nil, "ana", post, ackPath, body)
	wantFields(t, ana.status()["match"].(object), object{"id": match["id"], "acked": true})
	two.wantStatus(http.StatusOK, nil, "ana", post, leaveMatchPath, body)
	wantFields(t, ana.next("state"), object{"match": nil})
}
