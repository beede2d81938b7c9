package hub

import (
	"context"

	"github.com/musterhq/muster/protocol"
)

// requestQueue holds the requests of a session that wait for their turn. There is a goroutine that runs
// them only while there are any.
type requestQueue struct {
	waiting []func(context.Context)
	running bool
}

// Submit has a request run after those before it, while the player's events wait. It returns false where
// too many wait already.
func (s *Session) Submit(ctx context.Context, request func(context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return true
	}
	if s.requests.running && len(s.requests.waiting) >= protocol.MaxWaitingRequests {
		return false
	}
	s.requests.waiting = append(s.requests.waiting, request)
	if !s.requests.running {
		s.requests.running = true
		go s.run(ctx)
	}
	return true
}

// run runs requests until none waits, and lets the player's events out after each.
func (s *Session) run(ctx context.Context) {
	for {
		s.mu.Lock()
		if len(s.requests.waiting) == 0 {
			s.requests.running = false
			s.requests.waiting = nil
			s.release()
			s.mu.Unlock()
			return
		}
		request := s.requests.waiting[0]
		s.requests.waiting = s.requests.waiting[1:]
		s.release()
		s.mu.Unlock()
		request(ctx)
	}
}

// release lets out what happened while a request was in flight. mu is held.
func (s *Session) release() {
	held := s.held
	s.held = nil
	for _, event := range held {
		event()
	}
}

// whenFree runs event now, or after the request that is in flight; mu is held when it runs.
func (s *Session) whenFree(event func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests.running || s.generation == 0 {
		s.held = append(s.held, event)
		return
	}
	event()
}
