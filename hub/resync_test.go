package hub

import (
	"errors"
	"slices"
	"testing"

	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
)

func TestLookAgainTellsWhatWasMissedAndOnlyThat(t *testing.T) {
	queued := store.PlayerState{Record: record(5, "", "duel.5")}
	for name, c := range map[string]struct {
		before, now store.PlayerState
		want        []string
	}{
		"nothing":        {queued, store.PlayerState{Record: record(5, "", "duel.5")}, nil},
		"nothing, idle":  {store.PlayerState{}, store.PlayerState{}, nil},
		"a match":        {queued, store.PlayerState{Record: record(20, "m"), Match: match(19, "p")}, []string{"match_complete m", "state m"}},
		"a match, idle":  {store.PlayerState{}, store.PlayerState{Record: record(20, "m"), Match: match(19, "p")}, []string{"match_complete m", "state m"}},
		"a ticket":       {queued, store.PlayerState{Record: record(20, "", "duel.5", "trio.20")}, []string{"state duel.5 trio.20"}},
		"its own leave":  {queued, store.PlayerState{}, []string{"state"}},
		"an acknowledge": {store.PlayerState{Record: record(5, "m"), Match: match(4, "p")}, store.PlayerState{Record: record(9, "m"), Match: match(4, "p")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bundle) {
				_, client := b.arrive("p", 10, c.before)
				b.store.states["p"] = c.now
				b.lookAgain(1)
				b.sees(client, c.want...)
				b.lookAgain(1)
				b.sees(client)
			})
		})
	}
}

func TestLookAgainTellsOfEnds(t *testing.T) {
	inBubble(t, func(b *bundle) {
		first, second := notice(b, ended("20", "duel.5")), notice(b, ended("30", "trio.6"))
		_, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5", "trio.6")})
		b.hub.Deliver(store.Notification{Number: 1, Changes: []store.Change{change("p", 10, record(19, "", "trio.6"), ended("20", "duel.5"))}})
		b.sees(client, "dequeued duel.5 expired")
		b.store.states["p"] = store.PlayerState{Notices: []store.Notice{second, first}}
		b.lookAgain(2)
		b.sees(client, "dequeued trio.6 expired", "state")
	})
}

func TestWhatWentWithAHistoryIsToldLost(t *testing.T) {
	for name, c := range map[string]struct {
		before, now store.PlayerState
		want        []string
	}{
		"a ticket":          {store.PlayerState{Record: record(5, "", "duel.5")}, store.PlayerState{}, []string{"dequeued duel.5 lost", "state"}},
		"a match":           {store.PlayerState{Record: record(5, "m"), Match: match(4, "p")}, store.PlayerState{}, []string{"match_cancelled m lost", "state"}},
		"nothing":           {store.PlayerState{Record: record(5, "", "duel.5")}, store.PlayerState{Record: record(5, "", "duel.5")}, nil},
		"tickets, by match": {store.PlayerState{Record: record(5, "", "duel.5")}, store.PlayerState{Record: record(20, "m"), Match: match(4, "p")}, []string{"match_complete m", "state m"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bundle) {
				_, client := b.arrive("p", 10, c.before)
				b.hub.BeginEpoch(100)
				b.store.states["p"] = c.now
				b.lookAgain(0)
				b.sees(client, c.want...)
				b.lookAgain(0)
				b.sees(client)
			})
		})
	}
}

func TestAReplyOfANewHistoryDoesNotHideWhatWentWithTheOld(t *testing.T) {
	for name, bring := range map[string]func(b *bundle, s *Session){
		"a reply": func(_ *bundle, s *Session) { s.Saw(100, record(120, "", "trio.120")) },
		"a change": func(b *bundle, _ *Session) {
			b.hub.Deliver(store.Notification{Number: 1, Epoch: 100, Changes: []store.Change{change("p", 10, record(120, "", "trio.120"), "")}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bundle) {
				s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5")})
				b.hub.BeginEpoch(100)
				bring(b, s)
				b.store.states["p"] = store.PlayerState{Record: record(120, "", "trio.120")}
				b.heal()
				b.sees(client, "dequeued duel.5 lost", "state trio.120")
			})
		})
	}
}

