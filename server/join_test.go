package server

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/configs"
	"muster/protocol"
	"muster/store"
)

func TestAMatchIsTheSameForAllAndComesAfterJoined(t *testing.T) {
	t.Parallel()
	i := run(t, serving(group("world1", 3)))
	players := []*peer{i.greet("ana"), i.greet("ben"), i.greet("cem")}
	for at, p := range players {
		joined := p.join("world1")
		wantFields(t, joined, object{
			"position": at + 1, "queue_size": at + 1, "party": []any{}, "estimated_wait_ms": nil,
			"ticket_id": joined["ticket_id"],
		})
	}
	var matches []object
	for _, p := range players {
		matches = append(matches, p.match()) // after joined: join has passed that
	}
	for _, m := range matches {
		if diff := cmp.Diff(matches[0], m); diff != "" {
			t.Errorf("players are told different matches: %s", diff)
		}
		wantFields(t, m, object{
			"world": "world1", "state": "complete", "acked": false,
			"players": []any{object{"id": "ana"}, object{"id": "ben"}, object{"id": "cem"}},
		})
		rooms, _ := m["rooms"].(object)
		if len(rooms) != 2 || rooms["game"] == nil || rooms["chat"] == nil || rooms["game"] == rooms["chat"] {
			t.Errorf("rooms %v", rooms)
		}
		if held := number(m, "expires_at") - number(m, "created_at"); held != 60_000 {
			t.Errorf("held for %d ms", held)
		}
	}
	for _, p := range players {
		p.answered()
		if more := p.heard(); len(more) > 0 {
			t.Errorf("more was told: %v", more)
		}
		wantFields(t, p.status(), object{"queued": []any{}, "match": matches[0]})
	}
}

func TestARepeatedTicketKeyIsAnsweredAsTheFirst(t *testing.T) {
	t.Parallel()
	i := run(t, serving(group("world1", 2), group("world2", 2)))
	p, other := i.greet("ana"), i.greet("ben")
	const request = `"type":"join","world":"world1","ticket":"k","attributes":{"a":[1],"b":"x"}`
	first := p.ask(request)
	repeated := func(when string, position, size int) {
		t.Helper()
		for _, again := range []string{request, `"type":"join","ticket":"k","world":"world1","party":[],"attributes":{"b":"\u0078", "a":[ 1 ]}`} {
			wantFields(t, p.ask(again), object{
				"type": "joined", "ticket_id": first["ticket_id"], "enqueued_at": first["enqueued_at"],
				"position": position, "queue_size": size,
			})
		}
		for _, content := range []string{`{"a":[2],"b":"x"}`, `{}`, `null`} {
			p.refused(`"type":"join","world":"world1","ticket":"k","attributes":`+content, "bad_message")
		}
		t.Logf("%s: as the first", when)
	}
	repeated("while it waits", 1, 1)
	if elsewhere := p.ask(`"type":"join","world":"world2","ticket":"k"`); elsewhere["ticket_id"] == first["ticket_id"] {
		t.Error("the key counts in another world")
	}
	wantFields(t, p.ask(`"type":"leave"`), object{"worlds": []any{"world1", "world2"}})
	repeated("after leave", 1, 1)
	wantFields(t, p.status(), object{"queued": []any{}})

	second := p.ask(`"type":"join","world":"world1","ticket":"k2"`)
	if second["ticket_id"] == first["ticket_id"] {
		t.Error("another key makes no new ticket")
	}
	other.join("world1")
	match := p.match()
	wantFields(t, p.ask(`"type":"join","world":"world1","ticket":"k2"`), object{
		"type": "joined", "ticket_id": second["ticket_id"], "enqueued_at": second["enqueued_at"], "position": 1, "queue_size": 1,
	})
	p.leaveMatch(match)
	wantFields(t, p.ask(`"type":"join","world":"world1","ticket":"k2"`), object{"ticket_id": second["ticket_id"]})
	wantFields(t, p.status(), object{"queued": []any{}})
}

