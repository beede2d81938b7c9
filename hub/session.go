package hub

import (
	"sync"
	"sync/atomic"
	"time"

	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
)

// Session is one connection of a player. It runs one request at a time; what happens to its player
// meanwhile waits, so that a reply comes before the events that follow from it.
type Session struct {
	hub       *Hub
	transport Transport
	// heardAt is when the client last gave a sign of life, by the age of the hub.
	heardAt atomic.Int64
	due     duePlace // guarded by the mu of the wheel

	mu sync.Mutex
	// guarded by mu
	player     ident.Player
	generation ident.Place // 0 until it has arrived
	seen       snapshot
	// pendingSnapshot is what went with a history before it was shown to the client, nil for nothing. Where it is newer than seen it is
	// what is asserted.
	pendingSnapshot *snapshot
	doubt           doubt
	// told is what the client was last told of the queues that it waits in; nil while it waits nowhere.
	told map[ident.World]QueueView
	// waits says that the session is in the hub's set of those that wait in a queue.
	waits bool
	// refreshedAt is when a sign of life was last taken for a refresh, by the age of the hub; -1 before.
	refreshedAt int64
	requests    requestQueue
	outbox      outbox
	held        []event
	prompt      ident.Match // whose prompt the next frame is
	declined    ident.Match // that the client is asked about no more
	releasing   bool        // events are let out by one who writes afterwards
	closed      bool        // nothing more is taken in to be sent
}

// Player is whose session it is; "" before hello.
func (s *Session) Player() ident.Player {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.player
}

// ID names the session for scripts: the player and its generation, which is 0 until it has arrived.
func (s *Session) ID() store.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return store.Session{Player: s.player, Generation: s.generation}
}

// Heard notes a sign of life of the client: a message, a ping or a pong.
func (s *Session) Heard() { s.heardAt.Store(s.hub.age()) }

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
	defer s.mu.Unlock()
	s.close(code)
}

// closeWhenFree is Close, but lets the request that is in flight have its reply: a client that asked to leave would not know
// that it did.
func (s *Session) closeWhenFree(code int) { s.whenFree(eventFunc(func() { s.close(code) })) }

// close is Close with mu held.
func (s *Session) close(code int) {
	if s.closed {
		return
	}
	s.setClosed()
	s.outbox.last(func() { s.transport.Close(code, protocol.CloseName(code)) })
	s.startWriting()
	time.AfterFunc(protocol.SlowTimeout, s.transport.Abort)
}

// setClosed notes that nothing more is taken in to be sent. mu is held.
func (s *Session) setClosed() {
	s.closed = true
	s.noteWaiting(false)
}

// Over notes that the connection is gone: nothing is sent any more, but what the session was told may yet be asserted.
func (s *Session) Over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setClosed()
	s.outbox.clear()
	s.seen, s.pendingSnapshot, s.held = s.projected(), nil, nil
}

// closeSlow ends a session whose client does not read: the code is tried, but nothing waits for it. mu is held.
func (s *Session) closeSlow() {
	s.setClosed()
	s.outbox.clear()
	go s.transport.Close(protocol.CloseSlow, protocol.CloseName(protocol.CloseSlow))
	time.AfterFunc(protocol.SlowTimeout, s.transport.Abort)
	s.hub.opts.Dropped()
}
