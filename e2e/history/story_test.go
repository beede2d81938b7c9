package history

import (
	"fmt"
	"time"

	"muster/protocol"
)

// story writes a history down with times of its own. Its clock runs by a millisecond an entry, and by
// wait.
type story struct {
	h   *History
	now time.Time
	ids int
}

func newStory() *story { return &story{h: New(), now: time.UnixMilli(1_700_000_000_000)} }

func (s *story) wait(d time.Duration) { s.now = s.now.Add(d) }

func (s *story) add(player string, e Entry) {
	log := s.h.Player(player)
	if e.Kind == Dialed {
		log.conns++
	}
	s.wait(time.Millisecond)
	e.At, e.Conn = s.now, log.conns
	log.entries = append(log.entries, e)
}

func (s *story) hear(player string, e protocol.Event) { s.add(player, Entry{Kind: Heard, Event: e}) }

// ask sends a request and lets it be answered, nil for never.
func (s *story) ask(player string, q protocol.Request, answer protocol.Event) {
	s.ids++
	q.SetMessageID(fmt.Sprint(s.ids))
	s.add(player, Entry{Kind: Sent, Request: q})
	if answer != nil {
		answer.SetMessageID(fmt.Sprint(s.ids))
		s.hear(player, answer)
	}
}

// older lets the connection before the player's newest ask for something.
func (s *story) older(player string, q protocol.Request, answer protocol.Event) {
	log := s.h.Player(player)
	log.conns--
	s.ask(player, q, answer)
	log.conns++
}

// evictedAfterOutage has a player break off, Redis go away for six seconds, and the player lose its place some
// time after that.
func (s *story) evictedAfterOutage(after time.Duration) {
	s.arrive("a")
	ticket := s.join("a", "duel")
	s.cut("a")
	s.wait(100 * time.Millisecond)
	outage := Span{From: s.now, To: s.now.Add(6 * time.Second)}
	s.h.Troubled(outage)
	s.h.Unreachable(outage)
	s.wait(6*time.Second + after)
	made := fmt.Sprint(s.now.UnixMicro())
	s.arrive("a")
	s.hear("a", &protocol.Dequeued{NoticeID: made, World: "duel", TicketID: ticket, Reason: protocol.ReasonPresenceLost})
}

// connect connects a player to an instance; the state is what the welcome says.
func (s *story) connect(player, instance string, state protocol.PlayerState) {
	s.add(player, Entry{Kind: Dialed})
	s.ask(player, &protocol.Hello{}, &protocol.Welcome{Instance: instance, PlayerState: state})
}

func (s *story) arrive(players ...string) {
	for _, p := range players {
		s.connect(p, "i1", protocol.PlayerState{})
	}
}

func (s *story) cut(player string) { s.add(player, Entry{Kind: Ended, Code: -1}) }

// join lets a player join a world and returns its ticket.
func (s *story) join(player, world string) (ticket string) {
	ticket = fmt.Sprintf("%s.%d", world, s.ids)
	at := s.now.UnixMilli()
	s.ask(player, &protocol.Join{World: world}, &protocol.Joined{World: world, TicketID: ticket, EnqueuedAt: at})
	return ticket
}

func (s *story) leave(player, world string) {
	s.ask(player, &protocol.Leave{World: world}, &protocol.Left{Worlds: []string{world}})
}

// form makes a match of this moment, held for ten seconds, and tells nobody.
func (s *story) form(world string, players ...string) *protocol.Match {
	s.ids++
	s.wait(time.Millisecond)
	m := &protocol.Match{
		ID: fmt.Sprintf("m%d", s.ids), World: world, State: protocol.StateComplete,
		CreatedAt: s.now.UnixMilli(), ExpiresAt: s.now.Add(10 * time.Second).UnixMilli(),
		Rooms: map[string]string{"game": fmt.Sprintf("r%d", s.ids)},
	}
	for _, p := range players {
		m.Players = append(m.Players, protocol.Player{ID: p})
	}
	return m
}

func (s *story) tell(m *protocol.Match, players ...string) {
	for _, p := range players {
		s.hear(p, &protocol.MatchCompleted{Match: m})
	}
}

// match forms a match and tells all.
func (s *story) match(world string, players ...string) *protocol.Match {
	m := s.form(world, players...)
	s.tell(m, players...)
	return m
}

// pair lets two arrive, join the duel and be matched.
func (s *story) pair(a, b string) *protocol.Match {
	s.arrive(a, b)
	s.join(a, "duel")
	s.join(b, "duel")
	return s.match("duel", a, b)
}

// status lets a player ask for its state.
func (s *story) status(player string, state protocol.PlayerState) {
	s.ask(player, &protocol.Status{}, &protocol.StatusReply{PlayerState: state})
}

// lose declares a loss from now on, for two seconds.
func (s *story) lose(instances ...string) {
	s.wait(time.Millisecond)
	s.h.Lost(Loss{Span: Span{From: s.now, To: s.now.Add(2 * time.Second)}, Instances: instances})
}

func queued(world string, tickets ...string) protocol.PlayerState {
	var state protocol.PlayerState
	for _, id := range tickets {
		state.Queued = append(state.Queued, protocol.Queued{World: world, TicketID: id})
	}
	return state
}
