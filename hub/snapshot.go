package hub

import (
	"slices"

	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
)

// snapshot is what a session last saw of its player's record.
type snapshot struct {
	epoch ident.Place
	// asOf is the last place at which record was known to be the truth.
	asOf ident.Place
	// read is the last place of which the whole state was read. What changed between it and asOf may have been
	// overtaken by what came with asOf.
	read ident.Place
	// least is the highest place of what was shown, replies and matches that did not change the record among it: no older state
	// may follow.
	least ident.Place
	// record and match are texts as lua has them; "" for an idle player and for no match.
	record, match string
	// notices are the ids of the last ends that the client was told of, the oldest first, as many as Redis keeps.
	notices []string
}

// snapshotOf is what a state says.
func snapshotOf(epoch ident.Place, st store.PlayerState) snapshot {
	k := snapshot{epoch: epoch, asOf: st.AsOf, read: st.AsOf}
	for _, n := range slices.Backward(st.Notices) { // the oldest first, as note has them
		k.notices = append(k.notices, n.ID)
	}
	if r, err := store.ParseRecord(st.Record); err == nil {
		k.match = st.Match
		k.set(r, st.Record)
	}
	return k
}

// parsed is the record. A text that is malformed was refused when it came.
func (k *snapshot) parsed() store.Record {
	r, err := store.ParseRecord(k.record)
	if err != nil {
		return store.Record{}
	}
	return r
}

// set keeps a record's text, and drops a match that it no longer names.
func (k *snapshot) set(r store.Record, text string) {
	if r.Match == "" {
		k.match = ""
	}
	if r.Idle() {
		text = ""
	}
	k.record = text
}

// note remembers that the client was told of an end; false means that it had been.
func (k *snapshot) note(n store.Notice) bool {
	if slices.Contains(k.notices, n.ID) {
		return false
	}
	if len(k.notices) >= protocol.MaxNotices {
		k.notices = slices.Delete(k.notices, 0, 1)
	}
	k.notices = append(k.notices, n.ID)
	return true
}

// projected is what the session will know when all that waits for a request has happened. mu is held.
func (s *Session) projected() snapshot {
	k := s.known()
	for _, e := range s.held {
		e.project(&k)
	}
	return k
}

// known is the last that the session was told, of a history that is lost too. mu is held.
func (s *Session) known() snapshot {
	if s.pendingSnapshot != nil && s.pendingSnapshot.asOf >= s.seen.asOf {
		return *s.pendingSnapshot
	}
	return s.seen
}

// keepIfLost keeps what an event says for a further assertion where its history was lost while it waited: it is not shown any
// more. It returns whether it was, and said anything new. mu is held.
func (s *Session) keepIfLost(epoch ident.Place, e event) bool {
	if epoch >= s.hub.currentEpoch() {
		return false
	}
	before := s.known()
	k := before
	e.project(&k)
	if k.asOf == before.asOf && k.match == before.match {
		return false
	}
	s.pendingSnapshot = &k
	return true
}

// doubt is how sure a session is of its player's state.
type doubt int

const (
	sure doubt = iota
	// behind: something may have been missed; the state is to be read, and sent if the client lacks something.
	behind
	// uncertain: the client does not know how things stand; the state is to be read and sent.
	uncertain
)

// lookAgain has the state read soon. mu is held.
func (s *Session) lookAgain(d doubt) {
	if d != sure {
		s.remain(d)
		s.hub.opts.Doubted()
	}
}

// remain leaves it to the next ResyncStale to read the state. A read that was in vain must not call for another at
// once: while Redis is away that would go on without a pause. mu is held.
func (s *Session) remain(d doubt) {
	if d != sure {
		s.doubt = max(s.doubt, d)
		s.hub.doubted.add(s)
	}
}

// Uncertain notes that the outcome of a request is unknown: as soon as Redis answers, the state is read
// and sent.
func (s *Session) Uncertain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookAgain(uncertain)
}

