package lua

import (
	"context"
	"slices"
	"sync"

	"github.com/musterhq/muster/internal/ident"
)

// shared sends what many players ask of their matches together: all that come while one pipeline is on its way share
// the next, with one call for each script. A lone one goes out at once. There is no goroutine behind it: who finds
// nothing on its way sends for those who wait, and then hands that on.
type shared struct {
	mu sync.Mutex
	// guarded by mu
	waiting []*sharedCall
	sending bool
}

// sharedMax is the most players of one pipeline.
const sharedMax = 50

// sharedCall is one player's part of a call.
type sharedCall struct {
	script   string
	who      Session
	match    ident.Match
	answered chan sharedAnswer // has room for the one answer
}

// sharedAnswer is the player's record, or the turn to send.
type sharedAnswer struct {
	record string
	err    error
	turn   bool
}

// runShared asks something of a player's match, by a script that takes many players, and returns its record. One whose
// ctx ends while it waits has no effect; while it is on its way that is unknown.
func (s *Store) runShared(ctx context.Context, script string, who Session, match ident.Match) (string, error) {
	c := &sharedCall{script: script, who: who, match: match, answered: make(chan sharedAnswer, 1)}
	if s.shared.enter(c) {
		return s.sendShared(ctx, c)
	}
	select {
	case a := <-c.answered:
		if a.turn {
			return s.sendShared(ctx, c)
		}
		return a.record, a.err
	case <-ctx.Done():
		if !s.shared.withdraw(c) {
			if a := <-c.answered; !a.turn { // which follows soon: a call is bounded
				return a.record, a.err
			}
			s.shared.handOn()
		}
		return "", s.unavailable(script, ctx.Err())
	}
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

// sendShared sends the caller's part and those that wait. Theirs do not end with the caller's ctx.
func (s *Store) sendShared(ctx context.Context, own *sharedCall) (string, error) {
	defer s.shared.handOn()
	rest := append([]*sharedCall{own}, s.shared.take()...)
	if len(rest) > 1 {
		ctx = context.WithoutCancel(ctx)
	}
	// A script that has looked at enough players leaves the rest undone, but never all.
	for len(rest) > 0 {
		var err error
		if rest, err = s.askTogether(ctx, rest); err != nil {
			for _, c := range rest {
				c.answered <- sharedAnswer{err: err}
			}
			break
		}
	}
	a := <-own.answered
	return a.record, a.err
}

// askTogether sends one call a script, answers who can be answered, and returns the others.
func (s *Store) askTogether(ctx context.Context, all []*sharedCall) (undone []*sharedCall, err error) {
	var calls []call
	var parts [][]*sharedCall
	for _, c := range all {
		at := slices.IndexFunc(calls, func(other call) bool { return other.script == c.script })
		if at < 0 {
			at = len(calls)
			calls, parts = append(calls, call{script: c.script, args: []any{0}}), append(parts, nil)
		}
		parts[at] = append(parts[at], c)
		calls[at].args[0] = len(parts[at])
		calls[at].args = append(calls[at].args, string(c.who.Player), optional(c.who.Generation), string(c.match))
	}
	replies, err := s.runAll(ctx, calls...)
	if err != nil {
		return all, err
	}
	for i, r := range replies {
		s.back(r.text(statusFieldsBefore))
		for j, c := range parts[i] {
			err := r.err()
			if err != nil {
				c.answered <- sharedAnswer{err: err}
				continue
			}
			switch l := r.list(statusFieldsBefore + 1 + j); l.status() {
			case statusNothingToDo:
				undone = append(undone, c)
			default:
				c.answered <- sharedAnswer{record: l.text(1), err: l.err()}
			}
		}
	}
	return undone, nil
}
