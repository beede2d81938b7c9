package hub

import (
	"maps"
	"slices"

	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
)

// QueueView is what a client was last told of where its ticket stands.
type QueueView struct {
	Position, Size int
	MeanWait       store.MeanWait
}

// same tells whether there is nothing new to say. That the mean was confirmed by another match is nothing new.
func (v QueueView) same(o QueueView) bool {
	return v.Position == o.Position && v.Size == o.Size && v.MeanWait.Wait == o.MeanWait.Wait
}

// Notification notes what a reply told the client of a queue, so that it is not told again.
func (s *Session) Notification(world ident.World, view QueueView) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(world, view)
}

func (s *Session) tell(world ident.World, view QueueView) {
	if s.told == nil {
		s.told = map[ident.World]QueueView{}
	}
	s.told[world] = view
}

// toldState notes what a state told the client of its queues. mu is held.
func (s *Session) toldState(st store.PlayerState) {
	for _, t := range s.seen.parsed().Waiting() {
		rank := st.Ranks[t.World]
		s.tell(t.World, QueueView{Position: rank.Position, Size: rank.Size, MeanWait: s.hub.opts.Facts(t.World).MeanWait})
	}
}

// recordChanged notes that the session knows another record: whether its player waits in a queue now. It forgets what was told
// of queues that the record does not name. mu is held.
func (s *Session) recordChanged(r store.Record) {
	waiting := r.Waiting()
	s.noteWaiting(len(waiting) > 0)
	maps.DeleteFunc(s.told, func(w ident.World, _ QueueView) bool {
		return !slices.ContainsFunc(waiting, func(t store.Ticket) bool { return t.World == w })
	})
	if len(s.told) == 0 {
		s.told = nil
	}
}

// noteWaiting puts the session into the hub's set of those that wait in a queue, or takes it out. One that closes waits for
// nothing. mu is held.
func (s *Session) noteWaiting(waits bool) {
	waits = waits && !s.closed
	switch {
	case waits && !s.waits:
		s.hub.waiting.add(s)
	case !waits && s.waits:
		s.hub.waiting.remove(s)
	}
	s.waits = waits
}

// MayWaitIn reports whether the session's player waits in a world, or may do so, as the outcome of a request is unknown.
func (s *Session) MayWaitIn(world ident.World) bool {
	s.mu.Lock()
	unsure := s.doubt == uncertain
	s.mu.Unlock()
	return unsure || slices.Contains(s.Waiting(), world)
}

// Waiting are the worlds in which the session's player waits, as far as the session knows.
func (s *Session) Waiting() []ident.World {
	s.mu.Lock()
	defer s.mu.Unlock()
	var worlds []ident.World
	for _, t := range s.seen.parsed().Waiting() {
		worlds = append(worlds, t.World)
	}
	return worlds
}

// Waiting are the players that wait here, by world.
func (h *Hub) Waiting() map[ident.World][]ident.Player {
	waiting := map[ident.World][]ident.Player{}
	for _, s := range h.waiting.list() {
		for _, w := range s.Waiting() {
			waiting[w] = append(waiting[w], s.Player())
		}
	}
	return waiting
}

// UpdateQueue tells a player where its ticket stands, if that is something new. now is Redis' time in Unix
// milliseconds.
func (h *Hub) UpdateQueue(player ident.Player, world ident.World, view QueueView, facts WorldFacts, now int64) {
	for _, s := range h.of(player) {
		s.whenFree(eventFunc(func() { s.updateQueue(world, view, facts, now) }))
	}
}

// updateQueue is UpdateQueue for one session; mu is held.
func (s *Session) updateQueue(world ident.World, view QueueView, facts WorldFacts, now int64) {
	record := s.seen.parsed()
	if s.told[world].same(view) || record.Held { // a reserved ticket has left the queue since the view was read
		return
	}
	for _, t := range record.Waiting() {
		if t.World == world {
			s.tell(world, view)
			rank := store.Rank{Position: view.Position, Size: view.Size}
			s.send(protocol.Encode(&protocol.QueueUpdate{Queued: Queued(t, rank, facts, now)}))
		}
	}
}
