package hub

import (
	"fmt"
	"slices"
	"testing"

	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
)

func TestAMatchIsEncodedOnceAndSentOnceToEach(t *testing.T) {
	inBubble(t, func(b *bundle) {
		_, p := b.arrive("p", 10, store.PlayerState{})
		_, q := b.arrive("q", 11, store.PlayerState{})
		_, other := b.arrive("r", 12, store.PlayerState{})
		told := formed(1, "m", 30, "p", "q")
		b.hub.Deliver(told)
		b.hub.Deliver(told)
		b.sees(p, "match_complete m")
		b.sees(q, "match_complete m")
		b.sees(other)
		if x, y := p.frame("match_complete"), q.frame("match_complete"); len(x) == 0 || &x[0] != &y[0] {
			t.Error("the two got frames that were encoded apart")
		}
	})
}

func TestWhatIsOfAnOlderEpochOrVersionOrSessionIsDropped(t *testing.T) {
	inBubble(t, func(b *bundle) {
		b.hub.BeginEpoch(5)
		s, client := b.arrive("p", 10, store.PlayerState{AsOf: 40})
		b.hub.Deliver(store.Notification{Number: 1, Epoch: 4, Changes: []store.Change{change("p", 10, record(50, "", "duel.50"), ended("49", "duel.1"))}})
		b.hub.Deliver(store.Notification{Number: 1, Epoch: 5, Changes: []store.Change{change("p", 10, record(39, ""), ended("38", "duel.1"))}})
		b.hub.Deliver(store.Notification{Number: 2, Epoch: 5, Changes: []store.Change{change("p", 9, record(60, ""), ended("59", "duel.1"))}})
		b.hub.Deliver(store.Notification{Number: 3, Epoch: 5, Changes: []store.Change{change("p", 10, "no record", "")}})
		b.heal()
		b.sees(client)
		if got := s.Waiting(); got != nil {
			t.Errorf("waits in %v", got)
		}
	})
}

func TestAnEndIsTold(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5", "trio.6")})
		b.hub.Deliver(store.Notification{Number: 1, Changes: []store.Change{change("p", 10, record(20, "", "trio.6"), ended("21", "duel.5"))}})
		b.heal()
		b.sees(client, "dequeued duel.5 expired")
		if got := s.Waiting(); !slices.Equal(got, []ident.World{"trio"}) {
			t.Errorf("waits in %v, want trio", got)
		}
	})
}

// A publish and a reply come by different ways, so that a later change can be known before an earlier one.
func TestAnEndThatIsOvertakenIsStillTold(t *testing.T) {
	for name, overtake := range map[string]func(b *bundle, s *Session){
		"by a reply": func(_ *bundle, s *Session) { s.Saw(0, record(30, "", "trio.30")) },
		"by another end": func(b *bundle, _ *Session) {
			b.hub.Deliver(store.Notification{Number: 2, Changes: []store.Change{change("p", 10, record(30, "", "trio.30"), ended("31", "four.7"))}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bundle) {
				s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5", "four.7")})
				overtake(b, s)
				client.take()
				late := store.Notification{Number: 1, Changes: []store.Change{change("p", 10, record(20, "", "four.7"), ended("21", "duel.5"))}}
				b.hub.Deliver(late)
				b.sees(client, "dequeued duel.5 expired")
				b.hub.Deliver(late)
				b.sees(client)
				if got := s.Waiting(); !slices.Equal(got, []ident.World{"trio"}) {
					t.Errorf("waits in %v: the older record was taken in", got)
				}
			})
		})
	}
}

func TestAnEndThatWasOvertakenAndLostIsFoundByLookingAgain(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5")})
		s.Saw(0, record(30, "", "trio.30"))
		b.store.states["p"] = store.PlayerState{Generation: 10, Record: record(30, "", "trio.30"), Notices: []store.Notice{notice(b, ended("21", "duel.5"))}}
		b.lookAgain(1)
		b.sees(client, "dequeued duel.5 expired", "state trio.30")
		b.lookAgain(1)
		b.sees(client)
	})
}

func TestWhatSomebodyElseChangedIsToldByTheState(t *testing.T) {
	for name, told := range map[string]store.Change{
		"a ticket more":  change("p", 10, record(20, "", "duel.5", "trio.20"), ""),
		"a ticket fewer": change("p", 10, record(20, ""), ""),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bundle) {
				_, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5")})
				b.hub.Deliver(store.Notification{Number: 1, Changes: []store.Change{told}})
				b.sees(client)
				b.store.states["p"] = store.PlayerState{Generation: 10, Record: told.Record}
				b.heal()
				want := "state"
				if name == "a ticket more" {
					want = "state duel.5 trio.20"
				}
				b.sees(client, want)
			})
		})
	}
}

