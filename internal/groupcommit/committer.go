// Package groupcommit commits requests in groups: everything that arrives while the last commit is in
// flight goes into the next one. A lone request is committed at once; under load a commit carries as many as
// have gathered, so that a round trip is shared instead of queued for. It knows nothing of what is committed.
//
// A committer has one goroutine and none per request. All its methods are safe for concurrent use.
package groupcommit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

var (
	// ErrOverloaded: too many requests wait, or this one waited too long. It was not committed.
	ErrOverloaded = errors.New("too many requests wait")
	// ErrStopped: the committer was stopped before the request was committed.
	ErrStopped = errors.New("committer stopped")
)

const (
	// DefaultMax is where more requests a commit gain little, and hold others up.
	DefaultMax = 100
	// DefaultPendingMax is a hundred commits of a hundred requests: more than can be served before they are
	// too old.
	DefaultPendingMax = 10_000
	// DefaultTooOld leaves a commit one second, where a client gives up after three.
	DefaultTooOld = 2 * time.Second
)

// Options bound a committer.
type Options struct {
	// Max is the most requests of one commit; 0 is DefaultMax.
	Max int
	// PendingMax is the most requests that wait; 0 is DefaultPendingMax.
	PendingMax int
	// TooOld is how long a request may wait for its commit to begin; 0 is DefaultTooOld.
	TooOld time.Duration
}

// Commit carries out a batch and returns one result for each of its requests, in their order, or an error
// that all of them get. batch is valid until it returns, and nil where nothing but a Poke or again called for
// it. With again it is called again at once, with what has arrived meanwhile, if anything.
//
// Its ctx is not cancelled by Stop, which waits for it: a commit that was cut off leaves its requests in
// doubt. So it has to end by itself.
type Commit[Q, R any] func(ctx context.Context, batch []Q) (results []R, again bool, err error)

// Committer commits requests of type Q, which have results of type R. New makes one.
type Committer[Q, R any] struct {
	opts   Options
	commit Commit[Q, R]
	// wake holds a token while there is something new to look at.
	wake chan struct{}
	// idle are requests to be used again.
	idle sync.Pool

	mu      sync.Mutex
	pending []*request[Q, R] // in the order of arrival
	poked   bool
	stopped bool
	cancel  context.CancelFunc // nil before Start
	done    chan struct{}      // closed when the goroutine has ended; nil before Start

	// The goroutine's own, kept to be used again.
	taken []*request[Q, R]
	batch []Q
}

// request is one Do.
type request[Q, R any] struct {
	q       Q
	arrived time.Time
	// abandoned says that nobody waits for the answer any more; guarded by the committer's mu.
	abandoned bool
	// answered has room for the one answer, so that giving it never blocks.
	answered chan answer[R]
}

type answer[R any] struct {
	result R
	err    error
}

// New makes a committer. Requests wait until it is started.
func New[Q, R any](opts Options, commit Commit[Q, R]) *Committer[Q, R] {
	if opts.Max == 0 {
		opts.Max = DefaultMax
	}
	if opts.PendingMax == 0 {
		opts.PendingMax = DefaultPendingMax
	}
	if opts.TooOld == 0 {
		opts.TooOld = DefaultTooOld
	}
	return &Committer[Q, R]{
		opts: opts, commit: commit, wake: make(chan struct{}, 1),
		idle: sync.Pool{New: func() any { return &request[Q, R]{answered: make(chan answer[R], 1)} }},
	}
}

// Start starts committing. It goes on until Stop, or until ctx ends, which is a Stop that does not wait.
func (c *Committer[Q, R]) Start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stopped:
		return ErrStopped
	case c.done != nil:
		return errors.New("committer started twice")
	}
	ctx, c.cancel = context.WithCancel(ctx) //nolint:gosec // G118: close calls it
	c.done = make(chan struct{})
	go c.run(ctx, c.done)
	return nil
}

// Stop answers what waits with ErrStopped and waits for the commit in flight, whose requests get their
// results. It may be called more than once, and before Start; a stopped committer does not start again.
func (c *Committer[Q, R]) Stop() {
	if done := c.close(); done != nil {
		<-done
	}
}

