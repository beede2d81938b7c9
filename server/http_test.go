package server

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/configs"
)

const (
	get, post, remove = http.MethodGet, http.MethodPost, http.MethodDelete

	joinPath, leavePath, heartbeatPath = "/v1/matching/join", "/v1/matching/leave", "/v1/matching/heartbeat"
	statusPath, queuePath, worldsPath  = "/v1/matching/my-status", "/v1/matching/queue-status/", "/v1/matching/worlds"
)

// What only reads answers HEAD, but for my-status: a proposal that it answers counts as shown.
func TestHTTP_AnswersHEAD(t *testing.T) {
	t.Parallel()
	i := run(t, serving(duel("voice")))
	match := matched(i.greet("ana"), i.greet("ben"), "voice")
	for path, status := range map[string]int{
		"/healthz": 200, "/readyz": 200, worldsPath: 200, queuePath + "voice": 200, fmt.Sprint("/v1/matches/", match["id"]): 200, "/": 200,
		queuePath + "nowhere": 404, statusPath: 405, joinPath: 405,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, "http://"+i.address+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := stranger.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != status {
			t.Errorf("HEAD %s: %d, want %d", path, response.StatusCode, status)
		}
	}
}

func TestHTTPRefusals(t *testing.T) {
	t.Parallel()
	closed := group("shut", 2)
	closed.State = configs.WorldClosed
	limited := group("limited", 3)
	limited.QueueLimit = 1
	i := run(t, func(c *configs.Config) {
		c.Worlds = []configs.World{group("world1", 3), closed, limited, group("world3", 2), duel("voice")}
		c.Limits.WorldsPerPlayer = 2
	})
	i.greet("ana")
	i.greet("cem")
	ben := i.greet("ben")
	ticket := i.wantStatus(http.StatusCreated, nil, "ana", post, joinPath, `{"world":"world1","ticket":"k"}`).body["ticket_id"]
	i.wantStatus(http.StatusCreated, nil, "ana", post, joinPath, `{"world":"limited"}`)
	for _, c := range []struct {
		player, method, path, body string
		status                     int
		code                       string
	}{
		{"ana", post, joinPath, `{`, 400, "bad_message"},
		{"ana", post, joinPath, `[]`, 400, "bad_message"},
		{"ana", post, joinPath, ``, 400, "bad_message"},
		{"ana", post, joinPath, `{"world":""}`, 400, "bad_message"},
		{"ana", post, joinPath, `{"world":"world1"}{}`, 400, "bad_message"},
		{"ana", post, joinPath, `{"world":"world1","world":"world1"}`, 400, "bad_message"},
		{"ana", post, joinPath, `{"world":"world1","ticket":"k","attributes":{"a":1}}`, 400, "bad_message"},
		{"ana", post, joinPath, `{"world":"world3","player_id":""}`, 400, "bad_message"},
		{"not an id", post, joinPath, `{"world":"world3"}`, 400, "bad_message"},
		{"ana", post, joinPath, `{"world":"world1","party":["ben"]}`, 400, "party_too_large"},
		{"", post, joinPath, `{"world":"world1"}`, 401, "unauthorized"},
		{"", post, leavePath, ``, 401, "unauthorized"},
		{"", post, heartbeatPath, ``, 401, "unauthorized"},
		{"", get, statusPath, ``, 401, "unauthorized"},
		{"ana", post, joinPath, `{"world":"nowhere"}`, 404, "unknown_world"},
		{"ana", post, leavePath, `{"world":"nowhere"}`, 404, "unknown_world"},
		{"", get, queuePath + "nowhere", ``, 404, "unknown_world"},
		{"", get, queuePath + "n%20o", ``, 404, "unknown_world"},
		{"ana", get, "/v1/matches/m", ``, 404, "no_such_match"},
		{"ana", get, "/v1/matches/n%20o", ``, 404, "no_such_match"},
		{"ana", remove, "/v1/matches/m", ``, 404, "no_such_match"},
		{"ana", post, "/v1/matches/m/seats", `{"open":1}`, 404, "no_such_match"},
		{"ana", post, "/v1/matches/m/seats", `{}`, 400, "bad_message"},
		{"ana", post, "/v1/matches/m/seats", `{"open":-1}`, 400, "bad_message"},
		{"ana", post, joinPath, `{"world":"shut"}`, 409, "world_closed"},
		{"ana", post, joinPath, `{"world":"world1"}`, 409, "already_queued"},
		{"ana", post, joinPath, `{"world":"world3"}`, 409, "too_many_worlds"},
		{"zoe", post, joinPath, `{"world":"world3"}`, 409, "no_presence"},
		{"", post, joinPath, `{"world":"world3","player_id":"zoe"}`, 409, "no_presence"},
		{"ben", post, joinPath, `{"world":"limited"}`, 503, "queue_full"},
		{"ana", get, "/v1/nothing", ``, 404, "bad_message"},
		{"ana", get, joinPath, ``, 405, "bad_message"},
	} {
		a := i.wantStatus(c.status, object{"code": c.code}, c.player, c.method, c.path, c.body)
		if c.code == "already_queued" {
			wantFields(t, a.body, object{"ticket_id": ticket})
		}
	}
	i.wantStatus(http.StatusCreated, nil, "ben", post, joinPath, `{"world":"voice"}`)
	i.wantStatus(http.StatusCreated, nil, "cem", post, joinPath, `{"world":"voice"}`)
	ben.match()
	a := i.wantStatus(http.StatusConflict, object{"code": "in_match"}, "ben", post, joinPath, `{"world":"voice"}`)
	wantFields(t, a.body["match"].(object), object{"world": "voice", "players": []any{object{"id": "ben"}, object{"id": "cem"}}})
}

