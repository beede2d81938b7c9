package hub

import (
	"context"

	"github.com/musterhq/muster/protocol"
)

// requestQueue holds the requests of a session that wait for their turn. There is a goroutine that runs
// them only while there are any.
type requestQueue struct {
	waiting []func()
	running bool
}

// Submit has a request run after those before it, while the player's events wait. It returns false where
// too many wait already.
func (s *Session) Submit(ctx context.Context, request func(context.Context)) bool {
	run, ok := s.Take(ctx, request)
	if run != nil {
		go run()
	}
	return ok
}

// Take is Submit for a caller who has time: where none runs, it returns what runs the request, and those that
// come meanwhile, and has to be called.
func (s *Session) Take(ctx context.Context, request func(context.Context)) (run func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, true
	}
	if !s.requests.running {
		s.requests.running = true
		return func() { s.runRequests(func() { request(ctx) }) }, true
	}
	if len(s.requests.waiting) >= protocol.MaxWaitingRequests {
		return nil, false
	}
	s.requests.waiting = append(s.requests.waiting, func() { request(ctx) })
	return nil, true
}

// runRequests runs a request and those that wait behind it, and writes what came of each: the stack has grown
// already, and no other goroutine has to be started.
func (s *Session) runRequests(request func()) {
	for request != nil {
		request()
		next, write := s.nextRequest()
		if write {
			s.write()
		}
		request = next
	}
}

// nextRequest lets the player's events out after a request, and returns the one whose turn it is, if any; and
// whether the caller has to write.
func (s *Session) nextRequest() (next func(), write bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releasing = true
	s.release()
	s.releasing = false
	write = s.outbox.begin()
	if len(s.requests.waiting) == 0 {
		s.requests = requestQueue{}
		return nil, write
	}
	next = s.requests.waiting[0]
	s.requests.waiting = s.requests.waiting[1:]
	return next, write
}

// release lets out what happened while a request was in flight, or before the session arrived. mu is held.
func (s *Session) release() {
	if s.generation == 0 {
		return
	}
	held := s.held
	s.held = nil
	for _, event := range held {
		event()
	}
}

// whenFree runs event now, or after the request that is in flight, but not before the session has arrived; mu
// is held when it runs.
func (s *Session) whenFree(event func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests.running || s.generation == 0 {
		s.held = append(s.held, event)
		return
	}
	event()
}
