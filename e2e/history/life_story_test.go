package history

import (
	"fmt"
	"time"

	"muster/protocol"
)

// propose makes a match of this moment that is to be accepted within two seconds, and asks its players.
func (s *story) propose(world string, players ...string) *protocol.Match {
	m := s.unasked(world, players...)
	s.prompt(m, players...)
	return m
}

// unasked is propose without the asking.
func (s *story) unasked(world string, players ...string) *protocol.Match {
	s.ids++
	s.wait(time.Millisecond)
	until := s.now.Add(2 * time.Second).UnixMilli()
	return &protocol.Match{
		ID: fmt.Sprintf("m%d", s.ids), World: world, State: protocol.StateProposed, CreatedAt: s.now.UnixMilli(),
		ExpiresAt: until, AcceptBy: until, Accepted: new(int64), Size: int64(len(players)),
	}
}

func (s *story) prompt(m *protocol.Match, players ...string) {
	for _, p := range players {
		s.hear(p, &protocol.MatchProposed{Match: m})
	}
}

// asked lets players arrive, join a world and be asked about a match, and returns their tickets.
func (s *story) asked(world string, players ...string) (m *protocol.Match, tickets map[string]*protocol.Joined) {
	tickets = map[string]*protocol.Joined{}
	s.arrive(players...)
	for _, p := range players {
		tickets[p] = s.joined(p, world)
	}
	return s.propose(world, players...), tickets
}

// joined is join with the whole reply.
func (s *story) joined(player, world string) *protocol.Joined {
	at := s.now.UnixMilli()
	ticket := s.join(player, world)
	return &protocol.Joined{World: world, TicketID: ticket, EnqueuedAt: at}
}

func (s *story) accept(player string, m *protocol.Match) {
	s.ask(player, &protocol.Accept{MatchID: m.ID}, &protocol.Accepted{MatchID: m.ID})
}

func (s *story) decline(player string, m *protocol.Match) {
	s.ask(player, &protocol.Decline{MatchID: m.ID}, &protocol.Declined{MatchID: m.ID})
}

// cancel tells players that a match fell through at this moment.
func (s *story) cancel(m *protocol.Match, reason string, players ...string) {
	for _, p := range players {
		s.hear(p, s.cancelled(m, reason))
	}
}

func (s *story) cancelled(m *protocol.Match, reason string) *protocol.MatchCancelled {
	return &protocol.MatchCancelled{NoticeID: fmt.Sprint(s.now.UnixMicro()), MatchID: m.ID, Reason: reason}
}

// back tells a player that its ticket is back.
func (s *story) back(player string, m *protocol.Match, t *protocol.Joined) {
	s.hear(player, &protocol.Requeued{
		Queued: protocol.Queued{World: t.World, TicketID: t.TicketID, EnqueuedAt: t.EnqueuedAt}, MatchID: m.ID,
	})
}

// out tells a player that its ticket ended as declined.
func (s *story) out(player string, t *protocol.Joined) {
	s.hear(player, &protocol.Dequeued{World: t.World, TicketID: t.TicketID, Reason: protocol.ReasonDeclined})
}

// stand tells players that a match stands that they were asked about.
func (s *story) stand(m *protocol.Match, players ...string) *protocol.Match {
	stood := *m
	stood.State, stood.AcceptBy, stood.Accepted, stood.Size = protocol.StateComplete, 0, nil, 0
	stood.ExpiresAt = s.now.Add(10 * time.Second).UnixMilli()
	stood.Rooms = map[string]string{"game": "r-" + m.ID}
	for _, p := range players {
		stood.Players = append(stood.Players, protocol.Player{ID: p})
	}
	s.tell(&stood, players...)
	return &stood
}

// holding is the state of a player whose tickets a match holds.
func holding(m *protocol.Match, tickets ...*protocol.Joined) protocol.PlayerState {
	state := protocol.PlayerState{Match: m}
	for _, t := range tickets {
		state.Queued = append(state.Queued, protocol.Queued{World: t.World, TicketID: t.TicketID, EnqueuedAt: t.EnqueuedAt})
	}
	return state
}

// with is a match as it is after its players changed.
func with(m *protocol.Match, players ...string) *protocol.Match {
	changed := *m
	changed.Players = nil
	for _, p := range players {
		changed.Players = append(changed.Players, protocol.Player{ID: p})
	}
	return &changed
}

// update tells the first of the players that a match has these.
func (s *story) update(m *protocol.Match, players ...string) {
	s.hear(players[0], &protocol.MatchUpdate{Match: with(m, players...)})
}

// seated lets a player arrive, join and be seated in a room with others.
func (s *story) seated(player string, room *protocol.Match, others ...string) *protocol.Match {
	s.arrive(player)
	s.join(player, "lounge")
	if room == nil {
		return s.match("lounge", player)
	}
	s.tell(with(room, append(others, player)...), player)
	return room
}

