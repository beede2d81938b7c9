package history

import (
	"time"

	"muster/protocol"
)

// fault is a history in which one thing is wrong.
type fault struct {
	name string
	rule int
	text string // part of what is said of it
	tell func(s *story)
}

// planted are histories with one fault each.
var planted = []fault{
	{"a second match while one is open", 1, "while", func(s *story) {
		s.pair("a", "b")
		s.arrive("c")
		s.join("c", "duel")
		s.match("duel", "c", "a")
	}},
	{"a second match that only the other was told of", 1, "stands until", func(s *story) {
		s.pair("a", "b")
		s.arrive("c")
		s.join("c", "duel")
		s.tell(s.form("duel", "c", "a"), "c")
	}},
	{"a second match formed before the first was left", 1, "stands until", func(s *story) {
		m := s.pair("a", "b")
		s.arrive("c")
		s.join("c", "duel")
		second := s.form("duel", "c", "a")
		s.ask("a", &protocol.LeaveMatch{MatchID: m.ID}, &protocol.LeftMatch{MatchID: m.ID})
		s.tell(second, "a", "c")
	}},
	{"a second match after a loss, while somebody knew of the first", 1, "stands until", func(s *story) {
		s.arrive("a", "b", "c", "d")
		for _, p := range []string{"a", "b", "c", "d"} {
			s.join(p, "trio")
		}
		m := s.form("trio", "a", "b", "c")
		s.tell(m, "a")
		s.lose()
		s.match("trio", "b", "c", "d")
	}},
	{"a second match without a loss, as who knew of the first left it", 1, "stands until", func(s *story) {
		s.arrive("a", "b", "c", "d")
		for _, p := range []string{"a", "b", "c", "d"} {
			s.join(p, "trio")
		}
		m := s.form("trio", "a", "b", "c")
		s.tell(m, "a")
		s.ask("a", &protocol.LeaveMatch{MatchID: m.ID}, &protocol.LeftMatch{MatchID: m.ID})
		s.match("trio", "b", "c", "d")
	}},
	{"a second match after a loss, as another's instance died", 1, "stands until", func(s *story) {
		s.arrive("a", "b", "c")
		for _, p := range []string{"a", "b", "c"} {
			s.join(p, "duel")
		}
		s.tell(s.form("duel", "a", "b"), "a")
		s.lose("i2")
		s.match("duel", "b", "c")
	}},
	{"a second match though the first outlived the loss", 1, "stands until", func(s *story) {
		s.connect("a", "i2", protocol.PlayerState{})
		s.arrive("b", "c")
		for _, p := range []string{"a", "b", "c"} {
			s.join(p, "duel")
		}
		m := s.form("duel", "a", "b")
		s.tell(m, "a")
		s.lose("i2")
		s.cut("a")
		s.wait(3 * time.Second)
		s.connect("a", "i1", protocol.PlayerState{Match: m})
		s.match("duel", "b", "c")
	}},
	{"a welcome that names another match", 1, "stands until", func(s *story) {
		s.pair("a", "b")
		s.arrive("c")
		m := s.form("duel", "c", "a")
		s.connect("a", "i2", protocol.PlayerState{Match: m})
	}},
	{"a player that is matched and waits", 1, "tickets at once", func(s *story) {
		m := s.pair("a", "b")
		s.status("a", protocol.PlayerState{Match: m, Queued: queued("trio", "trio.1").Queued})
	}},
	{"a match with too few", 2, "not 3 distinct", func(s *story) {
		s.arrive("a", "b")
		s.join("a", "trio")
		s.join("b", "trio")
		s.match("trio", "a", "b")
	}},
	{"a match with one player twice", 2, "not 2 distinct", func(s *story) {
		s.arrive("a")
		s.join("a", "duel")
		s.match("duel", "a", "a")
	}},
	{"a match told to somebody else", 2, "of others", func(s *story) {
		m := s.pair("a", "b")
		s.arrive("c")
		s.tell(m, "c")
	}},
	{"a match told with another room", 2, "told otherwise", func(s *story) {
		m := s.pair("a", "b")
		other := *m
		other.Rooms = map[string]string{"game": "elsewhere"}
		s.tell(&other, "b")
	}},
	{"a match before the reply to the join", 2, "before the reply", func(s *story) {
		s.arrive("a", "b")
		s.join("a", "duel")
		s.ask("b", &protocol.Join{World: "duel"}, nil)
		s.match("duel", "a", "b")
		s.hear("b", &protocol.Joined{Envelope: protocol.Envelope{ID: "4"}, World: "duel", TicketID: "duel.9"})
	}},
	{"a match that was left and comes back, though the leaver's instance lived", 2, "without waiting", func(s *story) {
		s.connect("a", "i2", protocol.PlayerState{})
		s.arrive("b")
		s.join("a", "duel")
		s.join("b", "duel")
		m := s.match("duel", "a", "b")
		s.wait(4 * time.Second)
		s.ask("a", &protocol.LeaveMatch{MatchID: m.ID}, &protocol.LeftMatch{MatchID: m.ID})
		s.lose()
		s.wait(3 * time.Second)
		s.status("a", protocol.PlayerState{Match: m})
	}},
	{"a match after a confirmed leave", 2, "without waiting", func(s *story) {
		s.arrive("a", "b")
		s.join("a", "duel")
		s.leave("a", "duel")
		s.join("b", "duel")
		s.match("duel", "a", "b")
	}},
	{"a connected player that is never told", 3, "never told", func(s *story) {
		s.arrive("a", "b")
		s.join("a", "duel")
		s.join("b", "duel")
		s.tell(s.form("duel", "a", "b"), "a")
		s.wait(5 * time.Second)
		s.status("a", protocol.PlayerState{})
	}},
	{"a welcome without the open match", 3, "welcome does not name", func(s *story) {
		s.pair("a", "b")
		s.cut("a")
		s.arrive("a")
	}},
	{"a match that a loss took, and the hello named", 3, "a state does not name", func(s *story) {
		m := s.pair("a", "b")
		s.lose("i1")
		s.cut("a")
		s.add("a", Entry{Kind: Dialed})
		s.ask("a", &protocol.Hello{Have: &protocol.Have{Match: m.ID}}, &protocol.Welcome{Instance: "i2"})
	}},
	{"a state without the open match", 3, "a state does not name", func(s *story) {
		s.pair("a", "b")
		s.status("a", protocol.PlayerState{})
	}},
	{"a ticket that is gone", 4, "without a word", func(s *story) {
		s.arrive("a")
		s.join("a", "duel")
		s.status("a", protocol.PlayerState{})
	}},
	{"a ticket in place of another", 4, "another ticket", func(s *story) {
		s.arrive("a")
		s.join("a", "duel")
		s.wait(time.Second)
		s.join("a", "duel")
	}},
	{"an eviction of a connected player", 4, "was connected", func(s *story) {
		s.arrive("a")
		ticket := s.join("a", "duel")
		s.wait(20 * time.Second)
		s.hear("a", &protocol.Dequeued{World: "duel", TicketID: ticket, Reason: protocol.ReasonPresenceLost})
	}},
	{"a newcomer before the oldest", 5, "joined trio before", func(s *story) {
		s.arrive("a", "b", "c", "d", "e", "f")
		for _, p := range []string{"a", "b", "c", "d", "e", "f"} {
			s.join(p, "trio")
		}
		s.match("trio", "b", "c", "d")
		s.match("trio", "a", "e", "f")
	}},
	{"enough wait and are not matched", 5, "make a match", func(s *story) {
		s.arrive("a", "b")
		s.join("a", "duel")
		s.join("b", "duel")
	}},
	{"a loss that was none", 7, "nothing excuses", func(s *story) {
		s.arrive("a")
		ticket := s.join("a", "duel")
		s.hear("a", &protocol.Dequeued{World: "duel", TicketID: ticket, Reason: protocol.ReasonLost})
	}},
	{"a loss of what was left", 7, "nothing excuses", func(s *story) {
		s.arrive("a")
		ticket := s.join("a", "duel")
		s.leave("a", "duel")
		s.hear("a", &protocol.Dequeued{World: "duel", TicketID: ticket, Reason: protocol.ReasonLost})
	}},
	{"a loss at an instance that lived through it", 7, "nothing excuses", func(s *story) {
		s.arrive("a")
		ticket := s.join("a", "duel")
		s.lose("i2")
		s.wait(3 * time.Second)
		s.hear("a", &protocol.Dequeued{World: "duel", TicketID: ticket, Reason: protocol.ReasonLost})
	}},
	{"a request without an answer", 7, "not answered", func(s *story) {
		s.arrive("a")
		s.ask("a", &protocol.Ping{}, nil)
		s.wait(5 * time.Second)
		s.status("a", protocol.PlayerState{})
	}},
	{"an answer to nothing", 7, "does not wait", func(s *story) {
		s.arrive("a")
		s.hear("a", &protocol.Pong{Envelope: protocol.Envelope{ID: "77"}})
	}},
	{"a request of a session that was taken over is carried out", 8, "taken over", func(s *story) {
		s.arrive("a")
		s.join("a", "duel")
		s.arrive("a") // anew
		s.older("a", &protocol.Leave{}, &protocol.Left{Worlds: []string{"duel"}})
	}},
	{"who was away when Redis went is gone as soon as it is back", 7, "presence_lost", func(s *story) {
		s.evictedAfterOutage(100 * time.Millisecond)
	}},
}