// The WebSocket session of the player is told by state what was done for it by HTTP.
func TestHTTPJoinAndLeaveAreToldToThePlayersSession(t *testing.T) {
	t.Parallel()
	config := settings(t, serving(group("world1", 2), duel("voice")))
	one, two := launch(t, config), launch(t, config)
	p := one.greet("ana")
	for n, by := range []struct {
		i            *instance
		player, body string
	}{
		{one, "ana", `{"world":"world1","ticket":"k0"}`},
		{two, "ana", `{"world":"world1","ticket":"k1"}`},
		{two, "", `{"world":"world1","ticket":"k2","player_id":"ana"}`},
		{one, "game-server", `{"world":"world1","ticket":"k3","player_id":"ana"}`},
	} {
		joined := by.i.wantStatus(http.StatusCreated, object{"world": "world1", "position": 1, "queue_size": 1}, by.player, post, joinPath, by.body)
		wantShape(t, joinedFields, joined.body)
		queued := entries(p.next("state"), "queued")
		if len(queued) != 1 || queued[0]["ticket_id"] != joined.body["ticket_id"] {
			t.Errorf("%d: the session is told %v", n, queued)
		}
		again := by.i.wantStatus(http.StatusOK, object{"ticket_id": joined.body["ticket_id"]}, by.player, post, joinPath, by.body)
		if diff := cmp.Diff(joined.body, again.body); diff != "" {
			t.Errorf("%d: repeated, the answer differs: %s", n, diff)
		}
		left := by.i.wantStatus(http.StatusOK, object{"worlds": []any{"world1"}}, "ana", post, leavePath, `{"world":"world1"}`)
		wantShape(t, fields{"worlds": list(id)}, left.body)
		wantFields(t, p.next("state"), object{"queued": []any{}})
	}
	two.wantStatus(http.StatusOK, object{"worlds": []any{}}, "", post, leavePath, `{"player_id":"ana"}`)
	p.answered()
	if more := p.heard(); len(more) > 0 {
		t.Errorf("told of nothing: %v", more)
	}
}

func TestAPlayerWithoutASocketLivesByItsHeartbeat(t *testing.T) {
	t.Parallel()
	i := run(t, func(c *configs.Config) {
		c.Worlds = []configs.World{duel("voice")}
		c.Presence.Heartbeat, c.Presence.TTL, c.Presence.ReconnectGrace = 200*time.Millisecond, time.Second, time.Hour
	})
	i.wantStatus(http.StatusConflict, object{"code": "no_presence"}, "ana", post, joinPath, `{"world":"voice"}`)
	beat := func(player, body string) object {
		a := i.wantStatus(http.StatusOK, nil, player, post, heartbeatPath, body)
		wantShape(t, stateFields, a.body)
		return a.body
	}
	wantFields(t, beat("ana", ``), object{"queued": []any{}, "match": nil, "notices": []any{}})
	ticket := i.wantStatus(http.StatusCreated, nil, "ana", post, joinPath, `{"world":"voice"}`).body["ticket_id"]
	begin := time.Now()
	eventually(t, "heartbeats keep it alive beyond the ttl", func() bool {
		if queued := entries(beat("ana", ``), "queued"); len(queued) != 1 || queued[0]["ticket_id"] != ticket {
			t.Fatalf("queued %v", queued)
		}
		return time.Since(begin) > 1500*time.Millisecond
	})
	var state object
	last := time.Now()
	eventually(t, "without them it is gone at the ttl, without a grace", func() bool {
		state = i.wantStatus(http.StatusOK, nil, "ana", get, statusPath, "").body
		return len(entries(state, "queued")) == 0
	})
	if after := time.Since(last); after < 900*time.Millisecond {
		t.Errorf("gone after %v", after)
	}
	wantFields(t, entries(state, "notices")[0], object{"type": "dequeued", "ticket_id": ticket, "reason": "presence_lost"})
	i.wantStatus(http.StatusConflict, object{"code": "no_presence"}, "ana", post, joinPath, `{"world":"voice"}`)

	beat("ana", ``)
	beat("", `{"player_id":"ben"}`)
	i.wantStatus(http.StatusCreated, nil, "ana", post, joinPath, `{"world":"voice"}`)
	i.wantStatus(http.StatusCreated, nil, "game-server", post, joinPath, `{"world":"voice","player_id":"ben"}`)
	match, _ := beat("ana", ``)["match"].(object)
	wantFields(t, match, object{"world": "voice", "players": []any{object{"id": "ana"}, object{"id": "ben"}}})
	for _, reader := range []string{"ana", "ben", ""} {
		a := i.wantStatus(http.StatusOK, nil, reader, get, fmt.Sprint("/v1/matches/", match["id"]), "")
		if diff := cmp.Diff(match, a.body); diff != "" {
			t.Errorf("%q reads another match: %s", reader, diff)
		}
	}
}

