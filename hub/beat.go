package hub

import (
	"context"
	"time"

	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/lua"
	"github.com/musterhq/muster/protocol"
)

// Beat is one part of a heartbeat: it closes the sessions that were silent for longer than ttl, pings those
// whose turn it is, and returns those of them that were heard since their last turn. A session has its
// turn in one slot out of slots.
func (h *Hub) Beat(ctx context.Context, slot, slots int, ttl time.Duration) []lua.Session {
	now := time.Now()
	var heard []lua.Session
	for _, s := range h.all() {
		if silence(s.heardAt.Load(), now) > ttl {
			s.Close(protocol.CloseNoHeartbeat)
			continue
		}
		id := s.ID()
		if id.Generation == 0 || int(uint64(id.Generation)%uint64(slots)) != slot { //nolint:gosec // G115: a place is positive
			continue
		}
		if s.takeHeard() {
			heard = append(heard, id)
		}
		go s.ping(ctx, ttl)
	}
	return heard
}

// takeHeard tells whether the client was heard since this was last asked.
func (s *Session) takeHeard() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.heardAt.Load()
	if s.closed || at <= s.refreshedAt {
		return false
	}
	s.refreshedAt = at
	return true
}

// ping sends a ping. A client that does not answer is found by its silence, not by this.
func (s *Session) ping(ctx context.Context, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if s.transport.Ping(ctx) == nil {
		s.Heard()
	}
}

// Sessions are all that have arrived.
func (h *Hub) Sessions() []lua.Session {
	var list []lua.Session
	for _, s := range h.all() {
		if id := s.ID(); id.Generation != 0 {
			list = append(list, id)
		}
	}
	return list
}

// BeginEpoch makes the hub drop what is still told of older epochs.
func (h *Hub) BeginEpoch(epoch ident.Place) {
	h.epoch.Store(int64(epoch))
	h.numbers.restart(epoch, 0)
}

// Assertions are what the sessions last saw, idle ones too.
func (h *Hub) Assertions() []lua.Assertion {
	var list []lua.Assertion
	for _, s := range h.all() {
		s.mu.Lock()
		if s.generation != 0 && !s.closed {
			list = append(list, lua.Assertion{
				Session: lua.Session{Player: s.player, Generation: s.generation},
				AsOf:    s.seen.asOf, Record: s.seen.record, Match: s.seen.match,
			})
		}
		s.mu.Unlock()
	}
	return list
}

// Doubt has sessions' states read and sent with the next Heal.
func (h *Hub) Doubt(sessions []lua.Session) {
	for _, id := range sessions {
		for _, s := range h.of(id.Player) {
			if s.ID() == id {
				s.Uncertain()
			}
		}
	}
}

// Has tells whether a session is still connected.
func (h *Hub) Has(id lua.Session) bool {
	for _, s := range h.of(id.Player) {
		if s.ID() == id {
			return true
		}
	}
	return false
}