// Arrived makes a script's answer to arrive what the session knows. To be called by the hello request,
// before it sends welcome; epoch is the one that the call named.
func (s *Session) Arrived(epoch ident.Place, st store.PlayerState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation = st.Generation
	epoch = s.carriedOutIn(epoch, st.AsOf)
	s.seen = snapshotOf(epoch, st)
	s.recordChanged(s.seen.parsed())
	s.toldState(st)
	if m := s.seen.knownMatch(s.seen.parsed()); m != nil {
		s.prompted(*m)
	}
	s.doubt = sure
	if epoch != s.hub.currentEpoch() {
		// It came too late to be asserted, so that in the new epoch the player may not be live.
		s.refreshedAt = -1
		s.hub.wheel.schedule(s, 0)
		s.lookAgain(uncertain)
	}
}

// Saw makes the record that a reply carried what the session knows, if it is newer. epoch is the one that
// the call named. It returns false where the reply came too late: the session was asserted without it in another epoch, and
// what the call did is gone.
func (s *Session) Saw(epoch ident.Place, record string) bool {
	r, err := store.ParseRecord(record)
	if err != nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Version <= s.seen.asOf {
		return true
	}
	epoch = s.carriedOutIn(epoch, r.Version)
	if epoch < s.seen.epoch {
		return false
	}
	s.answering(r.Version - 1)
	before := s.seen.parsed()
	if r.Match != "" && (r.Match != before.Match || r.Held != before.Held) {
		// The client is not told of a match by this reply, nor that it stands, but by what was told with that. Of one
		// that is held the reply may know more.
		if r.Held {
			s.lookAgain(behind)
		}
		return true
	}
	if epoch != s.hub.currentEpoch() {
		s.lookAgain(uncertain) // it may have missed what was asserted
	}
	if epoch != s.seen.epoch && loses(before, r, store.Notice{}) {
		s.lookAgain(uncertain) // what is gone went with a history, and the client is to be told so
		s.seen.least = r.Version
		return true
	}
	s.seen.asOf, s.seen.epoch = r.Version, epoch
	s.setRecord(r, record)
	return true
}

// carriedOutIn is the epoch in which a call was carried out that named one and returned a place: a call that
// meets a loss is carried out after it.
func (s *Session) carriedOutIn(named, place ident.Place) ident.Place {
	if current := s.hub.currentEpoch(); place >= current {
		return current
	}
	return named
}

// setRecord keeps a record.
func (s *Session) setRecord(r store.Record, text string) {
	s.seen.set(r, text)
	s.recordChanged(r)
}

// Match is the player's open match as the session last saw it, if any.
func (s *Session) Match() (*protocol.Match, bool) {
	s.mu.Lock()
	record, text := s.seen.record, s.seen.match
	s.mu.Unlock()
	return matchOf(record, text)
}

// loses tells whether something that stood before does not after, and neither a match nor the notice says why.
func loses(before, after store.Record, told store.Notice) bool {
	if before.Match != "" && after.Match != before.Match && told.Match != before.Match {
		return true
	}
	if after.Match != "" && !after.Held {
		return false // it took the player's tickets
	}
	standing := tickets(after)
	return slices.ContainsFunc(before.Waiting(), func(t store.Ticket) bool {
		return t.ID() != told.Ticket && !standing[t.ID()]
	})
}

// same tells whether two records say the same of the player.
func same(a, b store.Record) bool {
	x, y := a.Waiting(), tickets(b)
	return a.Match == b.Match && a.Held == b.Held && len(x) == len(y) &&
		!slices.ContainsFunc(x, func(t store.Ticket) bool { return !y[t.ID()] })
}

// tickets are those of a record that wait.
func tickets(r store.Record) map[ident.Ticket]bool {
	ids := map[ident.Ticket]bool{}
	for _, t := range r.Waiting() {
		ids[t.ID()] = true
	}
	return ids
}
