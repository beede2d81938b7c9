package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/configs"
	"muster/protocol"
)

func TestWhatAClientBelievesAndDoesNotStandIsTold(t *testing.T) {
	t.Parallel()
	short := group("short", 2)
	short.TicketTTL = 100 * time.Millisecond
	i := run(t, serving(group("world1", 2), short, duel("voice")))
	p := i.greet("ana")
	expired := p.join("short")
	notice := p.next("dequeued")
	waiting := p.join("world1")

	t.Run("a ticket that stands is not", func(t *testing.T) {
		p := i.greet("ana", fmt.Sprintf(`{"tickets":[%q]}`, waiting["ticket_id"]))
		p.answered()
		if more := p.heard(); len(more) > 0 {
			t.Errorf("told %v", more)
		}
	})
	t.Run("a ticket that ended, with the real reason and the same notice_id", func(t *testing.T) {
		p := i.greet("ana", fmt.Sprintf(`{"tickets":[%q,%q]}`, waiting["ticket_id"], expired["ticket_id"]))
		if diff := cmp.Diff(notice, p.next("dequeued")); diff != "" {
			t.Errorf("not the event of then: %s", diff)
		}
	})
	t.Run("what nobody knows is lost", func(t *testing.T) {
		p := i.greet("eve", `{"tickets":["world1.17","nonsense"],"match":"m-1"}`)
		wantFields(t, p.next("dequeued"), object{"world": "world1", "ticket_id": "world1.17", "reason": "lost"})
		wantFields(t, p.next("dequeued"), object{"ticket_id": "nonsense", "reason": "lost"})
		wantFields(t, p.next("match_cancelled"), object{"match_id": "m-1", "reason": "lost"})
		wantFields(t, p.status(), object{"notices": []any{}})
	})
	t.Run("a match that ended, with the real reason", func(t *testing.T) {
		ben, cem := i.greet("ben"), i.greet("cem")
		match := matched(ben, cem, "voice")
		i.wantStatus(http.StatusNoContent, nil, "", http.MethodDelete, fmt.Sprint("/v1/matches/", match["id"]), "")
		ended := ben.next("match_ended")
		again := i.greet("ben", fmt.Sprintf(`{"match":%q}`, match["id"]))
		if diff := cmp.Diff(ended, again.next("match_ended")); diff != "" {
			t.Errorf("not the event of then: %s", diff)
		}
	})
	t.Run("the ticket of the match that stands is not", func(t *testing.T) {
		dan, fay := i.greet("dan"), i.greet("fay")
		ticket := dan.join("voice")
		match := meet(fay, dan)
		p := i.greet("dan", fmt.Sprintf(`{"tickets":[%q],"match":%q}`, ticket["ticket_id"], match["id"]))
		p.answered()
		if more := p.heard(); len(more) > 0 {
			t.Errorf("told %v", more)
		}
	})
	t.Run("the longest ids make a notice_id that is one", func(t *testing.T) {
		long := strings.Repeat("x", protocol.MaxIDLength)
		p := i.greet("gus", fmt.Sprintf(`{"tickets":[%q],"match":%q}`, long, long))
		wantFields(t, p.next("dequeued"), object{"ticket_id": long})
		wantFields(t, p.next("match_cancelled"), object{"match_id": long})
	})
}

// meet has a player meet one who waits in voice.
func meet(a, waiting *peer) object {
	a.tb.Helper()
	a.join("voice")
	match := waiting.match()
	a.match()
	return match
}

func TestNoticesAreKeptRepeatedAndAtMostEight(t *testing.T) {
	t.Parallel()
	i := run(t, serving(duel("voice")))
	ana, ben := i.greet("ana"), i.greet("ben")
	var ends []any
	for range protocol.MaxNotices + 2 {
		match := matched(ana, ben, "voice")
		i.wantStatus(http.StatusNoContent, nil, "", http.MethodDelete, fmt.Sprint("/v1/matches/", match["id"]), "")
		ends = append([]any{ana.next("match_ended")}, ends...)
		ben.next("match_ended")
	}
	ends = ends[:protocol.MaxNotices]
	seen := map[any]bool{}
	for _, end := range ends {
		seen[end.(object)["notice_id"]] = true
	}
	if len(seen) != protocol.MaxNotices {
		t.Errorf("%d ids of %d notices", len(seen), protocol.MaxNotices)
	}
	again := i.greet("ana")
	for where, state := range map[string]object{
		"welcome": again.welcome, "status": again.status(), "a later welcome": i.greet("ana").welcome,
		"HTTP": i.wantStatus(http.StatusOK, nil, "ana", http.MethodGet, "/v1/matching/my-status", "").body,
	} {
		if diff := cmp.Diff(ends, state["notices"]); diff != "" {
			t.Errorf("%s: not the last events, the newest first: %s", where, diff)
		}
	}
}

func TestATicketExpires(t *testing.T) {
	t.Parallel()
	short := group("short", 2)
	short.TicketTTL = 500 * time.Millisecond
	i := run(t, serving(short))
	p := i.greet("ana")
	joined := p.join("short")
	ended := p.next("dequeued")
	wantFields(t, ended, object{"world": "short", "ticket_id": joined["ticket_id"], "reason": "expired"})
	if now := time.Now().UnixMilli(); now < number(joined, "enqueued_at")+500 {
		t.Error("it expired early")
	}
	wantFields(t, p.status(), object{"queued": []any{}, "notices": []any{ended}})
	p.join("short")
}

func TestWhoIsAwayTooLongLosesItsTicketsAndIsToldAtTheNextConnection(t *testing.T) {
	t.Parallel()
	i := run(t, func(c *configs.Config) {
		c.Worlds = []configs.World{group("world1", 2), group("world2", 2)}
		c.Presence.ReconnectGrace = 300 * time.Millisecond
	})
	p := i.greet("ana")
	tickets := map[any]bool{p.join("world1")["ticket_id"]: true, p.join("world2")["ticket_id"]: true}
	p.c.CloseNow()
	gone := time.Now()
	var state object
	eventually(t, "the grace is over", func() bool {
		state = i.wantStatus(http.StatusOK, nil, "ana", http.MethodGet, "/v1/matching/my-status", "").body
		return len(entries(state, "queued")) == 0
	})
	if after := time.Since(gone); after < 300*time.Millisecond {
		t.Errorf("gone after %v", after)
	}
	back := i.greet("ana")
	if diff := cmp.Diff(state["notices"], back.welcome["notices"]); diff != "" {
		t.Error(diff)
	}
	for _, n := range entries(back.welcome, "notices") {
		wantFields(t, n, object{"type": "dequeued", "reason": "presence_lost"})
		delete(tickets, n["ticket_id"])
	}
	if len(tickets) > 0 {
		t.Errorf("not told of %v", tickets)
	}
}
