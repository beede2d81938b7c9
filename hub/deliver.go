package hub

import (
	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
)

// Deliver brings to sessions what this instance was told, by a publish or in a reply. It never waits. It returns false for
// what is of a history that is gone: what of it still stands, an assertion brings back.
func (h *Hub) Deliver(told store.Notification) (inTime bool) {
	if told.Epoch < h.currentEpoch() {
		return false
	}
	h.numbers.saw(told.Epoch, told.Number)
	matches := toldMatches{texts: told.Matches}
	var upTo ident.Place // of the changes
	for _, c := range told.Changes {
		upTo = max(upTo, h.change(told.Epoch, c, &matches))
	}
	for _, r := range told.Replaced {
		h.Replaced(r)
	}
	for id := range told.Matches {
		h.learn(told.Epoch, id, &matches)
	}
	for _, q := range told.Requeued {
		h.requeued(q, upTo)
	}
	return true
}

// learn has the sessions in a match know that it changed: others accepted, came or left. Of a new one their records'
// changes tell.
func (h *Hub) learn(epoch ident.Place, id ident.Match, matches *toldMatches) {
	m, text, ok := matches.of(id)
	if !ok {
		h.opts.Log.Error().Str("match_id", string(id)).Msg("told match is malformed")
		return
	}
	if m.Version == m.Created {
		return
	}
	for _, player := range m.Players {
		for _, s := range h.of(player) {
			s.whenFree(&matchChange{s, epoch, m, text, matches})
		}
	}
}

// matchChange is that a match which a session is in changed.
type matchChange struct {
	session *Session
	epoch   ident.Place
	match   store.Match
	text    string
	matches *toldMatches
}

func (c *matchChange) place() ident.Place { return c.match.Version }

func (c *matchChange) happen() {
	c.session.keepIfLost(c.epoch, c)
	c.session.learn(c.epoch, c.match, c.text, c.matches)
}

func (c *matchChange) project(k *snapshot) {
	if known := k.knownMatch(k.parsed()); known != nil && known.ID == c.match.ID && known.Version < c.match.Version {
		k.match = c.text
		k.least = max(k.least, c.match.Version)
	}
}

// learn makes a match that changed known to the client. That it stands is told with the record's change. mu is held.
func (s *Session) learn(epoch ident.Place, m store.Match, text string, matches *toldMatches) {
	record := s.seen.parsed()
	known := s.seen.knownMatch(record)
	if record.Match != m.ID || known == nil || known.Version >= m.Version {
		return
	}
	if epoch != s.seen.epoch {
		s.lookAgain(behind) // its history was lost while it waited here
		return
	}
	n := newsOf(known, m)
	if n == stands {
		return
	}
	s.seen.match, s.seen.least = text, max(s.seen.least, m.Version)
	if s.pendingSnapshot != nil && s.pendingSnapshot.asOf <= s.seen.asOf {
		s.pendingSnapshot = nil
	}
	s.sendNews(n, m, matches.frame(n, m, s.seen.parsed().Acked))
}

// requeued tells a player that it is back at its places, as a match fell through. at is the place of that.
func (h *Hub) requeued(q store.Requeued, at ident.Place) {
	for _, s := range h.of(q.Player) {
		s.whenFree(&requeueEvent{session: s, told: q, at: at})
	}
}

// requeueEvent is that a player is back at its places.
type requeueEvent struct {
	session *Session
	told    store.Requeued
	at      ident.Place
}

func (c *requeueEvent) place() ident.Place { return c.at }

func (c *requeueEvent) happen() {
	if c.session.generation == c.told.Generation {
		c.session.requeued(c.told)
	}
}

func (*requeueEvent) project(*snapshot) {}

// requeued is Hub.requeued for one session; mu is held.
func (s *Session) requeued(q store.Requeued) {
	record := s.seen.parsed()
	if record.Match != "" {
		return // it is in the next already
	}
	for _, t := range record.Waiting() {
		rank, ok := q.Ranks[t.World]
		if !ok {
			continue
		}
		facts := s.hub.opts.Facts(t.World)
		s.tell(t.World, QueueView{Position: rank.Position, Size: rank.Size, MeanWait: facts.MeanWait})
		s.send(protocol.Encode(&protocol.Requeued{Queued: Queued(t, rank, facts, q.Now), MatchID: string(q.Match)}))
	}
}

// change brings a player's new record to its sessions, and returns its version.
func (h *Hub) change(epoch ident.Place, c store.Change, matches *toldMatches) ident.Place {
	record, err := store.ParseRecord(c.Record)
	if err != nil {
		h.opts.Log.Error().Err(err).Str("player_id", string(c.Player)).Msg("told record is malformed")
		return 0
	}
	for _, s := range h.of(c.Player) {
		s.whenFree(&recordChange{session: s, epoch: epoch, record: record, told: c, matches: matches})
	}
	return record.Version
}

