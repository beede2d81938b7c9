package hub

import (
	"slices"
	"sync"

	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
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
func newsOf(known *store.Match, m store.Match) news {
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
func (n news) event(m store.Match, acked bool) protocol.Message {
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
// There are few, so that they are looked through.
type toldMatches struct {
	texts map[ident.Match]string

	mu sync.Mutex
	// guarded by mu
	read []toldMatch
}

// toldMatch is a match that was read, with the frames of its news for those who have not acknowledged it.
type toldMatch struct {
	m      store.Match
	frames [changed + 1][]byte
}

// of is a match and its text; not ok where the telling does not have it.
func (t *toldMatches) of(id ident.Match) (m store.Match, text string, ok bool) {
	if text, ok = t.texts[id]; !ok {
		return m, "", false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := t.find(id); at >= 0 {
		return t.read[at].m, text, true
	}
	m, err := store.ParseMatch(id, text)
	if err != nil {
		return m, "", false
	}
	t.read = append(t.read, toldMatch{m: m})
	return m, text, true
}

// find is where a match stands in read, -1 for nowhere. mu is held.
func (t *toldMatches) find(id ident.Match) int {
	for at := range t.read {
		if t.read[at].m.ID == id {
			return at
		}
	}
	return -1
}

// frame is the news of a match; nil where there is none.
func (t *toldMatches) frame(n news, m store.Match, acked bool) []byte {
	if n == noNews {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.find(m.ID)
	if acked || at < 0 {
		return protocol.Encode(n.event(m, acked))
	}
	frame := &t.read[at].frames[n]
	if *frame == nil {
		*frame = protocol.Encode(n.event(m, false))
	}
	return *frame
}

// knownMatch is the match that the session last saw of its record; nil where it saw none.
func (k *snapshot) knownMatch(r store.Record) *store.Match {
	if r.Match == "" || k.match == "" {
		return nil
	}
	m, err := store.ParseMatch(r.Match, k.match)
	if err != nil {
		return nil
	}
	return &m
}

// sendNews sends the news of a match; of a prompt, what was written is noted as shown. mu is held.
func (s *Session) sendNews(n news, m store.Match, frame []byte) {
	if frame == nil || n == prompt && m.ID == s.declined {
		return
	}
	if n == prompt {
		s.prompted(m)
	}
	s.send(frame)
}

// Declined notes that the client wants no part in a match: what was on its way about others' answers is no news to it.
func (s *Session) Declined(match ident.Match) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.declined = match
}

// prompted has the next frame noted as the prompt of a match, once it is written, unless that is known. mu is held.
func (s *Session) prompted(m store.Match) {
	if m.State == store.Proposed && m.AcceptBy > 0 && !slices.Contains(m.Shown, s.player) {
		s.prompt = m.ID
	}
}
