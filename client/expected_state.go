package client

import (
	"maps"
	"slices"
	"sync"

	"muster/protocol"
)

// belief is what a player holds true of itself, learnt from all that the server said: the Have of the
// next hello, so that the server can name what does not stand any more.
type belief struct {
	mu      sync.Mutex
	tickets map[string]string // world → ticket; guarded by mu
	match   string            // guarded by mu
}

func newBelief(have *protocol.Have) *belief {
	b := &belief{tickets: map[string]string{}}
	if have != nil {
		b.match = have.Match
		for _, ticket := range have.Tickets {
			b.tickets[ticket] = ticket // of a world unknown here; the welcome corrects it
		}
	}
	return b
}

// have is nil where there is nothing to believe.
func (b *belief) have() *protocol.Have {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.tickets) == 0 && b.match == "" {
		return nil
	}
	return &protocol.Have{Tickets: slices.Sorted(maps.Values(b.tickets)), Match: b.match}
}

func (b *belief) learn(event protocol.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *protocol.Welcome:
		b.replace(e.PlayerState)
	case *protocol.StatusReply:
		b.replace(e.PlayerState)
	case *protocol.State:
		b.replace(e.PlayerState)
	case *protocol.Joined:
		b.tickets[e.World] = e.TicketID
	case *protocol.Requeued:
		b.tickets[e.World] = e.TicketID
		b.ended(e.MatchID)
	case *protocol.Left:
		for _, world := range e.Worlds {
			delete(b.tickets, world)
		}
	case *protocol.Dequeued:
		if b.tickets[e.World] == e.TicketID {
			delete(b.tickets, e.World)
		}
	case *protocol.MatchProposed:
		b.open(e.Match)
	case *protocol.MatchCompleted:
		b.open(e.Match)
		clear(b.tickets) // a match ends the tickets of all worlds
	case *protocol.MatchCancelled:
		b.ended(e.MatchID)
	case *protocol.MatchEnded:
		b.ended(e.MatchID)
	case *protocol.LeftMatch:
		b.ended(e.MatchID)
	}
}

// replace takes over a state. The caller holds mu.
func (b *belief) replace(s protocol.PlayerState) {
	clear(b.tickets)
	for _, q := range s.Queued {
		b.tickets[q.World] = q.TicketID
	}
	b.match = ""
	b.open(s.Match)
}

// open learns of a match, nil for none. The caller holds mu.
func (b *belief) open(match *protocol.Match) {
	if match != nil {
		b.match = match.ID
	}
}

// ended forgets a match, unless another is open by now. The caller holds mu.
func (b *belief) ended(match string) {
	if b.match == match {
		b.match = ""
	}
}