// recordChange is that a player's record changed.
type recordChange struct {
	session *Session
	epoch   ident.Place
	record  store.Record
	told    store.Change
	matches *toldMatches
}

func (c *recordChange) place() ident.Place { return c.record.Version }

func (c *recordChange) happen() {
	s := c.session
	if s.generation != c.told.Generation {
		return
	}
	if s.keepIfLost(c.epoch, c) {
		s.sendNotice(noticeOf(c.told)) // nobody else knows any more why it ended
	}
	s.apply(c.epoch, c.record, c.told, c.matches)
}

func (c *recordChange) project(k *snapshot) {
	if c.session.generation != c.told.Generation || c.record.Version <= k.asOf {
		return
	}
	if before := k.parsed(); c.record.Match != "" && (c.record.Match != before.Match || c.record.Held != before.Held) {
		_, text, ok := c.matches.of(c.record.Match)
		if !ok {
			return // told of a match, but not which
		}
		k.match = text
	}
	k.asOf = c.record.Version
	k.set(c.record, c.told.Record)
}

// apply makes a change known to the client, unless the session knows as much or more. mu is held.
func (s *Session) apply(epoch ident.Place, record store.Record, c store.Change, matches *toldMatches) {
	switch {
	case epoch < s.hub.currentEpoch():
		s.lookAgain(behind) // its history was lost while it waited here
		return
	case record.Version < s.seen.asOf:
		s.applyOvertaken(record, c)
		return
	case record.Version == s.seen.asOf:
		if record.Version > s.seen.read {
			s.sendNotice(noticeOf(c)) // a reply showed the record before, and not why it is so
		}
		return
	}
	before := s.seen.parsed()
	notice := noticeOf(c)
	lost := loses(before, record, notice)
	if lost && epoch != s.seen.epoch {
		s.lookAgain(behind) // it went with a history; the state says what of it stands
		return
	}
	if lost && before.Match != "" && record.Match != "" {
		// The end of the one match is still on its way behind the next: the state tells of them in their order.
		s.lookAgain(behind)
		return
	}
	var (
		m    store.Match
		text string
		n    news
	)
	if isNews := record.Match != "" && (record.Match != before.Match || record.Held != before.Held); isNews {
		var ok bool
		if m, text, ok = matches.of(record.Match); !ok {
			s.lookAgain(behind) // told of a match, but not which
			return
		}
		var known *store.Match
		if record.Match == before.Match {
			known = s.seen.knownMatch(before)
		}
		n = newsOf(known, m)
	}
	s.seen.epoch, s.seen.asOf = epoch, record.Version
	s.setRecord(record, c.Record)
	s.sendNotice(notice)
	switch {
	case text != "":
		s.seen.match = text
		s.sendNews(n, m, matches.frame(n, m, record.Acked))
	case notice.ID == "" && (lost || !same(before, record)):
		s.lookAgain(uncertain) // somebody else joined or left for the player
	}
}

// applyOvertaken makes up for a change that comes after a later one: its record is of the past, but the client
// was not told what it brought, unless a state that was read since did. mu is held.
func (s *Session) applyOvertaken(record store.Record, c store.Change) {
	if record.Version <= s.seen.read {
		return
	}
	if notice := noticeOf(c); notice.ID != "" {
		s.sendNotice(notice)
	} else {
		s.lookAgain(uncertain)
	}
}

// noticeOf is the end that a change tells of; the zero Notice if it is none.
func noticeOf(c store.Change) store.Notice {
	if c.Notice == "" {
		return store.Notice{}
	}
	n, err := store.ParseNotice(c.Notice)
	if err != nil {
		return store.Notice{}
	}
	return n
}

// sendNotice tells the client of an end, once. mu is held.
func (s *Session) sendNotice(n store.Notice) {
	if n.ID != "" && s.seen.note(n) {
		s.send(protocol.Encode(noticeEvent(n)))
	}
}

// Replaced ends the sessions of a player that are older than a generation.
func (h *Hub) Replaced(newer store.Session) {
	for _, s := range h.of(newer.Player) {
		s.replacedBy(newer.Generation)
	}
}

// replacedBy ends the session if it is older than a generation. One that has not arrived yet cannot tell: the
// answer to its arrival may be on its way behind what took it over.
func (s *Session) replacedBy(generation ident.Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := eventFunc(func() {
		if s.generation < generation {
			s.close(protocol.CloseReplaced)
		}
	})
	if s.generation == 0 {
		s.held = append(s.held, end)
		return
	}
	end()
}
