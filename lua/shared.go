package lua

import (
	"context"
	"slices"
	"sync"
)

// shared sends single calls of many players as one pipeline: all that come while one is on its way share the next.
// A lone call goes out at once. There is no goroutine behind it: who finds nothing on its way sends for those who
// wait, and then hands that on.
type shared struct {
	mu sync.Mutex
	// guarded by mu
	waiting []*sharedCall
	sending bool
}

// sharedMax is the most calls of one pipeline.
const sharedMax = 50

type sharedCall struct {
	call     call
	answered chan sharedAnswer // has room for the one answer
}

// sharedAnswer is a reply, or the turn to send.
type sharedAnswer struct {
	reply reply
	err   error
	turn  bool
}

// runShared is run for a call of which there may be many at a time. A call whose ctx ends while it waits has no
// effect; while it is on its way that is unknown.
func (s *Store) runShared(ctx context.Context, name string, args ...any) (reply, error) {
	c := &sharedCall{call: call{script: name, args: args}, answered: make(chan sharedAnswer, 1)}
	if s.shared.enter(c) {
		return s.sendShared(ctx, c)
	}
	select {
	case a := <-c.answered:
		if a.turn {
			return s.sendShared(ctx, c)
		}
		return checked(a.reply, a.err)
	case <-ctx.Done():
		if !s.shared.withdraw(c) {
			if a := <-c.answered; !a.turn { // which follows soon: a call is bounded
				return checked(a.reply, a.err)
			}
			s.shared.handOn()
		}
		return nil, s.unavailable(name, ctx.Err())
	}
}

func checked(r reply, err error) (reply, error) {
	if err != nil {
		return nil, err
	}
	return r, r.err()
}

// enter reports whether the caller has to send; otherwise the call waits.
func (q *shared) enter(c *sharedCall) (send bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.sending {
		q.sending = true
		return true
	}
	q.waiting = append(q.waiting, c)
	return false
}

// withdraw takes out a call that waits; false means that it does not.
func (q *shared) withdraw(c *sharedCall) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.Index(q.waiting, c)
	if at < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, at, at+1)
	return true
}

// take takes out those who wait, as many as go into a pipeline with the caller's own.
func (q *shared) take() []*sharedCall {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), sharedMax-1)
	taken := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return taken
}

// handOn gives the turn to send to the next who waits, if anybody does.
func (q *shared) handOn() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.sending = false
		return
	}
	next := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	next.answered <- sharedAnswer{turn: true}
}

// sendShared sends the caller's call and those that wait. Theirs do not end with the caller's ctx.
func (s *Store) sendShared(ctx context.Context, own *sharedCall) (reply, error) {
	defer s.shared.handOn()
	taken := append([]*sharedCall{own}, s.shared.take()...)
	calls := make([]call, len(taken))
	for i, c := range taken {
		calls[i] = c.call
	}
	if len(taken) > 1 {
		ctx = context.WithoutCancel(ctx)
	}
	replies, err := s.runAll(ctx, calls...)
	var first reply
	for i, c := range taken {
		var r reply
		if err == nil {
			r = replies[i]
		}
		if i == 0 {
			first = r
		} else {
			c.answered <- sharedAnswer{reply: r, err: err}
		}
	}
	return checked(first, err)
}
