package hub

import (
	"slices"
	"testing"

	"muster/internal/ident"
	"muster/store"
)

func TestWhatAPlayerLeavesAfterALossItDidNotLose(t *testing.T) {
	for name, leave := range map[string]func(s *Session){
		"what was asserted": func(s *Session) { s.Saw(100, record(120, "")) },
		"what was joined by a call that met the loss": func(s *Session) {
			s.Saw(0, record(110, "", "trio.110"))
			s.Saw(100, record(120, ""))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bundle) {
				s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5")})
				b.hub.BeginEpoch(100)
				b.hub.Assertions()
				leave(s)
				b.store.states["p"] = store.PlayerState{Record: record(120, "")}
				b.lookAgain(0)
				b.heal()
				b.sees(client)
			})
		})
	}
}

func TestWhatDoesNotStandAfterALossIsLost(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5")})
		b.hub.BeginEpoch(100)
		b.hub.Assertions()
		b.hub.MarkStale([]store.Session{s.ID()})
		b.store.states["p"] = store.PlayerState{Record: record(120, "")}
		b.heal()
		b.sees(client, "dequeued duel.5 lost", "state")
	})
}

func TestWhoArrivesWithACallThatMetTheLossLosesNothing(t *testing.T) {
	inBubble(t, func(b *bundle) {
		b.hub.BeginEpoch(100)
		s, client := b.arrive("p", 110, store.PlayerState{Record: record(105, "m"), Match: match(4, "p"), AsOf: 110})
		s.Arrived(0, store.PlayerState{Player: "p", Generation: 110, AsOf: 110, Record: record(105, "m"), Match: match(4, "p")})
		s.Saw(100, record(120, ""))
		s.Saw(100, record(130, "", "duel.130"))
		b.store.states["p"] = store.PlayerState{Record: record(130, "", "duel.130")}
		b.heal()
		b.sees(client)
	})
}

func TestWhoLeftAMatchIsNotAssertedToBeInItAlsoWhileARequestWaits(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "m"), Match: match(4, "p", "q")})
		defer b.request(s, func() {})()
		changed := "complete|12|0|duel|4|100000||p;q|q"
		b.hub.Deliver(store.Notification{Number: 1, Matches: map[ident.Match]string{"m": changed}})
		if asserted := b.hub.Assertions(); asserted[0].Session != s.ID() || asserted[0].Match != changed {
			t.Errorf("asserts %+v", asserted)
		}
		b.sees(client) // it is nothing that a client need be told
	})
}

// The reply to its join was lost, and its instance was told of the match by what was published.
func TestWhoWasMatchedIsAssertedToBeInTheMatchAlsoWhileARequestWaits(t *testing.T) {
	for name, end := range map[string]func(s *Session){
		"connected":       func(*Session) {},
		"connection gone": func(s *Session) { s.Over() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bundle) {
				s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5"), AsOf: 10})
				finish := b.request(s, func() {})
				b.hub.Deliver(formed(1, "m", 20, "p", "q"))
				left := "complete|30|0|duel|20|100000||p;q|q"
				b.hub.Deliver(store.Notification{Number: 2, Matches: map[ident.Match]string{"m": left}})
				end(s)
				b.sees(client)
				b.hub.BeginEpoch(100)
				want := store.Assertion{Session: s.ID(), AsOf: 21, Record: record(21, "m"), Match: left}
				for range 2 { // history may be lost again meanwhile
					if got := b.hub.Assertions(); len(got) != 1 || got[0] != want {
						t.Errorf("asserts %+v, want %+v", got, want)
					}
				}
				finish()
			})
		})
	}
}

// What the session saw is newer than what waits to be told.
func TestWhatWasOvertakenIsNotAsserted(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, _ := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5"), AsOf: 10})
		defer b.request(s, func() {})()
		b.hub.Deliver(formed(1, "m", 20, "p", "q"))
		s.Saw(0, record(40, "", "trio.35"))
		if got := b.hub.Assertions(); len(got) != 1 || got[0].AsOf != 40 || got[0].Match != "" {
			t.Errorf("asserts %+v", got)
		}
	})
}

// Why something ended is told although it waited while the history was lost: in the new one nobody knows.
func TestWhyItEndedIsToldAfterALossToo(t *testing.T) {
	for name, bring := range map[string]func(b *bundle){
		"by a change": func(b *bundle) {
			b.hub.Deliver(store.Notification{Number: 1, Changes: []store.Change{change("p", 10, record(20, ""), ended("19", "duel.5"))}})
		},
		"by a state": func(b *bundle) {
			b.store.states["p"] = store.PlayerState{AsOf: 40, Record: record(20, ""), Notices: []store.Notice{notice(b, ended("19", "duel.5"))}}
			b.lookAgain(0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bundle) {
				s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5"), AsOf: 10})
				finish := b.request(s, func() {})
				bring(b)
				b.hub.BeginEpoch(100)
				got := b.hub.Assertions()
				if len(got) != 1 || got[0].Record != "" {
					t.Fatalf("asserts %+v", got)
				}
				finish()
				b.store.states["p"] = store.PlayerState{AsOf: 101}
				b.heal()
				if told := client.take(); len(told) == 0 || told[0] != "dequeued duel.5 expired" {
					t.Errorf("the client got %q", told)
				}
			})
		})
	}
}

