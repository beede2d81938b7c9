package hub

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/lua"
	"github.com/musterhq/muster/protocol"
)

// Session is one connection of a player. It runs one request at a time; what happens to its player
// meanwhile waits, so that a reply comes before the events that follow from it.
type Session struct {
	hub       *Hub
	transport Transport
	// heardAt is when the client last gave a sign of life, in Unix nanoseconds.
	heardAt atomic.Int64

	mu sync.Mutex
	// guarded by mu
	player     ident.Player
	generation ident.Place // 0 until it has arrived
	seen       knowledge
	// uncertain: the outcome of a request is unknown; the state is to be read and sent.
	uncertain bool
	// told is what the client was last told of the queues that it waits in; nil while it waits nowhere.
	told map[ident.World]QueueView
	// refreshedAt is when a sign of life was last taken for a refresh, in Unix nanoseconds.
	refreshedAt int64
	requests    requestQueue
	outbox      outbox
	held        []func()
	closed      bool
}

// knowledge is what a session last saw of its player's record.
type knowledge struct {
	epoch ident.Place
	// asOf is the last place at which record was known to be the truth.
	asOf ident.Place
	// record and match are texts as lua has them; "" for an idle player and for no match.
	record, match string
}

// Player is whose session it is; "" before hello.
func (s *Session) Player() ident.Player {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.player
}

// ID names the session for scripts: the player and its generation, which is 0 until it has arrived.
func (s *Session) ID() lua.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return lua.Session{Player: s.player, Generation: s.generation}
}

// Heard notes a sign of life of the client: a message, a ping or a pong.
func (s *Session) Heard() { s.heardAt.Store(time.Now().UnixNano()) }

// Arrived makes a script's answer to arrive what the session knows. To be called by the hello request,
// before it sends welcome; epoch is the one that the call named.
func (s *Session) Arrived(epoch ident.Place, st lua.PlayerState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation = st.Generation
	s.seen = knowledge{epoch: epoch, asOf: st.AsOf, record: st.Record, match: st.Match}
	s.uncertain = false
	s.doubtOld(epoch)
}

// Saw makes the record that a reply carried what the session knows, if it is newer. epoch is the one that
// the call named.
func (s *Session) Saw(epoch ident.Place, record string) {
	r, err := lua.ParseRecord(record)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Version <= s.seen.asOf {
		return
	}
	if before, err := lua.ParseRecord(s.seen.record); err != nil || (r.Match != "" && r.Match != before.Match) {
		return // the client is not told of a match by this reply, but by what was told with the match
	}
	s.seen.asOf, s.seen.epoch = r.Version, epoch
	s.setRecord(r, record)
	s.doubtOld(epoch)
}

// doubtOld has the state read again where a reply comes from a history that is gone: it may have missed
// what was asserted. mu is held.
func (s *Session) doubtOld(epoch ident.Place) {
	if epoch != s.hub.currentEpoch() {
		s.lookAgainSoon()
	}
}

// setRecord keeps a record's text, and drops a match that it no longer names. mu is held.
func (s *Session) setRecord(r lua.Record, text string) {
	if r.Match == "" {
		s.seen.match = ""
	}
	if r.Idle() {
		text = ""
	}
	if len(r.Waiting()) == 0 {
		s.told = nil
	}
	s.seen.record = text
}

// Match is the player's open match as the session last saw it, if any.
func (s *Session) Match() (*protocol.Match, bool) {
	s.mu.Lock()
	record, text := s.seen.record, s.seen.match
	s.mu.Unlock()
	return matchOf(record, text)
}

// Uncertain notes that the outcome of a request is unknown: as soon as Redis answers, the state is read
// and sent.
func (s *Session) Uncertain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookAgainSoon()
}

// Send puts messages into the outbox.
func (s *Session) Send(messages ...protocol.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range messages {
		s.send(protocol.Encode(m))
	}
}

// Close sends what is in the outbox, if the client reads it within a second, then the close code, and ends
// the session. Only the first call counts.
func (s *Session) Close(code int) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	s.outbox.last(func() { s.transport.Close(code, protocol.CloseName(code)) })
	s.startWriting()
	s.mu.Unlock()
	time.AfterFunc(protocol.SlowTimeout, s.transport.Abort)
}

// Over notes that the connection is gone: nothing is sent any more.
func (s *Session) Over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.outbox.clear()
	s.held = nil
}

// closeSlow ends a session whose client does not read: the code is tried, but nothing waits for it.
func (s *Session) closeSlow() {
	s.closed = true
	s.outbox.clear()
	go s.transport.Close(protocol.CloseSlow, protocol.CloseName(protocol.CloseSlow))
	time.AfterFunc(protocol.SlowTimeout, s.transport.Abort)
	s.hub.opts.Dropped()
}
