package hub

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/ident"
	"muster/store"
)

// Store is what the hub reads.
type Store interface {
	States(ctx context.Context, players []ident.Player) ([]store.PlayerState, error)
}

// Options are what a hub needs from its surroundings. All but Store and Facts may be left out.
type Options struct {
	Store Store
	// Heartbeat is how often a client is pinged, TTL how long a sign of life counts.
	Heartbeat, TTL time.Duration
	// Facts tells of a world what its queue's views need.
	Facts func(ident.World) WorldFacts
	Log   zerolog.Logger
	// Dropped is told of each client that was too slow to read.
	Dropped func()
	// Doubted is called when a session's state should be read and sent: it has ResyncStale called, soon. It must not block.
	Doubted func()
	// LookedAgain is told how many sessions' states were read because something may have been missed.
	LookedAgain func(sessions int)
	// Shown is told of each prompt of a proposed match that was written to its player. It must not block.
	Shown func(store.Shown)
}

// Hub has the sessions of an instance.
type Hub struct {
	opts    Options
	epoch   atomic.Int64
	numbers numbering
	// doubted are the sessions that may be in doubt, waiting those whose players wait in a queue: nothing that is done every
	// second looks at all sessions.
	doubted, waiting sessionSet

	began time.Time
	wheel *wheel
	// used by Beat alone, times by age
	beatAt     int64 // the last one
	nextSlotAt int64 // when the next slot of the wheel is due
	awakeSince int64 // before it this process stood still, so that nobody was silent
	due        []*Session

	mu sync.RWMutex
	// guarded by mu
	sessions map[ident.Player][]*Session
	count    int
	// parting are those whose connections are gone and whose players Redis does not know to be away yet: should it lose
	// its data before, they are asserted like the others.
	parting map[ident.Player]*Session
}

// defaultHeartbeat and defaultTTL are those of a hub without settings.
const defaultHeartbeat, defaultTTL = 10 * time.Second, 25 * time.Second

// New makes an empty hub.
func New(opts Options) *Hub {
	if opts.Dropped == nil {
		opts.Dropped = func() {}
	}
	if opts.Doubted == nil {
		opts.Doubted = func() {}
	}
	if opts.LookedAgain == nil {
		opts.LookedAgain = func(int) {}
	}
	if opts.Shown == nil {
		opts.Shown = func(store.Shown) {}
	}
	if opts.Heartbeat <= 0 {
		opts.Heartbeat, opts.TTL = defaultHeartbeat, defaultTTL
	}
	return &Hub{opts: opts, began: time.Now(), wheel: newWheel(opts.Heartbeat), sessions: map[ident.Player][]*Session{}, parting: map[ident.Player]*Session{}}
}

// Connect makes a session of a connection. It is in the hub, and receives, from Enter on.
func (h *Hub) Connect(t Transport) *Session {
	s := &Session{hub: h, transport: t, refreshedAt: -1}
	s.Heard()
	return s
}

// Enter puts a session into the hub as a player's, before the player arrives: what happens to the player
// from then on waits in the session.
func (h *Hub) Enter(s *Session, player ident.Player) {
	s.mu.Lock()
	s.player = player
	s.held = nil // of an attempt to arrive that failed
	s.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(h.sessions[player], s) {
		h.sessions[player] = append(h.sessions[player], s)
		h.count++
		h.wheel.add(s)
	}
}

// Leave takes a session out, when its connection is gone. What it saw is kept until Departed.
func (h *Hub) Leave(s *Session) {
	id := s.ID()
	player := id.Player
	h.mu.Lock()
	defer h.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(h.sessions[player]), func(other *Session) bool { return other == s })
	h.count -= len(h.sessions[player]) - len(rest)
	h.wheel.remove(s)
	if len(rest) == 0 {
		delete(h.sessions, player)
	} else {
		h.sessions[player] = rest
	}
	if id.Generation != 0 {
		h.parting[player] = s
	}
}

// Departed forgets sessions that left: Redis knows that their players are away.
func (h *Hub) Departed(sessions []store.Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range sessions {
		if s := h.parting[id.Player]; s != nil && s.ID() == id {
			delete(h.parting, id.Player)
		}
	}
}

// known are all sessions there are, and those that are parting.
func (h *Hub) known() []*Session {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return slices.AppendSeq(slices.Collect(maps.Values(h.parting)), func(yield func(*Session) bool) {
		for _, sessions := range h.sessions {
			for _, s := range sessions {
				if !yield(s) {
					return
				}
			}
		}
	})
}

// Count is how many sessions there are.
func (h *Hub) Count() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.count
}

// of are a player's sessions here: one, or for a moment two.
func (h *Hub) of(player ident.Player) []*Session {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.sessions[player]
}

// all are the sessions there are.
func (h *Hub) all() []*Session {
	h.mu.RLock()
	defer h.mu.RUnlock()
	all := make([]*Session, 0, h.count)
	for _, sessions := range h.sessions {
		all = append(all, sessions...)
	}
	return all
}

func (h *Hub) currentEpoch() ident.Place { return ident.Place(h.epoch.Load()) }
