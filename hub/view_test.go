package hub

import (
	"slices"
	"strings"
	"testing"

	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
)

func TestUnfounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("w", 60)
	expired := store.Notice{ID: "20", Kind: protocol.TypeDequeued, World: "duel", Ticket: "duel.5", Reason: protocol.ReasonExpired}
	over := store.Notice{ID: "21", Kind: protocol.TypeMatchEnded, Match: "m", Reason: protocol.ReasonEnded}
	for name, c := range map[string]struct {
		have *protocol.Have
		st   store.PlayerState
		want []string
	}{
		"nothing believed":        {nil, store.PlayerState{}, nil},
		"all stands":              {&protocol.Have{Tickets: []string{"duel.5"}}, store.PlayerState{Record: record(5, "", "duel.5")}, nil},
		"a ticket is lost":        {&protocol.Have{Tickets: []string{"a.b.5", "duel.5"}}, store.PlayerState{Record: record(5, "", "duel.5")}, []string{"dequeued a.b.5 lost"}},
		"a ticket expired":        {&protocol.Have{Tickets: []string{"duel.5"}}, store.PlayerState{Notices: []store.Notice{expired}}, []string{"dequeued duel.5 expired"}},
		"a ticket became a match": {&protocol.Have{Tickets: []string{"duel.5"}}, store.PlayerState{Record: record(9, "m"), Match: match(8, "p")}, nil},
		"a proposed match lacks it": {&protocol.Have{Tickets: []string{"duel.5", "trio.6"}, Match: "m"}, store.PlayerState{
			Record: strings.Replace(record(9, "m", "duel.5"), "|0|", "|h|", 1), Match: strings.Replace(match(8, "p"), "complete", "proposed", 1),
		}, []string{"dequeued trio.6 lost"}},
		"a match is lost": {&protocol.Have{Match: "m"}, store.PlayerState{}, []string{"match_cancelled m lost"}},
		"a match ended":   {&protocol.Have{Match: "m"}, store.PlayerState{Notices: []store.Notice{over}}, []string{"match_ended m ended"}},
		"another match":   {&protocol.Have{Match: "m"}, store.PlayerState{Record: record(9, "n"), Match: match(8, "p")}, []string{"match_cancelled m lost"}},
		"no dot":          {&protocol.Have{Tickets: []string{"x"}}, store.PlayerState{}, []string{"dequeued x lost"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, m := range InvalidClaims(c.have, c.st) {
				got = append(got, eventOf(protocol.Encode(m)))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("told %q, want %q", got, c.want)
			}
		})
	}
	t.Run("ids of what is lost are ids and differ", func(t *testing.T) {
		ids := map[string]bool{}
		for _, m := range InvalidClaims(&protocol.Have{Tickets: []string{long + ".51", long + ".52"}}, store.PlayerState{}) {
			n, ok := m.(protocol.Notice)
			if !ok || !ident.Valid(n.NoticeKey()) {
				t.Fatalf("%v has no valid id", m)
			}
			ids[n.NoticeKey()] = true
		}
		if len(ids) != 2 {
			t.Errorf("ids %v, want two", ids)
		}
	})
}

func TestStateView(t *testing.T) {
	t.Parallel()
	facts := func(ident.World) WorldFacts { return WorldFacts{Size: 3} }
	for size, want := range map[int]protocol.WaitingFor{
		1: {Code: "players", Need: 2, Text: "2 more players"},
		2: {Code: "players", Need: 1, Text: "1 more player"},
		9: {Code: "match", Text: "a match is about to be formed"},
	} {
		view := State(store.PlayerState{
			Record: record(5_000_000, "", "trio.4000000"), Now: 7000, Ranks: map[ident.World]store.Rank{"trio": {Position: 1, Size: size}},
		}, facts)
		if len(view.Queued) != 1 || view.Match != nil {
			t.Fatalf("state %+v", view)
		}
		q := view.Queued[0]
		if q.WaitingFor != want || q.EnqueuedAt != 4000 || q.WaitedMS != 3000 || q.EstimatedWaitMS != nil {
			t.Errorf("with %d players: %+v", size, q)
		}
	}
	for _, by := range []string{"proposed", "allocating"} { // the ticket is reserved while the match does not stand
		held := State(store.PlayerState{
			Record: strings.Replace(record(9, "m", "trio.4000000", "duel.5000000"), "|0|", "|h|", 1), Match: strings.Replace(match(8, "p", "q"), "complete", by, 1),
			Now: 7000, Ranks: map[ident.World]store.Rank{"trio": {Position: 1, Size: 0}, "duel": {Position: 3, Size: 4}},
		}, facts)
		for i, size := range []int64{1, 5} {
			q := held.Queued[i]
			if q.QueueSize != size || q.Position > q.QueueSize || q.WaitingFor != (protocol.WaitingFor{Code: "match", Text: "your match to begin"}) {
				t.Errorf("a reserved ticket is shown as %+v", q)
			}
		}
	}
	view := State(store.PlayerState{Record: record(9, "m"), Match: match(8, "p", "q")}, facts)
	if m := view.Match; m == nil || m.ID != "m" || len(m.Players) != 2 || m.Rooms["red"] != "r1" {
		t.Errorf("match %+v", view.Match)
	}
	if view := State(store.PlayerState{Record: "broken"}, facts); len(view.Queued) != 0 || view.Match != nil {
		t.Errorf("a broken record is shown as %+v", view)
	}
}
