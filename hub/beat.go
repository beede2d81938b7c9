package hub

import (
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/lua"
	"github.com/musterhq/muster/protocol"
)

// age is how old the hub is, in nanoseconds. Signs of life are counted by it: no step of the machine's clock
// makes a client silent.
func (h *Hub) age() int64 { return int64(time.Since(h.began)) }

// Beat is one part of a heartbeat: it closes the sessions that were silent for longer than ttl, pings those
// whose turn it is, and returns those of them that were heard since their last turn. A session has its
// turn in one slot out of slots.
func (h *Hub) Beat(slot, slots int, ttl time.Duration) []lua.Session {
	now := h.age()
	if h.beatAt != 0 && time.Duration(now-h.beatAt) > ttl/2 {
		h.awakeSince = now
	}
	h.beatAt = now
	var heard []lua.Session
	pinged := 0
	for _, s := range h.all() {
		if time.Duration(now-max(s.heardAt.Load(), h.awakeSince)) > ttl {
			s.Close(protocol.CloseNoHeartbeat)
			continue
		}
		id, fresh, turn := s.turn(slot, slots)
		if fresh {
			heard = append(heard, id)
		}
		if turn {
			s.ping()
			if pinged++; pinged%pingBatch == 0 {
				runtime.Gosched()
			}
		}
	}
	return heard
}

// pingBatch is after how many pings those who write them are let go first, so that a few goroutines write them
// all: so many at once would each want a stack.
const pingBatch = 16

// turn tells whether it is the session's turn in a slot, and whether its presence is to be refreshed: the client
// was heard since this was last so.
func (s *Session) turn(slot, slots int) (id lua.Session, fresh, turn bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.generation == 0 || s.closed {
		return lua.Session{}, false, false
	}
	turn = int(uint64(s.generation)%uint64(slots)) == slot
	at := s.heardAt.Load()
	fresh = s.refreshNow || turn && at > s.refreshedAt
	if fresh {
		s.refreshNow, s.refreshedAt = false, at
	}
	return lua.Session{Player: s.player, Generation: s.generation}, fresh, turn
}

// ping has a ping sent. A client that does not answer is found by its silence, not by this.
func (s *Session) ping() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.outbox.ping = true
		s.startWriting()
	}
}

// Sessions are all that have arrived and are not about to end.
func (h *Hub) Sessions() []lua.Session {
	var list []lua.Session
	for _, s := range h.all() {
		s.mu.Lock()
		if s.generation != 0 && !s.closed {
			list = append(list, lua.Session{Player: s.player, Generation: s.generation})
		}
		s.mu.Unlock()
	}
	return list
}

// BeginEpoch makes the hub drop what is still told of older epochs.
func (h *Hub) BeginEpoch(epoch ident.Place) {
	h.epoch.Store(int64(epoch))
	h.numbers.restart(epoch, 0)
}

// Assertions are what the sessions last saw or were told, idle ones too: of each player the newest session, even if it is
// about to end or has ended, since its player is going to depart and to keep its places. It is taken to stand in the epoch
// that began, unless Doubt follows.
func (h *Hub) Assertions() []lua.Assertion {
	epoch := h.currentEpoch()
	newest := map[ident.Player]lua.Assertion{}
	for _, s := range h.known() {
		s.mu.Lock()
		if s.generation > newest[s.player].Generation {
			last := s.foreseen()
			newest[s.player] = lua.Assertion{
				Session: lua.Session{Player: s.player, Generation: s.generation},
				AsOf:    last.asOf, Record: last.record, Match: last.match,
			}
			s.seen.epoch = epoch
		}
		s.mu.Unlock()
	}
	return slices.Collect(maps.Values(newest))
}

// Doubt has sessions' states read and sent with the next Heal: what they saw does not stand in this epoch.
func (h *Hub) Doubt(sessions []lua.Session) {
	for _, id := range sessions {
		for _, s := range h.of(id.Player) {
			s.mu.Lock()
			if s.generation == id.Generation {
				s.seen.epoch = 0
				s.lookAgain(uncertain)
			}
			s.mu.Unlock()
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