// A publish was lost, and a state that waits says more than the change before it.
func TestAStateThatWaitsIsAsserted(t *testing.T) {
	for name, state := range map[string]store.PlayerState{
		"the match is over":  {AsOf: 40, Record: record(30, "")},
		"there is another":   {AsOf: 40, Record: record(30, "n"), Match: match(30, "p", "r")},
		"of its own session": {AsOf: 40, Record: record(30, "n"), Match: match(30, "p", "r"), Generation: 10},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bundle) {
				s, _ := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5"), AsOf: 10})
				defer b.request(s, func() {})()
				b.hub.Deliver(formed(1, "m", 20, "p", "q"))
				b.store.states["p"] = state
				b.lookAgain(0)
				b.hub.BeginEpoch(100)
				want := store.Assertion{Session: s.ID(), AsOf: 40, Record: state.Record, Match: state.Match}
				if state.Match == "" {
					want.Record = ""
				}
				if got := b.hub.Assertions(); len(got) != 1 || got[0] != want {
					t.Errorf("asserts %+v, want %+v", got, want)
				}
			})
		})
	}
}

// What is told between the change of a record and that of its match.
func TestAMatchIsAssertedToStandWithItsRecord(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, _ := b.arrive("p", 10, store.PlayerState{Record: heldRecord(5, "m"), Match: heldMatch(4, "p", "q"), AsOf: 10})
		defer b.request(s, func() {})()
		stands := "complete|19|0|duel|4|100000||p;q|"
		b.hub.change(0, change("p", 10, record(20, "m"), ""), &toldMatches{texts: map[ident.Match]string{"m": stands}})
		if got := b.hub.Assertions(); len(got) != 1 || got[0].Match != stands {
			t.Errorf("asserts %+v", got)
		}
	})
}

// A reply came when the session had been asserted without what it says: the client must not be told so.
func TestAReplyThatComesAfterTheAssertionIsNoAnswer(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, _ := b.arrive("p", 10, store.PlayerState{Record: record(5, "m"), Match: match(4, "p", "q"), AsOf: 10})
		if !s.Saw(0, record(11, "m")) {
			t.Error("a reply in time is no answer")
		}
		b.hub.BeginEpoch(100)
		if !s.Saw(0, record(12, "m")) {
			t.Error("what came before the assertion is asserted")
		}
		asserted := b.hub.Assertions()[0].Record
		if s.Saw(0, record(20, "")) {
			t.Error("it was left in a history that is gone, and asserted")
		}
		if again := b.hub.Assertions()[0].Record; again != asserted {
			t.Errorf("asserts %q after %q", again, asserted)
		}
		if !s.Saw(0, record(120, "")) {
			t.Error("a call that met the loss is no answer")
		}
	})
}

// What waited is asserted again where the history is lost once more before it could be read, though it is not held any more.
func TestWhatWentWithAHistoryIsAssertedAgain(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5"), AsOf: 10})
		finish := b.request(s, func() {})
		b.hub.Deliver(formed(1, "m", 20, "p", "q"))
		left := "complete|30|0|duel|20|100000||p;q|q"
		b.hub.Deliver(store.Notification{Number: 2, Matches: map[ident.Match]string{"m": left}})
		b.hub.BeginEpoch(100)
		first := b.hub.Assertions()
		finish()
		b.sees(client)
		b.hub.BeginEpoch(200)
		if second := b.hub.Assertions(); !slices.Equal(second, first) || first[0].Match != left {
			t.Errorf("asserts %+v, then %+v", first, second)
		}
		b.store.states["p"] = store.PlayerState{AsOf: 201, Record: first[0].Record, Match: first[0].Match}
		b.heal()
		b.sees(client, "match_complete m", "state m")
	})
}

func TestWhatIsToldTooLateIsNotDelivered(t *testing.T) {
	inBubble(t, func(b *bundle) {
		b.hub.BeginEpoch(100)
		if b.hub.Deliver(formed(1, "m", 20, "p")) {
			t.Error("what is of a lost history is in time")
		}
		told := formed(1, "m", 120, "p")
		told.Epoch = 100
		if !b.hub.Deliver(told) {
			t.Error("what is of this one is not")
		}
	})
}