// Do has q committed and returns its result. Besides the commit's own errors it returns ErrOverloaded and
// ErrStopped, with which q had no effect, and ctx.Err() where ctx ends first: then q may still take effect, if
// its commit had begun.
func (c *Committer[Q, R]) Do(ctx context.Context, q Q) (R, error) {
	r := c.idle.Get().(*request[Q, R]) // the pool holds nothing else
	r.q, r.arrived = q, time.Now()
	if err := c.enqueue(r); err != nil {
		c.recycle(r)
		var none R
		return none, err
	}
	select {
	case a := <-r.answered:
		c.recycle(r)
		return a.result, a.err
	case <-ctx.Done():
		return c.abandon(ctx, r)
	}
}

// Poke has the commit called soon, with a nil batch if nothing waits. Pokes that come together are one.
func (c *Committer[Q, R]) Poke() {
	c.mu.Lock()
	c.poked = true
	c.mu.Unlock()
	c.signal()
}

func (c *Committer[Q, R]) enqueue(r *request[Q, R]) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return ErrStopped
	}
	if len(c.pending) >= c.opts.PendingMax {
		return ErrOverloaded
	}
	c.pending = append(c.pending, r)
	c.signal()
	return nil
}

// abandon gives a request up, unless its answer came in the same moment. The request is not used again:
// the commit may hold it.
func (c *Committer[Q, R]) abandon(ctx context.Context, r *request[Q, R]) (R, error) {
	c.mu.Lock()
	r.abandoned = true
	c.mu.Unlock()
	select {
	case a := <-r.answered:
		return a.result, a.err
	default:
		var none R
		return none, ctx.Err()
	}
}

func (c *Committer[Q, R]) recycle(r *request[Q, R]) {
	var none Q
	r.q = none
	c.idle.Put(r)
}

func (c *Committer[Q, R]) signal() {
	select {
	case c.wake <- struct{}{}:
	default: // there is a token already
	}
}

func (c *Committer[Q, R]) run(ctx context.Context, done chan struct{}) {
	defer close(done)
	defer c.close() // where ctx ended without a Stop
	lasting := context.WithoutCancel(ctx)
	again := false
	for ctx.Err() == nil {
		poked := c.take()
		if len(c.taken) > 0 || poked || again {
			again = c.commitTaken(lasting)
			continue
		}
		select {
		case <-ctx.Done():
		case <-c.wake:
		}
	}
}

// take moves the oldest requests, as many as a commit may have, to taken, and reports whether there was a poke.
func (c *Committer[Q, R]) take() (poked bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	poked, c.poked = c.poked, false
	if len(c.pending) == 0 {
		return poked
	}
	now, looked := time.Now(), 0
	for looked < len(c.pending) && len(c.taken) < c.opts.Max {
		r := c.pending[looked]
		looked++
		switch {
		case r.abandoned:
		case now.Sub(r.arrived) > c.opts.TooOld:
			r.answered <- answer[R]{err: ErrOverloaded}
		default:
			c.taken = append(c.taken, r)
			c.batch = append(c.batch, r.q)
		}
	}
	c.pending = slices.Delete(c.pending, 0, looked)
	return poked
}

// commitTaken commits what take took, answers it, and reports whether the commit wants to be called again.
func (c *Committer[Q, R]) commitTaken(ctx context.Context) (again bool) {
	var batch []Q
	if len(c.batch) > 0 {
		batch = c.batch
	}
	results, again, err := c.commit(ctx, batch)
	if err == nil && len(results) != len(batch) {
		err = fmt.Errorf("commit gave %d results for %d requests", len(results), len(batch))
	}
	for i, r := range c.taken {
		a := answer[R]{err: err}
		if err == nil {
			a.result = results[i]
		}
		r.answered <- a
	}
	clear(c.taken)
	clear(c.batch)
	c.taken, c.batch = c.taken[:0], c.batch[:0]
	return again
}

// close takes no more requests, answers those that wait, and returns what is closed at the end of the
// goroutine, if there is one.
func (c *Committer[Q, R]) close() (done chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	if c.cancel != nil {
		c.cancel()
	}
	for _, r := range c.pending {
		r.answered <- answer[R]{err: ErrStopped}
	}
	c.pending = nil
	return c.done
}