func TestAMatchThatIsNotSaidIsReadAndTold(t *testing.T) {
	inBubble(t, func(b *bundle) {
		_, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5")})
		b.hub.Deliver(store.Notification{Number: 1, Changes: []store.Change{change("p", 10, record(20, "m"), "")}})
		b.sees(client)
		b.store.states["p"] = store.PlayerState{Generation: 10, Record: record(20, "m"), Match: match(19, "p", "q")}
		b.heal()
		b.sees(client, "match_complete m", "state m")
		b.hub.Deliver(formed(2, "m", 19, "p"))
		b.sees(client)
	})
}

func TestAReplyThatNamesAnUnknownMatchDoesNotSwallowItsEvent(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5")})
		finish := b.request(s, func() {
			s.Saw(0, record(31, "m"))
			s.Send(&protocol.Left{})
		})
		b.hub.Deliver(formed(1, "m", 30, "p"))
		finish()
		b.sees(client, "left", "match_complete m")
		if m, ok := s.Match(); !ok || m.ID != "m" {
			t.Errorf("the session's match is %v", m)
		}
		s.Saw(0, record(50, ""))
		if m, ok := s.Match(); ok {
			t.Errorf("the session is in %v, which it left", m)
		}
	})
}

func TestReplacedEndsOlderSessionsOnly(t *testing.T) {
	inBubble(t, func(b *bundle) {
		_, older := b.arrive("p", 10, store.PlayerState{})
		_, newer := b.arrive("p", 20, store.PlayerState{})
		_, other := b.arrive("q", 5, store.PlayerState{})
		b.hub.Deliver(store.Notification{Number: 1, Replaced: []store.Session{{Player: "p", Generation: 20}}})
		b.sees(older, "close 4409")
		b.sees(newer)
		b.sees(other)
	})
}

func TestATakeoverThatComesBeforeTheArrivalIsNotForgotten(t *testing.T) {
	inBubble(t, func(b *bundle) {
		client := newTransport()
		s := b.hub.Connect(client)
		b.hub.Enter(s, "p")
		b.hub.Deliver(store.Notification{Number: 1, Replaced: []store.Session{{Player: "p", Generation: 20}}})
		b.sees(client)
		b.arrived(s, 10, store.PlayerState{})
		b.sees(client, "close 4409")
	})
}

func TestAStateOfANewerSessionEndsTheOlder(t *testing.T) {
	inBubble(t, func(b *bundle) {
		_, client := b.arrive("p", 10, store.PlayerState{})
		b.store.states["p"] = store.PlayerState{Generation: 20}
		b.lookAgain(1)
		b.sees(client, "close 4409")
	})
}

func TestAStateThatIsRefusedEndsNobody(t *testing.T) {
	inBubble(t, func(b *bundle) {
		_, newer := b.arrive("p", 20, store.PlayerState{})
		b.hub.Apply([]store.PlayerState{{Player: "p", Err: store.ErrReplaced}}) // of an older session, here or elsewhere
		b.sees(newer)
	})
}

// The end of the one match may come over another connection than the next, or not at all, where somebody else had the
// player leave. The client is not to hear of two open matches, and of the next all the same.
func TestAMatchRightAfterAnotherIsToldBehindItsEnd(t *testing.T) {
	over := fmt.Sprintf("50|%s|duel|m|%s|1", protocol.TypeMatchEnded, protocol.ReasonEnded)
	for name, c := range map[string]struct {
		between []store.Change
		notices []store.Notice
		want    []string
	}{
		"its end comes late":       {[]store.Change{change("p", 10, record(49, ""), over)}, nil, []string{"match_ended m ended", "match_complete n", "state n"}},
		"its end is lost":          {nil, []store.Notice{notice(&bundle{T: t}, over)}, []string{"match_ended m ended", "match_complete n", "state n"}},
		"it was left by a request": {nil, nil, []string{"match_complete n", "state n"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bundle) {
				_, client := b.arrive("p", 10, store.PlayerState{})
				b.hub.Deliver(formed(1, "m", 30, "p", "q"))
				b.sees(client, "match_complete m")
				b.hub.Deliver(formed(3, "n", 60, "p", "q"))
				b.sees(client)
				b.hub.Deliver(store.Notification{Number: 2, Changes: c.between})
				b.store.states["p"] = store.PlayerState{Generation: 10, AsOf: 70, Record: record(61, "n"), Match: match(60, "p", "q"), Notices: c.notices}
				b.heal()
				b.sees(client, c.want...)
			})
		})
	}
}