// goodLives are histories of matches that are held or have seats, in which nothing is wrong.
var goodLives = map[string]func(s *story){
	"everybody accepts": func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.accept("a", m)
		s.status("b", holding(m, tickets["b"]))
		s.accept("b", m)
		s.stand(m, "a", "b")
	},
	"one declines and the other is back and meets a third": func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.decline("b", m)
		s.cancel(m, protocol.ReasonDeclined, "a", "b")
		s.out("b", tickets["b"])
		s.back("a", m, tickets["a"])
		s.arrive("c")
		s.join("c", "check")
		next := s.propose("check", "a", "c")
		s.accept("c", next)
		s.accept("a", next)
		s.stand(next, "a", "c")
	},
	"one lets the time pass": func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.accept("a", m)
		s.wait(2 * time.Second)
		s.cancel(m, protocol.ReasonTimeout, "a", "b")
		s.out("b", tickets["b"])
		s.back("a", m, tickets["a"])
		s.wait(5 * time.Second)
		s.status("a", holding(nil, tickets["a"]))
	},
	"those who joined meanwhile meet while a match is held": func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.arrive("c", "d")
		s.join("c", "check")
		s.join("d", "check")
		other := s.propose("check", "c", "d")
		s.decline("b", m)
		s.cancel(m, protocol.ReasonDeclined, "a", "b")
		s.back("a", m, tickets["a"])
		s.out("b", tickets["b"])
		s.accept("c", other)
		s.accept("d", other)
		s.stand(other, "c", "d")
	},
	"who was away learns of the end when it comes back": func(s *story) {
		m, tickets := s.asked("check", "a", "b")
		s.cut("a")
		s.wait(2 * time.Second)
		s.cancel(m, protocol.ReasonTimeout, "b")
		s.out("b", tickets["b"])
		s.wait(5 * time.Second)
		state := holding(nil, tickets["a"])
		state.Notices = protocol.Notices{s.cancelled(m, protocol.ReasonTimeout)}
		s.connect("a", "i2", state)
	},
	"no server is to be had, and those who were not asked are back": func(s *story) {
		s.arrive("a")
		ticket := s.joined("a", "served")
		s.wait(3 * time.Second)
		m := s.unasked("served", "a", "b")
		s.cancel(m, protocol.ReasonAllocationFailed, "a")
		s.back("a", m, ticket)
	},
	"a server takes its time": func(s *story) {
		m, tickets := s.asked("served", "a", "b")
		s.accept("a", m)
		s.accept("b", m)
		s.wait(4 * time.Second)
		held := *m
		held.State = protocol.StateAllocating
		s.status("a", holding(&held, tickets["a"]))
		s.stand(m, "a", "b")
	},
	"a seat changes hands": func(s *story) {
		room := s.seated("a", nil)
		s.seated("b", room, "a")
		s.update(room, "a", "b")
		s.wait(4 * time.Second)
		s.ask("b", &protocol.LeaveMatch{MatchID: room.ID}, &protocol.LeftMatch{MatchID: room.ID})
		s.update(room, "a")
		s.seated("c", room, "a")
		s.update(room, "a", "c")
		s.wait(4 * time.Second)
		s.status("a", protocol.PlayerState{Match: with(room, "a", "c")})
	},
	"a seat that nobody takes up is somebody else's": func(s *story) {
		room := s.seated("a", nil)
		s.seated("b", room, "a")
		s.wait(4 * time.Second)
		s.hear("b", &protocol.MatchEnded{MatchID: room.ID, Reason: protocol.ReasonExpired})
		s.seated("c", room, "a")
		s.wait(4 * time.Second)
		s.status("c", protocol.PlayerState{Match: with(room, "a", "c")})
	},
	"a player takes the seat that it had left": func(s *story) {
		s.arrive("a", "b", "c", "d")
		for _, p := range []string{"a", "b", "c", "d"} {
			s.join(p, "open")
		}
		m := s.match("open", "a", "b")
		s.match("open", "c", "d")
		s.ask("a", &protocol.LeaveMatch{MatchID: m.ID}, &protocol.LeftMatch{MatchID: m.ID})
		s.join("a", "open")
		s.tell(with(m, "b", "a"), "a")
		s.hear("b", &protocol.MatchUpdate{Match: with(m, "b", "a")})
	},
	"a seat is filled from behind": func(s *story) {
		s.arrive("a", "b", "c")
		s.join("a", "open")
		s.join("b", "open")
		m := s.match("open", "a", "b")
		s.ask("a", &protocol.LeaveMatch{MatchID: m.ID}, &protocol.LeftMatch{MatchID: m.ID})
		s.join("c", "open")
		s.tell(with(m, "b", "c"), "c")
		s.hear("b", &protocol.MatchUpdate{Match: with(m, "b", "c")})
		s.join("a", "open")
		s.arrive("d")
		s.join("d", "open")
		s.match("open", "a", "d")
	},
}
