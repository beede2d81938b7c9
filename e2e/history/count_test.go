package history

import (
	"testing"

	"muster/protocol"
)

func TestCount(t *testing.T) {
	t.Parallel()
	s := newStory()
	m := s.pair("a", "b")
	s.arrive("c")
	ticket := s.join("c", "trio")
	for range 2 { // told again
		s.hear("c", &protocol.Dequeued{World: "trio", TicketID: ticket, Reason: protocol.ReasonLost})
	}
	s.hear("a", &protocol.MatchCancelled{MatchID: m.ID, Reason: protocol.ReasonLost})
	s.hear("b", &protocol.MatchEnded{MatchID: m.ID, Reason: protocol.ReasonExpired})
	s.seated("f", s.seated("e", nil), "e")
	fell, tickets := s.asked("check", "g", "h")
	s.cancel(fell, protocol.ReasonTimeout, "g", "h")
	s.back("g", fell, tickets["g"])
	want := Count{Matches: 2, Joins: 7, LostTickets: 1, LostMatches: 1, Proposed: 1, Cancelled: 1, Seated: 1}
	if got := s.h.Count(); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	if got := want.Plus(want); got != (Count{Matches: 4, Joins: 14, LostTickets: 2, LostMatches: 2, Proposed: 2, Cancelled: 2, Seated: 2}) {
		t.Errorf("twice that is %+v", got)
	}
}
