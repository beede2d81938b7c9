package hub

import (
	"maps"
	"slices"
	"time"

	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
)

// age is how old the hub is, in nanoseconds. Signs of life are counted by it: no step of the machine's clock
// makes a client silent.
func (h *Hub) age() int64 { return int64(time.Since(h.began)) }

// BeatInterval is how often Beat is to be called.
func (h *Hub) BeatInterval() time.Duration { return h.wheel.interval }

// slotsABeat bounds how many slots of the wheel one Beat takes. A Beat that comes late is followed by some that take
// two, so that heartbeats neither become longer nor leave in a burst.
const slotsABeat = 2

// Beat pings the sessions that are due, closes those of them that were silent for longer than the TTL, and returns those that
// gave a sign of life since they were due before. Each session is due once a heartbeat, and when its TTL is over.
func (h *Hub) Beat() (heard []store.Session) {
	now := h.age()
	switch {
	case h.beatAt == 0:
		h.nextSlotAt = now
	case time.Duration(now-h.beatAt) > h.opts.TTL/2:
		h.awakeSince, h.nextSlotAt = now, now
	}
	h.beatAt = now
	for taken := 0; taken < slotsABeat && h.nextSlotAt <= now; taken++ {
		h.nextSlotAt += int64(h.wheel.interval)
		h.due = h.wheel.next(h.due[:0])
		for _, s := range h.due {
			if id, fresh := h.beat(s, now); fresh {
				heard = append(heard, id)
			}
		}
		clear(h.due)
	}
	return heard
}

// beat is Beat for one session that is due. It returns whether the presence of the session is to be refreshed.
func (h *Hub) beat(s *Session, now int64) (id store.Session, fresh bool) {
	left := h.opts.TTL - time.Duration(now-max(s.heardAt.Load(), h.awakeSince))
	if left < 0 {
		s.Close(protocol.CloseNoHeartbeat)
		return store.Session{}, false
	}
	id, fresh, ping := s.turn(min(h.opts.Heartbeat, left+1)) // the TTL is over a nanosecond later
	if ping {
		s.ping()
	}
	return id, fresh
}

// turn schedules the next turn of the session, unless the session ends. It returns whether the session is to be pinged, as it
// has arrived, and whether its presence is to be refreshed, as the client gave a sign of life since the last turn.
func (s *Session) turn(next time.Duration) (id store.Session, fresh, ping bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.Session{}, false, false
	}
	s.hub.wheel.schedule(s, next)
	if s.generation == 0 {
		return store.Session{}, false, false
	}
	at := s.heardAt.Load()
	fresh = at > s.refreshedAt
	s.refreshedAt = at
	return store.Session{Player: s.player, Generation: s.generation}, fresh, true
}

// ping sends a ping, or has the goroutine that writes at the moment send it. It does not wait for the client. A client that
// does not answer is found by its silence, not by this.
func (s *Session) ping() {
	s.mu.Lock()
	write := false
	if !s.closed {
		s.outbox.ping = true
		write = s.outbox.begin()
	}
	s.mu.Unlock()
	if write {
		s.write()
	}
}

// Sessions are all that have arrived and are not about to end.
func (h *Hub) Sessions() []store.Session {
	var list []store.Session
	for _, s := range h.all() {
		s.mu.Lock()
		if s.generation != 0 && !s.closed {
			list = append(list, store.Session{Player: s.player, Generation: s.generation})
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
// that began, unless MarkStale follows.
func (h *Hub) Assertions() []store.Assertion {
	epoch := h.currentEpoch()
	newest := map[ident.Player]store.Assertion{}
	for _, s := range h.known() {
		s.mu.Lock()
		if s.generation > newest[s.player].Generation {
			last := s.projected()
			newest[s.player] = store.Assertion{
				Session: store.Session{Player: s.player, Generation: s.generation},
				AsOf:    last.asOf, Record: last.record, Match: last.match,
			}
			s.seen.epoch = epoch
		}
		s.mu.Unlock()
	}
	return slices.Collect(maps.Values(newest))
}

// MarkStale has sessions' states read and sent with the next ResyncStale: what they saw does not stand in this epoch.
func (h *Hub) MarkStale(sessions []store.Session) {
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
func (h *Hub) Has(id store.Session) bool {
	for _, s := range h.of(id.Player) {
		if s.ID() == id {
			return true
		}
	}
	return false
}