func TestWhatWaitsInASessionWhileHistoryIsLostIsAssertedAndToldFromTheNew(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5")})
		finish := b.request(s, func() { s.Send(pong(1)) })
		b.hub.Deliver(formed(1, "m", 30, "p"))
		b.hub.BeginEpoch(100)
		got := b.hub.Assertions()
		if len(got) != 1 || got[0].AsOf != 31 || got[0].Match != match(30, "p") {
			t.Fatalf("asserted %+v", got)
		}
		finish()
		b.sees(client, "pong 1")
		b.store.states["p"] = store.PlayerState{AsOf: 101, Record: got[0].Record, Match: got[0].Match}
		b.heal()
		b.sees(client, "match_complete m", "state m")
	})
}

func TestAnUncertainOutcomeIsToldByTheState(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5")})
		_, idle := b.arrive("q", 11, store.PlayerState{})
		b.heal()
		if b.store.calls != 0 {
			t.Error("states were read though nobody is in doubt")
		}
		s.Uncertain()
		b.store.states["p"] = store.PlayerState{Record: record(5, "", "duel.5")}
		b.heal()
		b.sees(client, "state duel.5")
		b.heal()
		b.sees(client)
		b.sees(idle)
		if !slices.Equal(b.store.read, []ident.Player{"p"}) {
			t.Errorf("read %v, want p once", b.store.read)
		}
		b.lookAgain(1)
		b.sees(client)
	})
}

func TestAReadThatFailsIsDoneAgain(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		s.Uncertain()
		b.store.failure = store.ErrUnavailable
		if err := b.hub.ResyncStale(b.Context()); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("heal: %v", err)
		}
		if err := b.hub.ResyncAll(b.Context(), 7); !errors.Is(err, store.ErrUnavailable) || !b.hub.Behind(7) {
			t.Errorf("look again: %v", err)
		}
		b.sees(client)
		b.store.failure = nil
		b.heal()
		b.sees(client, "state")
	})
}

// A read that was on its way does not answer for what became uncertain since.
func TestDoubtThatComesWhileAStateIsReadIsNotLost(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		finish := b.request(s, func() {
			s.Uncertain()
			s.Send(protocol.NewError(protocol.CodeUnavailable))
		})
		s.Uncertain()
		b.heal()
		finish()
		b.sees(client, "error", "state")
		b.store.states["p"] = store.PlayerState{Record: record(20, "", "duel.20"), AsOf: 2000}
		b.heal()
		b.sees(client, "state duel.20")
	})
}

func TestAStateThatIsOlderThanAReplyIsReadAgain(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5")})
		gone := []store.Notice{notice(b, ended("20", "duel.5"))}
		b.store.states["p"] = store.PlayerState{AsOf: 25, Notices: gone}
		b.store.during = func() { s.Saw(0, record(30, "", "trio.30")) }
		b.lookAgain(1) // for the end, whose message was lost
		b.sees(client)
		b.store.states["p"] = store.PlayerState{AsOf: 40, Record: record(30, "", "trio.30"), Notices: gone}
		b.heal()
		b.sees(client, "dequeued duel.5 expired", "state trio.30")
	})
}

func TestAStateThatIsOlderThanOneThatWasShownIsReadAgain(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5")})
		s.Uncertain()
		b.store.states["p"] = store.PlayerState{AsOf: 25}
		shown := store.PlayerState{AsOf: 30, Record: record(28, "m"), Match: match(28, "p")}
		b.store.during = func() { s.Showing(shown) } // with a match that was formed since
		b.heal()
		b.sees(client, "match_complete m") // and then the reply
		b.store.states["p"] = shown
		b.heal()
		b.sees(client, "state m")
	})
}

