package hub

import (
	"slices"
	"sync"

	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/lua"
	"github.com/musterhq/muster/protocol"
)

// news is what a client is to be told of its match, beside what it knows of it.
type news int

const (
	// noNews: nothing, as while a match that nobody is asked about waits for its server.
	noNews news = iota
	// prompt: the player is asked, or the count of those who accepted grew.
	prompt
	// stands: the match is complete.
	stands
	// changed: its players are others.
	changed
)

// newsOf compares a match with what the client knows of it; known is nil where it knows nothing.
func newsOf(known *lua.Match, m lua.Match) news {
	switch {
	case m.Held():
		if m.AcceptBy > 0 && (known == nil || len(known.Accepted) != len(m.Accepted)) {
			return prompt
		}
	case known == nil || known.Held():
		return stands
	case m.Seats && !slices.Equal(known.Players, m.Players):
		return changed
	}
	return noNews
}

// event is the message that brings the news. acked says whether the player has acknowledged the match.
func (n news) event(m lua.Match, acked bool) protocol.Message {
	switch n {
	case prompt:
		return &protocol.MatchProposed{Match: MatchView(m, acked)}
	case stands:
		return &protocol.MatchCompleted{Match: MatchView(m, acked)}
	case changed:
		return &protocol.MatchUpdate{Match: MatchView(m, acked)}
	default:
		return nil
	}
}

// toldMatches are the matches of one telling, each read once, and its events encoded once for all their receivers.
type toldMatches struct {
	texts map[ident.Match]string

	mu sync.Mutex
	// guarded by mu
	matches map[ident.Match]lua.Match
	frames  map[frameKey][]byte
}

type frameKey struct {
	match ident.Match
	news  news
	acked bool
}

// of is a match and its text; not ok where the telling does not have it.
func (t *toldMatches) of(id ident.Match) (m lua.Match, text string, ok bool) {
	if text, ok = t.texts[id]; !ok {
		return m, "", false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if m, ok = t.matches[id]; ok {
		return m, text, true
	}
	m, err := lua.ParseMatch(id, text)
	if err != nil {
		return m, "", false
	}
	if t.matches == nil {
		t.matches = map[ident.Match]lua.Match{}
	}
	t.matches[id] = m
	return m, text, true
}

// frame is the news of a match; nil where there is none.
func (t *toldMatches) frame(n news, m lua.Match, acked bool) []byte {
	if n == noNews {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := frameKey{m.ID, n, acked}
	frame, ok := t.frames[key]
	if !ok {
		if t.frames == nil {
			t.frames = map[frameKey][]byte{}
		}
		frame = protocol.Encode(n.event(m, acked))
		t.frames[key] = frame
	}
	return frame
}

// knownMatch is the match that the session last saw of its record; nil where it saw none.
func (k *knowledge) knownMatch(r lua.Record) *lua.Match {
	if r.Match == "" || k.match == "" {
		return nil
	}
	m, err := lua.ParseMatch(r.Match, k.match)
	if err != nil {
		return nil
	}
	return &m
}

// sendNews sends the news of a match; of a prompt, what was written is noted as shown. mu is held.
func (s *Session) sendNews(n news, m lua.Match, frame []byte) {
	if frame == nil {
		return
	}
	if n == prompt {
		s.prompted(m)
	}
	s.send(frame)
}

// prompted has the next frame noted as the prompt of a match, once it is written, unless that is known. mu is held.
func (s *Session) prompted(m lua.Match) {
	if m.State == lua.Proposed && m.AcceptBy > 0 && !slices.Contains(m.Shown, s.player) {
		s.prompt = m.ID
	}
}
