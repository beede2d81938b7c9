package hub

import (
	"sync"

	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/lua"
	"github.com/musterhq/muster/protocol"
)

// Deliver brings to sessions what this instance was told, by a publish or in a reply. It never waits.
func (h *Hub) Deliver(told lua.Told) {
	if told.Epoch < h.currentEpoch() {
		return // of a history that is gone; what of it still stands, an assertion brings back
	}
	h.numbers.saw(told.Epoch, told.Number)
	frames := completions{matches: told.Matches}
	for _, c := range told.Changes {
		h.change(told.Epoch, c, &frames)
	}
	for _, r := range told.Replaced {
		h.Replaced(r)
	}
	if len(told.Changes) == 0 {
		for id, text := range told.Matches {
			h.learn(id, text)
		}
	}
}

// learn has the sessions in a match know that it changed: somebody left it. Their clients need not be told; but
// should history be lost, nobody is asserted to be in it who has left.
func (h *Hub) learn(id ident.Match, text string) {
	m, err := lua.ParseMatch(id, text)
	if err != nil {
		h.opts.Log.Error().Err(err).Msg("told match is malformed")
		return
	}
	for _, player := range m.Players {
		for _, s := range h.of(player) {
			s.learn(m, text)
		}
	}
}

func (s *Session) learn(m lua.Match, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen.parsed().Match != m.ID {
		return
	}
	if known, err := lua.ParseMatch(m.ID, s.seen.match); err == nil && known.Version < m.Version {
		s.seen.match = text
	}
}

func (h *Hub) change(epoch ident.Place, c lua.Change, frames *completions) {
	record, err := lua.ParseRecord(c.Record)
	if err != nil {
		h.opts.Log.Error().Err(err).Str("player_id", string(c.Player)).Msg("told record is malformed")
		return
	}
	for _, s := range h.of(c.Player) {
		s.whenFree(func() {
			if s.generation == c.Generation {
				s.apply(epoch, record, c, frames)
			}
		})
	}
}

// apply makes a change known to the client, unless the session knows as much or more. mu is held.
func (s *Session) apply(epoch ident.Place, record lua.Record, c lua.Change, frames *completions) {
	switch {
	case epoch < s.hub.currentEpoch():
		s.lookAgain(behind) // its history was lost while it waited here
		return
	case record.Version < s.seen.asOf:
		s.applyOvertaken(record, c)
		return
	case record.Version == s.seen.asOf:
		return
	}
	before := s.seen.parsed()
	notice := noticeOf(c)
	lost := loses(before, record, notice)
	if lost && epoch != s.seen.epoch {
		s.lookAgain(behind) // it went with a history; the state says what of it stands
		return
	}
	text, frame := "", []byte(nil)
	if record.Match != "" && record.Match != before.Match {
		if text, frame = frames.of(record.Match); frame == nil {
			s.lookAgain(behind) // told of a match, but not which
			return
		}
	}
	s.seen.epoch, s.seen.asOf = epoch, record.Version
	s.setRecord(record, c.Record)
	s.sendNotice(notice)
	switch {
	case frame != nil:
		s.seen.match = text
		s.send(frame)
	case notice.ID == "" && (lost || !same(before, record)):
		s.lookAgain(uncertain) // somebody else joined or left for the player
	}
}

// applyOvertaken makes up for a change that comes after a later one: its record is of the past, but the client
// was not told what it brought, unless a state that was read since did. mu is held.
func (s *Session) applyOvertaken(record lua.Record, c lua.Change) {
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
func noticeOf(c lua.Change) lua.Notice {
	if c.Notice == "" {
		return lua.Notice{}
	}
	n, err := lua.ParseNotice(c.Notice)
	if err != nil {
		return lua.Notice{}
	}
	return n
}

// sendNotice tells the client of an end, once. mu is held.
func (s *Session) sendNotice(n lua.Notice) {
	if n.ID != "" && s.seen.note(n) {
		s.send(protocol.Encode(noticeEvent(n)))
	}
}

// completions are the frames of match_complete of one telling, each encoded once for all its receivers.
type completions struct {
	matches map[ident.Match]string

	mu sync.Mutex
	// guarded by mu
	frames map[ident.Match][]byte
}

// of is a match's text and its frame; nil where the telling does not have it.
func (c *completions) of(id ident.Match) (string, []byte) {
	text, ok := c.matches[id]
	if !ok {
		return "", nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if frame, ok := c.frames[id]; ok {
		return text, frame
	}
	m, err := lua.ParseMatch(id, text)
	if err != nil {
		return "", nil
	}
	if c.frames == nil {
		c.frames = map[ident.Match][]byte{}
	}
	c.frames[id] = protocol.Encode(&protocol.MatchCompleted{Match: MatchView(m, false)})
	return text, c.frames[id]
}

// Replaced ends the sessions of a player that are older than a generation.
func (h *Hub) Replaced(newer lua.Session) {
	for _, s := range h.of(newer.Player) {
		s.replacedBy(newer.Generation)
	}
}

// replacedBy ends the session if it is older than a generation. One that has not arrived yet cannot tell: the
// answer to its arrival may be on its way behind what took it over.
func (s *Session) replacedBy(generation ident.Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := func() {
		if s.generation < generation {
			s.close(protocol.CloseReplaced)
		}
	}
	if s.generation == 0 {
		s.held = append(s.held, end)
		return
	}
	end()
}
