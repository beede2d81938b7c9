package hub

import (
	"muster/internal/ident"
	"muster/protocol"
)

// requestQueue is how far the request is whose turn it is, and those that wait for theirs.
type requestQueue struct {
	waiting []func()
	phase   phase
	// shows is the place up to which the reply of the one in flight shows how things stood; 0 for nothing.
	shows ident.Place
}

// phase is how far a request is.
type phase int

const (
	none phase = iota
	// beginning: its function has not returned. finished: nor has it, but the request is over.
	beginning
	finished
	// underway: its function has returned, and the request goes on elsewhere.
	underway
)

// Submit has a request begun after those before it, by who ends the last of these, or by the caller where none is in
// flight. It must not wait, but may go on elsewhere: it is in flight until Finish, and so long the player's events wait.
// Submit returns false where too many wait already.
func (s *Session) Submit(request func()) bool {
	s.mu.Lock()
	if s.closed || s.requests.phase != none {
		defer s.mu.Unlock()
		return s.closed || s.requests.add(request)
	}
	s.requests.phase = beginning
	s.mu.Unlock()
	s.runRequests(request)
	return true
}

// AfterRequests calls act when all requests submitted so far have ended: now, or when the last of them ends. act must not
// wait.
func (s *Session) AfterRequests(act func()) {
	s.mu.Lock()
	if s.requests.phase != none {
		defer s.mu.Unlock()
		s.requests.waiting = append(s.requests.waiting, func() {
			act()
			s.Finish()
		})
		return
	}
	s.mu.Unlock()
	act()
}

func (q *requestQueue) add(request func()) bool {
	if len(q.waiting) >= protocol.MaxWaitingRequests {
		return false
	}
	q.waiting = append(q.waiting, request)
	return true
}

// Finish ends the request that is in flight with its reply, and what else it says. It leaves together with the events
// that waited: one system call for all. To be called once for each request, from anywhere; it does not wait.
func (s *Session) Finish(messages ...protocol.Message) {
	frames := make([][]byte, len(messages))
	for i, m := range messages {
		frames[i] = protocol.Encode(m)
	}
	s.mu.Lock()
	s.flushEvents(s.requests.shows)
	for _, frame := range frames {
		s.put(frame)
	}
	if s.requests.phase == beginning {
		s.requests.phase = finished // who began it goes on
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	s.runRequests(s.nextRequest())
}

// runRequests begins a request and, as long as each is over when its function returns, those that wait behind it.
func (s *Session) runRequests(request func()) {
	for request != nil {
		request()
		if s.goesOn() {
			return // who finishes it begins the next
		}
		request = s.nextRequest()
	}
}

// goesOn tells of a request whose function has returned whether it is still in flight.
func (s *Session) goesOn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests.phase == finished {
		return false
	}
	s.requests.phase = underway
	return true
}

// nextRequest lets the player's events out after a request, writes what came of it, and returns the one whose turn it
// is, if any.
func (s *Session) nextRequest() (next func()) {
	s.mu.Lock()
	s.releasing = true
	s.release()
	s.releasing = false
	write := s.outbox.begin()
	if len(s.requests.waiting) == 0 {
		s.requests = requestQueue{}
	} else {
		next = s.requests.waiting[0]
		s.requests = requestQueue{waiting: s.requests.waiting[1:], phase: beginning}
	}
	s.mu.Unlock()
	if write {
		s.write()
	}
	return next
}

// release lets out what happened while a request was in flight, or before the session arrived. mu is held.
func (s *Session) release() {
	if s.generation == 0 {
		return
	}
	held := s.held
	s.held = nil
	for _, event := range held {
		event.happen()
	}
}

// Answering lets out, before the reply to the request in flight, what waits and was so when that was carried out: what has a
// place up to this one. No older state is shown behind the reply.
func (s *Session) Answering(upTo ident.Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answering(upTo)
}

// answering is Answering with mu held.
func (s *Session) answering(upTo ident.Place) {
	s.requests.shows = max(s.requests.shows, upTo)
	s.flushEvents(upTo)
	s.seen.least = max(s.seen.least, upTo)
}

// flushEvents has those events happen that have a place up to this one. mu is held.
func (s *Session) flushEvents(upTo ident.Place) {
	held, releasing := s.held, s.releasing
	s.held, s.releasing = nil, true // who finishes the request writes
	for _, e := range held {
		if at := e.place(); at > 0 && at <= upTo {
			e.happen()
		} else {
			s.held = append(s.held, e)
		}
	}
	s.releasing = releasing
}

// event is what happened to a session's player. mu is held when it is called.
type event interface {
	// place is that of what the event says; 0 where it has none, and comes behind any reply.
	place() ident.Place
	// happen makes it known to the session and its client.
	happen()
	// project adds to k what happen would have the session know: while it waits for a request the history may be lost, and
	// what is asserted then is to be the newest that the instance was told.
	project(k *snapshot)
}

// eventFunc is an event of which nothing is asserted.
type eventFunc func()

func (eventFunc) place() ident.Place { return 0 }
func (f eventFunc) happen()          { f() }
func (eventFunc) project(*snapshot)  {}

// whenFree has an event happen now, or after the request that is in flight, but not before the session has arrived; mu
// is held when it runs.
func (s *Session) whenFree(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests.phase != none || s.generation == 0 {
		s.held = append(s.held, e)
		return
	}
	e.happen()
}
