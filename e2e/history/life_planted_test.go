package history

import (
	"encoding/json"
	"time"

	"muster/protocol"
)

// plantedLives are histories of matches that are held or have seats, with one fault each.
var plantedLives = []fault{
	{"a match while another is proposed", 1, "stands until", func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.arrive("c")
		s.join("c", "check")
		other := s.propose("check", "a", "c")
		s.wait(time.Second)
		s.cancel(m, protocol.ReasonDeclined, "a", "b")
		s.back("b", m, tickets["b"])
		s.accept("a", other)
		s.accept("c", other)
		s.stand(other, "a", "c")
	}},
	{"a proposal while a match is open", 1, "stands until", func(s *story) {
		s.pair("a", "b")
		s.arrive("c")
		s.join("a", "check")
		s.join("c", "check")
		m := s.propose("check", "a", "c")
		s.cancel(m, protocol.ReasonTimeout, "a", "c")
	}},
	{"a ticket that is back after its player had left", 4, "which it had left", func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.leave("b", "check")
		s.cancel(m, protocol.ReasonDeclined, "a", "b")
		s.back("b", m, tickets["b"])
		s.back("a", m, tickets["a"])
	}},
	{"a state that is older than a leave", 4, "which it had left", func(s *story) {
		s.arrive("a")
		ticket := s.joined("a", "check")
		s.leave("a", "check")
		s.status("a", holding(nil, ticket))
	}},
	{"a state that names tickets beside a match that stands", 1, "tickets at once", func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.accept("a", m)
		s.accept("b", m)
		stood := s.stand(m, "a", "b")
		s.status("a", holding(stood, tickets["a"]))
	}},
	{"a match told with another server", 2, "has the server", func(s *story) {
		m := s.pair("a", "b")
		other := *m
		other.Endpoint = json.RawMessage(`"elsewhere"`)
		s.tell(&other, "b")
	}},
	{"a room with more than it has seats", 2, "up to 2 distinct", func(s *story) {
		room := s.seated("a", nil)
		s.seated("b", room, "a")
		s.seated("c", room, "a", "b")
	}},
	{"a seat that is sold twice", 2, "number 3", func(s *story) {
		room := s.seated("a", nil)
		s.seated("b", room, "a")
		s.seated("c", room, "a") // of b nobody speaks any more, nor to b
		s.wait(7 * time.Second)
		s.status("b", protocol.PlayerState{Match: with(room, "a", "b")})
	}},
	{"a match that a player is in who declined it", 2, "without waiting", func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.decline("b", m)
		s.out("b", tickets["b"])
		s.cancel(m, protocol.ReasonDeclined, "a", "b")
		s.match("check", "a", "b")
	}},
	{"a match that a player is in who left its world while it was held", 2, "without waiting", func(s *story) {
		m, _ := s.asked("check", "a", "b")
		s.accept("a", m)
		s.leave("a", "check")
		s.accept("b", m)
		s.stand(m, "a", "b")
	}},
	{"a proposal of which one never hears again", 3, "in the dark", func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.wait(2 * time.Second)
		s.cancel(m, protocol.ReasonTimeout, "b")
		s.out("b", tickets["b"])
		s.wait(5 * time.Second)
		s.ask("a", &protocol.Ping{}, &protocol.Pong{})
	}},
	{"a proposal of whose end one hears late", 3, "in the dark", func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.accept("a", m)
		s.accept("b", m)
		s.stand(m, "a")
		s.wait(5 * time.Second)
		s.status("b", holding(m, tickets["b"]))
		s.stand(m, "b")
	}},
	{"a proposal that nobody ends", 3, "in the dark", func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.wait(6 * time.Second)
		s.status("a", holding(m, tickets["a"]))
	}},
	{"a state without the proposal", 3, "a state does not name it", func(s *story) {
		_, tickets := s.asked("check", "a", "b")
		s.status("a", holding(nil, tickets["a"]))
	}},
	{"a welcome without the proposal", 3, "a state does not name it", func(s *story) {
		_, tickets := s.asked("check", "a", "b")
		s.cut("a")
		s.connect("a", "i2", holding(nil, tickets["a"]))
	}},
	{"a ticket that is not back", 4, "is not told that ticket", func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.accept("a", m)
		s.decline("b", m)
		s.cancel(m, protocol.ReasonDeclined, "a", "b")
		s.out("b", tickets["b"])
		s.wait(5 * time.Second)
		s.ask("a", &protocol.Ping{}, &protocol.Pong{})
	}},
	{"a ticket in a second world that is not back", 4, "is not told that ticket trio", func(s *story) {
		s.arrive("a", "b")
		s.join("a", "trio")
		first := s.joined("a", "check")
		second := s.joined("b", "check")
		m := s.propose("check", "a", "b")
		s.decline("b", m)
		s.cancel(m, protocol.ReasonDeclined, "a", "b")
		s.out("b", second)
		s.back("a", m, first)
		s.wait(5 * time.Second)
		s.ask("a", &protocol.Ping{}, &protocol.Pong{})
	}},
	{"another ticket in place of the one that was held", 4, "another ticket", func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.cancel(m, protocol.ReasonTimeout, "a", "b")
		other := *tickets["a"]
		other.TicketID = "check.99"
		s.back("a", m, &other)
	}},
	{"a ticket that is back behind its old place", 5, "another enqueued_at", func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.cancel(m, protocol.ReasonTimeout, "a", "b")
		other := *tickets["a"]
		other.EnqueuedAt += 1000
		s.back("a", m, &other)
	}},
	{"who declined keeps its ticket", 4, "is not told that ticket", func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.decline("b", m)
		s.cancel(m, protocol.ReasonDeclined, "a", "b")
		s.back("a", m, tickets["a"])
		s.back("b", m, tickets["b"])
		s.wait(5 * time.Second)
		s.status("b", holding(nil, tickets["b"]))
	}},
	{"who accepted is put out", 4, "accepted match", func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.accept("a", m)
		s.wait(2 * time.Second)
		s.cancel(m, protocol.ReasonTimeout, "a", "b")
		s.out("a", tickets["a"])
	}},
	{"who was not asked is put out", 4, "never asked", func(s *story) {
		s.arrive("a")
		ticket := s.joined("a", "check")
		m := s.unasked("check", "a", "b")
		s.cancel(m, protocol.ReasonTimeout, "a")
		s.out("a", ticket)
	}},
	{"a newcomer before one who is back", 5, "joined check before", func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.decline("b", m)
		s.cancel(m, protocol.ReasonDeclined, "a", "b")
		s.out("b", tickets["b"])
		s.back("a", m, tickets["a"])
		s.arrive("c", "d", "e")
		for _, p := range []string{"c", "d", "e"} {
			s.join(p, "check")
		}
		s.propose("check", "c", "d")
		s.propose("check", "a", "e")
	}},
	{"a newcomer who is asked before the oldest", 5, "joined check before", func(s *story) {
		s.arrive("a", "b", "c", "d")
		for _, p := range []string{"a", "b", "c", "d"} {
			s.join(p, "check")
		}
		m := s.propose("check", "b", "c")
		s.cancel(m, protocol.ReasonTimeout, "b", "c") // it need not stand
		s.propose("check", "a", "d")
	}},
	{"a newcomer who is seated long before the oldest", 5, "was seated", func(s *story) {
		s.arrive("a", "b")
		s.join("a", "lounge")
		s.join("b", "lounge")
		room := s.match("lounge", "b")
		s.wait(5 * time.Second)
		s.tell(with(room, "a", "b"), "a")
	}},
	{"one waits although a room takes it", 5, "make a match", func(s *story) {
		s.arrive("a")
		s.join("a", "lounge")
	}},
}
