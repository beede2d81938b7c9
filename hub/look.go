package hub

import (
	"context"
	"fmt"
	"slices"

	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/lua"
	"github.com/musterhq/muster/protocol"
)

// lookBatch is how many states one call reads.
const lookBatch = 100

// Behind tells whether something that this instance was told, up to a number, has not arrived.
func (h *Hub) Behind(published int64) bool { return h.numbers.behind(published) }

// RestartNumbers follows the numbers of a lease that began anew.
func (h *Hub) RestartNumbers(epoch ident.Place, published int64) { h.numbers.restart(epoch, published) }

// LookAgain reads the states of all sessions that are not idle, and brings to them what they lack.
// published is up to which number that makes up for what was not received.
func (h *Hub) LookAgain(ctx context.Context, published int64) error {
	epoch := h.currentEpoch()
	err := h.look(ctx, func(s *Session) bool { return s.generation != 0 && (s.uncertain || s.seen.record != "") })
	if err == nil {
		h.numbers.madeUp(epoch, published)
	}
	return err
}

// Heal reads the states of the sessions that do not know what became of a request, and sends them.
func (h *Hub) Heal(ctx context.Context) error {
	if !h.someUncertain.Swap(false) {
		return nil
	}
	err := h.look(ctx, func(s *Session) bool { return s.generation != 0 && s.uncertain })
	if err != nil {
		h.someUncertain.Store(true)
	}
	return err
}

// look reads the states of the sessions that are chosen.
func (h *Hub) look(ctx context.Context, chosen func(*Session) bool) error {
	h.looking.Lock()
	defer h.looking.Unlock()
	var players []ident.Player
	for _, s := range h.all() {
		s.mu.Lock()
		if !s.closed && chosen(s) {
			players = append(players, s.player)
		}
		s.mu.Unlock()
	}
	for batch := range slices.Chunk(players, lookBatch) {
		states, err := h.opts.Store.States(ctx, batch)
		if err != nil {
			return fmt.Errorf("look again at %d sessions: %w", len(players), err)
		}
		h.Apply(states)
	}
	if len(players) > 0 {
		h.opts.LookedAgain(len(players))
	}
	return nil
}

// Apply brings to sessions what Redis has of their players. A state with ErrReplaced ends the session.
func (h *Hub) Apply(states []lua.PlayerState) {
	epoch := h.currentEpoch()
	for _, st := range states {
		for _, s := range h.of(st.Player) {
			if st.Err != nil {
				s.Close(protocol.CloseReplaced)
				continue
			}
			s.whenFree(func() { s.applyState(epoch, st) })
		}
		if st.Err == nil && st.Generation != 0 {
			h.Replaced(lua.Session{Player: st.Player, Generation: st.Generation})
		}
	}
}

// applyState compares a state with what the client was told, and tells it the difference. mu is held.
func (s *Session) applyState(epoch ident.Place, st lua.PlayerState) {
	if st.Generation != 0 && st.Generation != s.generation || epoch < s.seen.epoch || st.AsOf < s.seen.asOf {
		return
	}
	before, err := lua.ParseRecord(s.seen.record)
	if err != nil {
		before = lua.Record{}
	}
	after, err := lua.ParseRecord(st.Record)
	if err != nil {
		return
	}
	changed := before.Match != after.Match || !sameTickets(before, after)
	uncertain := s.uncertain
	s.uncertain = false
	s.seen = knowledge{epoch: epoch, asOf: st.AsOf, record: st.Record, match: st.Match}
	if !changed && !uncertain {
		return
	}
	for _, m := range Unfounded(believed(before), st) {
		s.send(protocol.Encode(m))
	}
	if view, ok := matchOf(st.Record, st.Match); ok && after.Match != before.Match {
		s.send(protocol.Encode(&protocol.MatchCompleted{Match: view}))
	}
	s.send(protocol.Encode(&protocol.State{PlayerState: State(st, s.hub.opts.Facts)}))
}

// believed is what a client that was told a record believes.
func believed(r lua.Record) *protocol.Have {
	have := &protocol.Have{Match: string(r.Match)}
	for _, t := range r.Waiting() {
		have.Tickets = append(have.Tickets, string(t.ID()))
	}
	return have
}
