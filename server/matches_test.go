package server

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"muster/configs"
)

// matched has two players meet in a world, and returns their match.
func matched(a, b *peer, world string) object {
	a.tb.Helper()
	a.join(world)
	b.join(world)
	match := a.match()
	wantFields(a.tb, b.match(), object{"id": match["id"]})
	return match
}

// holding is a world whose matches are kept for a time.
func holding(name string, hold time.Duration) configs.World {
	w := duel("voice")
	w.MatchHold = hold
	return w
}

func TestAckIsToldInLaterStatesOfThatPlayerAlone(t *testing.T) {
	t.Parallel()
	i := run(t, serving(duel("voice")))
	ana, ben := i.greet("ana"), i.greet("ben")
	match := matched(ana, ben, "voice")
	for range 2 {
		wantFields(t, ana.ask(fmt.Sprintf(`"type":"ack","match_id":%q`, match["id"])), object{"type": "acked", "match_id": match["id"]})
	}
	for player, acked := range map[string]bool{"ana": true, "ben": false} {
		m, _ := i.greet(player).welcome["match"].(object)
		wantFields(t, m, object{"id": match["id"], "acked": acked, "expires_at": match["expires_at"], "rooms": match["rooms"]})
		a := i.wantStatus(http.StatusOK, nil, player, http.MethodGet, "/v1/matching/my-status", "")
		wantFields(t, a.body["match"].(object), object{"id": match["id"], "acked": acked})
	}
}

func TestLeaveMatchFreesThePlayerAlone(t *testing.T) {
	t.Parallel()
	i := run(t, serving(duel("voice")))
	ana, ben, cem := i.greet("ana"), i.greet("ben"), i.greet("cem")
	match := matched(ana, ben, "voice")
	leave := fmt.Sprintf(`"type":"leave_match","match_id":%q`, match["id"])
	cem.refused(leave, "no_such_match")
	ana.leaveMatch(match)
	ana.refused(leave, "no_such_match")
	ana.refused(fmt.Sprintf(`"type":"ack","match_id":%q`, match["id"]), "no_such_match")
	wantFields(t, ana.status(), object{"match": nil, "notices": []any{}})
	left, _ := ben.status()["match"].(object)
	wantFields(t, left, object{"id": match["id"], "players": match["players"]})

	second := matched(ana, cem, "voice")
	ana.refused(leave, "no_such_match")
	still, _ := ana.status()["match"].(object)
	wantFields(t, still, object{"id": second["id"]})

	ben.answered()
	if more := ben.heard(); len(more) > 0 {
		t.Errorf("who stayed was told: %v", more)
	}
	ben.leaveMatch(match)
	i.wantStatus(http.StatusNotFound, object{"code": "no_such_match"}, "ben", http.MethodGet, fmt.Sprint("/v1/matches/", match["id"]), "")
}

func TestAMatchEndsWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	i := run(t, serving(holding("voice", time.Second)))
	ana, ben := i.greet("ana"), i.greet("ben")
	match := matched(ana, ben, "voice")
	for _, p := range []*peer{ana, ben} {
		ended := p.next("match_ended")
		wantFields(t, ended, object{"match_id": match["id"], "reason": "expired"})
		wantFields(t, p.status(), object{"match": nil, "notices": []any{ended}})
	}
	if now := time.Now().UnixMilli(); now < number(match, "expires_at") {
		t.Errorf("ended %d ms early", number(match, "expires_at")-now)
	}
}

// Who joins as soon as the time is over does not have to wait until somebody has noticed that it is.
func TestOneMayJoinRightAfterTheEndOfAMatch(t *testing.T) {
	t.Parallel()
	i := run(t, serving(holding("voice", 300*time.Millisecond)))
	ana, ben := i.greet("ana"), i.greet("ben")
	for range 4 {
		match := matched(ana, ben, "voice")
		over := number(match, "expires_at")
		eventually(t, "the time is over", func() bool { return time.Now().UnixMilli() > over })
		joined := ana.ask(`"type":"join","world":"voice"`)
		wantFields(t, joined, object{"type": "joined"})
		wantFields(t, ben.next("match_ended"), object{"match_id": match["id"], "reason": "expired"})
		wantFields(t, ana.ask(`"type":"leave"`), object{"worlds": []any{"voice"}})
		status := ana.status()
		if n := entries(status, "notices"); len(n) == 0 || n[0]["match_id"] != match["id"] {
			t.Errorf("the end is not among the notices: %v", n)
		}
	}
}

func TestABackEndEndsAMatch(t *testing.T) {
	t.Parallel()
	i := run(t, serving(duel("voice")))
	ana, ben := i.greet("ana"), i.greet("ben")
	match := matched(ana, ben, "voice")
	ben.c.CloseNow()
	path := fmt.Sprint("/v1/matches/", match["id"])
	if a := i.wantStatus(http.StatusNoContent, nil, "", http.MethodDelete, path, ""); len(a.body) > 0 {
		t.Errorf("body %v", a.body)
	}
	ended := ana.next("match_ended")
	wantFields(t, ended, object{"match_id": match["id"], "reason": "ended"})
	welcome := i.greet("ben").welcome
	if n := entries(welcome, "notices"); len(n) != 1 || n[0]["match_id"] != match["id"] || n[0]["reason"] != "ended" {
		t.Errorf("who was not there is told %v", n)
	}
	i.wantStatus(http.StatusNotFound, object{"code": "no_such_match"}, "", http.MethodDelete, path, "")
	i.wantStatus(http.StatusNotFound, object{"code": "no_such_match"}, "", http.MethodGet, path, "")
	ana.join("voice")
}

func TestAMatchIsToldAtEveryConnectionWhileItIsOpen(t *testing.T) {
	t.Parallel()
	config := settings(t, serving(duel("voice")))
	one, two := launch(t, config), launch(t, config)
	ana, ben := one.greet("ana"), one.greet("ben")
	ana.join("voice")
	ana.c.CloseNow()
	eventually(t, "ana is away", func() bool {
		a := one.call("", http.MethodGet, "/v1/matching/queue-status/voice", "")
		return number(a.body, "waiting") == 0
	})
	ben.join("voice")
	back := two.greet("ana") // and only now the two can meet
	match := ben.match()
	told, _ := back.welcome["match"].(object)
	if told == nil {
		told = back.match()
	}
	wantFields(t, told, object{"id": match["id"]})
	for _, i := range []*instance{one, two, one} {
		m, _ := i.greet("ana").welcome["match"].(object)
		wantFields(t, m, object{"id": match["id"], "rooms": match["rooms"], "players": match["players"]})
	}
}