func TestWhatAJoinIsRefusedFor(t *testing.T) {
	t.Parallel()
	closed := group("shut", 2)
	closed.State = configs.WorldClosed
	i := run(t, func(c *configs.Config) {
		c.Worlds = []configs.World{group("world1", 2), group("world2", 2), group("world3", 2), closed}
		c.Limits.WorldsPerPlayer = 2
	})
	p := i.greet("ana")
	p.refused(`"type":"join","world":"nowhere"`, "unknown_world")
	p.refused(`"type":"join","world":"shut"`, "world_closed")
	wantFields(t, p.ask(`"type":"leave","world":"shut"`), object{"worlds": []any{}})
	p.refused(`"type":"join","world":"world1","party":["ben"]`, "party_too_large")
	wantFields(t, p.status(), object{"queued": []any{}})

	first := p.join("world1")
	for _, again := range []string{``, `,"ticket":"another"`} {
		wantFields(t, p.refused(`"type":"join","world":"world1"`+again, "already_queued"), object{"ticket_id": first["ticket_id"]})
	}
	p.join("world2")
	p.refused(`"type":"join","world":"world3"`, "too_many_worlds")

	i.greet("ben").join("world1")
	match := p.match()
	for _, world := range []string{"world1", "world2", "world3"} {
		wantFields(t, p.refused(fmt.Sprintf(`"type":"join","world":%q`, world), "in_match"), object{"match": match})
	}
	p.refused(`"type":"join","world":"shut"`, "world_closed")
	wantFields(t, p.status(), object{"queued": []any{}, "match": match})
}

func TestLeaveTakesOutOfOneWorldOrAll(t *testing.T) {
	t.Parallel()
	p := run(t, serving(group("world1", 2), group("world2", 2), group("world3", 2))).greet("ana")
	for _, world := range []string{"world1", "world2", "world3"} {
		p.join(world)
	}
	for _, c := range []struct {
		request string
		left    []any
	}{
		{`"type":"leave","world":"world2"`, []any{"world2"}},
		{`"type":"leave","world":"world2"`, []any{}},
		{`"type":"leave"`, []any{"world1", "world3"}},
		{`"type":"leave"`, []any{}},
	} {
		wantFields(t, p.ask(c.request), object{"type": "left", "worlds": c.left})
	}
	p.answered()
	if more := p.heard(); len(more) > 0 {
		t.Errorf("the player asked for it, and was told besides: %v", more)
	}
	wantFields(t, p.status(), object{"queued": []any{}, "notices": []any{}})
}

func TestAMatchEndsTheTicketsInAllWorldsWithoutAWord(t *testing.T) {
	t.Parallel()
	i := run(t, serving(group("world1", 2), group("world2", 2), duel("voice")))
	p, ben, cem := i.greet("ana"), i.greet("ben"), i.greet("cem")
	for _, world := range []string{"world1", "world2", "voice"} {
		p.join(world)
	}
	ben.join("world2")
	match := p.match()
	wantFields(t, match, object{"world": "world2", "players": []any{object{"id": "ana"}, object{"id": "ben"}}})
	for _, world := range []string{"world1", "voice"} { // nobody is there to meet
		wantFields(t, cem.join(world), object{"position": 1, "queue_size": 1})
	}
	p.answered()
	if more := p.heard(); len(more) > 0 {
		t.Errorf("more was told: %v", more)
	}
	wantFields(t, p.ask(`"type":"leave"`), object{"worlds": []any{}})
	p.leaveMatch(match)
	wantFields(t, p.status(), object{"queued": []any{}, "match": nil, "notices": []any{}})
}

func TestStatusTellsHowATicketStands(t *testing.T) {
	t.Parallel()
	i := run(t, serving(group("world1", 4)))
	first, p := i.greet("ana"), i.greet("ben")
	first.join("world1")
	joined := p.join("world1")
	queued := entries(p.status(), "queued")
	if len(queued) != 1 {
		t.Fatalf("queued: %v", queued)
	}
	wantFields(t, queued[0], object{
		"world": "world1", "ticket_id": joined["ticket_id"], "enqueued_at": joined["enqueued_at"], "position": 2, "queue_size": 2,
		"estimated_wait_ms": nil, "party": []any{}, "waiting_for": object{"code": "players", "need": 2, "text": "2 more players"},
	})
	first.ask(`"type":"leave"`)
	queued = entries(p.status(), "queued")
	wantFields(t, queued[0], object{"position": 1, "queue_size": 1, "waiting_for": object{"code": "players", "need": 3, "text": "3 more players"}})
}

// The match that kept a player from joining may be over when it is read for the refusal, which names one always.
func TestAMatchThatIsOverAlreadyRefusesNothing(t *testing.T) {
	t.Parallel()
	i := run(t, serving(group("world1", 3)))
	c := &socket{server: i.server, session: i.server.hub.Connect(nil)}
	for _, held := range []bool{false, true} {
		got := c.refusal(t.Context(), &store.InMatchError{Match: "over", Held: held})
		if got.Code != protocol.CodeUnavailable || got.RetryAfterMS == nil || got.Match != nil {
			t.Errorf("refused with %+v", got)
		}
	}
}