func TestAHeartbeatDoesNothingToALiveSocket(t *testing.T) {
	t.Parallel()
	i := run(t, serving(group("world1", 3)))
	p := i.greet("ana")
	ticket := p.join("world1")["ticket_id"]
	a := i.wantStatus(http.StatusOK, nil, "ana", post, heartbeatPath, `{"future":1}`)
	wantShape(t, stateFields, a.body)
	wantFields(t, entries(a.body, "queued")[0], object{"ticket_id": ticket, "position": 1, "queue_size": 1})
	p.answered()
	if more := p.heard(); len(more) > 0 {
		t.Errorf("the session is told %v", more)
	}
	wantFields(t, p.ask(`"type":"leave"`), object{"worlds": []any{"world1"}}) // it is not replaced
}

func TestQueueStatusAndWorldsNeedNoIdentity(t *testing.T) {
	t.Parallel()
	closed := group("shut", 4)
	closed.State = configs.WorldClosed
	i := run(t, serving(group("world1", 3), closed, duel("voice")))
	queueFields := fields{
		"world": id, "mode": exactly("group", "duel"), "size": from(2), "waiting": from(0), "open_matches": from(0),
		"matches_total": from(0), "estimated_wait_ms": orNull(from(0)), "oldest_waited_ms": from(0),
	}
	a := i.wantStatus(http.StatusOK, object{
		"world": "voice", "mode": "duel", "size": 2, "waiting": 0, "open_matches": 0, "matches_total": 0, "estimated_wait_ms": nil, "oldest_waited_ms": 0,
	}, "", get, queuePath+"voice", "")
	wantShape(t, queueFields, a.body)
	ana, ben := i.greet("ana"), i.greet("ben")
	match := matched(ana, ben, "voice")
	ana.leaveMatch(match)
	ana.join("voice")
	eventually(t, "the head of the queue has waited", func() bool {
		a = i.wantStatus(http.StatusOK, object{"waiting": 1, "open_matches": 1, "matches_total": 1}, "", get, queuePath+"voice", "")
		return number(a.body, "oldest_waited_ms") > 0
	})
	wantShape(t, queueFields, a.body)
	i.wantStatus(http.StatusOK, object{"waiting": 0}, "", get, queuePath+"shut", "")

	worlds := i.wantStatus(http.StatusOK, nil, "", get, worldsPath, "").body
	wantShape(t, fields{"worlds": list(fields{
		"name": id, "mode": exactly("group", "duel"), "size": from(2), "waiting": from(0), "open_matches": from(0),
		"estimated_wait_ms": orNull(from(0)), "rooms": list(id), "party_max": from(1),
	}.check)}, worlds)
	listed := entries(worlds, "worlds")
	if len(listed) != 2 { // those that a client may join
		t.Fatalf("worlds: %v", listed)
	}
	wantFields(t, listed[0], object{"name": "world1", "mode": "group", "size": 3, "rooms": []any{"game", "chat"}, "party_max": 1})
	wantFields(t, listed[1], object{"name": "voice", "waiting": 1, "rooms": []any{"game"}})
}

func TestHealthPathsAnswerHeadToo(t *testing.T) {
	t.Parallel()
	i := launch(t, settings(t, serving(group("world1", 2))))
	for _, path := range []string{"/healthz", "/readyz"} {
		response, err := http.Head("http://" + i.address + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("HEAD %s: %d", path, response.StatusCode)
		}
	}
}