func TestWhatAReplyShowsIsAsserted(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5")})
		s.Showing(store.PlayerState{AsOf: 30, Record: record(28, "m"), Match: match(28, "p")})
		b.sees(client, "match_complete m")
		b.hub.BeginEpoch(100)
		if all := b.hub.Assertions(); len(all) != 1 || all[0].Record != record(28, "m") || all[0].AsOf != 30 {
			t.Errorf("asserted: %+v", all)
		}
	})
}

func TestAStateOfALostHistoryIsReadAgain(t *testing.T) {
	inBubble(t, func(b *bundle) {
		_, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5")})
		b.store.states["p"] = store.PlayerState{AsOf: 25, Record: record(24, "m"), Match: match(23, "p")}
		b.store.during = func() { b.hub.BeginEpoch(100) }
		b.lookAgain(1)
		b.sees(client)
		b.store.states["p"] = store.PlayerState{AsOf: 110, Record: record(5, "", "duel.5")}
		b.heal()
		b.sees(client)
	})
}

func TestAnArrivalOfALostHistoryIsReadAgainAndRefreshed(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		b.hub.BeginEpoch(100)
		s.Arrived(1, store.PlayerState{Player: "p", Generation: 11, AsOf: 11})
		b.heal()
		b.sees(client, "state")
		id := store.Session{Player: "p", Generation: 11}
		for beat, heard := range b.beats(heartbeat/2, func() {}) {
			if want := beat == 0; slices.Contains(heard, id) != want {
				t.Errorf("beat %d: heard %v, want it in the first only", beat, heard)
			}
		}
	})
}

func TestDoubtReadsTheSessionsThatItNames(t *testing.T) {
	inBubble(t, func(b *bundle) {
		_, older := b.arrive("p", 10, store.PlayerState{})
		_, newer := b.arrive("p", 11, store.PlayerState{})
		b.hub.MarkStale([]store.Session{{Player: "p", Generation: 11}, {Player: "gone", Generation: 1}})
		b.heal()
		b.sees(older)
		b.sees(newer, "state")
	})
}

func TestManyAreReadInBatches(t *testing.T) {
	inBubble(t, func(b *bundle) {
		for i := range ident.Place(2*lookBatch + 1) {
			b.arrive(ident.Player("p"+i.String()), 10+i, store.PlayerState{})
		}
		b.lookAgain(9)
		if b.store.calls != 3 || b.hub.Behind(9) {
			t.Errorf("%d calls, behind: %v; want 3 and not behind", b.store.calls, b.hub.Behind(9))
		}
	})
}

func TestHeal_ReadsTheSessionsInDoubtOnly(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, _ := b.arrive("p", 10, store.PlayerState{})
		b.arrive("q", 11, store.PlayerState{})
		s.Uncertain()
		s.Uncertain()
		for range 2 {
			b.heal()
		}
		if !slices.Equal(b.store.read, []ident.Player{"p"}) {
			t.Errorf("read %v, want p once", b.store.read)
		}
		if left := b.hub.doubted.list(); len(left) != 0 {
			t.Errorf("%d sessions are left in the set", len(left))
		}
	})
}

func TestAReadThatFailsDoesNotCallForAnotherAtOnce(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, _ := b.arrive("p", 10, store.PlayerState{})
		s.Uncertain()
		b.store.failure = store.ErrUnavailable
		before := b.doubted
		if err := b.hub.ResyncStale(b.Context()); err == nil {
			t.Error("no error")
		}
		if b.doubted != before {
			t.Error("called for another read, which would fail as soon")
		}
		b.store.failure = nil
		if err := b.hub.ResyncStale(b.Context()); err != nil {
			t.Error(err)
		}
		if b.store.calls != 2 {
			t.Errorf("%d reads, want the failed one and that of the next heal", b.store.calls)
		}
	})
}
