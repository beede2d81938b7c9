package hub

import (
	"context"
	"slices"
	"time"

	"muster/protocol"
)

// GoingAway sends every client when it is to reconnect, spread over a span, and closes each session when its time has come.
// The messages leave over the first half of the span: all at once they would hold up the other sessions. It returns as
// soon as no session is left.
func (h *Hub) GoingAway(ctx context.Context, over time.Duration) {
	sessions := h.all()
	turn := func(i int) time.Duration { return over * time.Duration(i) / time.Duration(len(sessions)) }
	start := time.Now()
	for i, s := range sessions {
		for next := 2 * i; next < min(2*i+2, len(sessions)); next++ {
			left := max(0, turn(next)-time.Since(start))
			sessions[next].Send(&protocol.GoingAway{ReconnectInMS: left.Milliseconds()})
		}
		if !h.contains(s) {
			continue // it has gone already
		}
		timer := time.NewTimer(turn(i+1) - time.Since(start))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		s.closeWhenFree(protocol.CloseGoingAway)
	}
	for _, s := range h.all() { // who came meanwhile
		s.closeWhenFree(protocol.CloseGoingAway)
	}
}

func (h *Hub) contains(s *Session) bool { return slices.Contains(h.of(s.Player()), s) }
