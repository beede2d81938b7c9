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
	if epoch < s.seen.epoch || record.Version <= s.seen.asOf {
		return
	}
	before, err := lua.ParseRecord(s.seen.record)
	if err != nil {
		before = lua.Record{}
	}
	s.seen.epoch, s.seen.asOf = epoch, record.Version
	s.setRecord(record, c.Record)
	if notice, err := lua.ParseNotice(c.Notice); c.Notice != "" && err == nil {
		s.send(protocol.Encode(noticeEvent(notice)))
	}
	if record.Match != "" && record.Match != before.Match {
		text, frame := frames.of(record.Match)
		if frame == nil {
			s.lookAgainSoon() // told of a match, but not which
			return
		}
		s.seen.match = text
		s.send(frame)
		return
	}
	if c.Notice == "" && !sameTickets(before, record) {
		s.lookAgainSoon() // somebody else joined or left for the player
	}
}

// lookAgainSoon has the state read and sent. mu is held.
func (s *Session) lookAgainSoon() {
	s.uncertain = true
	s.hub.someUncertain.Store(true)
}

func sameTickets(a, b lua.Record) bool {
	x, y := a.Waiting(), b.Waiting()
	if len(x) != len(y) {
		return false
	}
	places := map[ident.Ticket]bool{}
	for _, t := range x {
		places[t.ID()] = true
	}
	for _, t := range y {
		if !places[t.ID()] {
			return false
		}
	}
	return true
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
		if g := s.ID().Generation; g != 0 && g < newer.Generation {
			s.Close(protocol.CloseReplaced)
		}
	}
}
