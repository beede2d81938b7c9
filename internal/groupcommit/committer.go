// Package groupcommit commits requests in groups: everything that arrives while the last commit is in
// flight goes into the next one. A lone request is committed at once; under load a commit carries as many as
// have gathered, so that a round trip is shared instead of queued for. And behind a commit of several, or during which
// another request came, there is a rest, unless a full one waits: requests that come close together share commits. It
// knows nothing of what is committed.
//
// A committer has one goroutine and needs none per request: who does not want to wait is called back. All its methods
// are safe for concurrent use.
package groupcommit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	// apart is how long after the begin of a commit a rest behind it ends at the soonest. It is little to a request that waits,
	// and several times what a commit takes unless cores are short. Behind a commit that took long a rest is as long as that,
	// restMax at most.
	apart   = 3500 * time.Microsecond
	restMax = 2 * time.Millisecond
)

// Options bound a committer.
type Options struct {
	// Max is the most requests of one commit; 0 is DefaultMax.
	Max int
	// PendingMax is the most requests that wait; 0 is DefaultPendingMax.
	PendingMax int
	// TooOld is how long after its arrival a request's commit may begin; 0 is DefaultTooOld.
	TooOld time.Duration
}

// Commit carries out a batch and returns one result for each of its requests, in their order, or an error
// that all of them get. batch is valid until it returns, and nil where nothing but a Wake or again called for
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

	mu      sync.Mutex
	pending []request[Q, R] // in the order of arrival
	poked   bool
	busy    bool // a commit is in flight
	resting bool // until the next, unless that is full
	stopped bool
	cancel  context.CancelFunc // nil before Start
	done    chan struct{}      // closed when the goroutine has ended; nil before Start

	// The goroutine's own, kept to be used again.
	taken []request[Q, R]
	batch []Q
}

// request is one Send.
type request[Q, R any] struct {
	ctx     context.Context //nolint:containedctx // says whether it is still wanted when its turn comes
	q       Q
	arrived time.Time
	done    func(R, error)
}

// refuse tells that a request was not committed.
func (r request[Q, R]) refuse(err error) {
	var none R
	r.done(none, err)
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
	return &Committer[Q, R]{opts: opts, commit: commit, wake: make(chan struct{}, 1)}
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

// Send has q, which arrived at a time, committed, and done called with its result, once: by the committer right after the commit, so that it
// must not block, or before Send returns, where q is refused. Besides the commit's own errors it is told ErrOverloaded
// and ErrStopped, with which q had no effect, and ctx.Err() where ctx has ended before its commit begins: then it
// has none either. The end of ctx calls done no sooner; what bounds the wait is Options.TooOld and the commits.
func (c *Committer[Q, R]) Send(ctx context.Context, arrived time.Time, q Q, done func(R, error)) {
	r := request[Q, R]{ctx: ctx, q: q, arrived: arrived, done: done}
	if err := c.enqueue(r); err != nil {
		r.refuse(err)
	}
}

// Do is Send for one who waits, until ctx ends at the latest: then q may still take effect, if its commit had begun.
func (c *Committer[Q, R]) Do(ctx context.Context, q Q) (R, error) {
	type answer struct {
		result R
		err    error
	}
	answered := make(chan answer, 1) // has room for the one answer, so that giving it never blocks
	c.Send(ctx, time.Now(), q, func(result R, err error) { answered <- answer{result, err} })
	select {
	case a := <-answered:
		return a.result, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-answered: // it came in the same moment
		return a.result, a.err
	default:
		var none R
		return none, ctx.Err()
	}
}

// Wake has the commit called soon, with a nil batch if nothing waits. Pokes that come together are one.
func (c *Committer[Q, R]) Wake() {
	c.mu.Lock()
	c.poked = true
	c.mu.Unlock()
	c.signal()
}

// Waiting is how many requests wait for a commit, and whether one is in flight.
func (c *Committer[Q, R]) Waiting() (n int, busy bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending), c.busy
}

func (c *Committer[Q, R]) enqueue(r request[Q, R]) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return ErrStopped
	}
	if len(c.pending) >= c.opts.PendingMax {
		return ErrOverloaded
	}
	c.pending = append(c.pending, r)
	if !c.resting || len(c.pending) >= c.opts.Max {
		c.signal()
	}
	return nil
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
		if n := len(c.taken); n > 0 || poked || again {
			began := time.Now()
			again = c.commitTaken(lasting)
			if waiting, _ := c.Waiting(); n+waiting > 1 && !again {
				c.rest(ctx, time.Since(began))
			}
			continue
		}
		select {
		case <-ctx.Done():
		case <-c.wake:
		}
	}
}

// take moves the oldest requests, as many as a commit may have, to taken, and reports whether there was a wake.
func (c *Committer[Q, R]) take() (poked bool) {
	var late []request[Q, R]
	defer func() { // behind mu, as who is told may call us
		for _, r := range late {
			r.refuse(cmp.Or(r.ctx.Err(), ErrOverloaded))
		}
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	poked, c.poked, c.busy = c.poked, false, false
	if len(c.pending) == 0 {
		return poked
	}
	now, looked := time.Now(), 0
	for looked < len(c.pending) && len(c.taken) < c.opts.Max {
		r := c.pending[looked]
		looked++
		if r.ctx.Err() != nil || now.Sub(r.arrived) > c.opts.TooOld {
			late = append(late, r)
			continue
		}
		c.taken = append(c.taken, r)
		c.batch = append(c.batch, r.q)
	}
	clear(c.pending[:looked])
	c.pending = c.pending[looked:] // those behind stay where they are, however many
	c.busy = len(c.taken) > 0
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
		if err != nil {
			r.refuse(err)
		} else {
			r.done(results[i], nil)
		}
	}
	clear(c.taken)
	clear(c.batch)
	c.taken, c.batch = c.taken[:0], c.batch[:0]
	return again
}

// rest lets requests gather behind a commit that took so long.
func (c *Committer[Q, R]) rest(ctx context.Context, took time.Duration) {
	timer := time.NewTimer(max(apart-took, min(took, restMax)))
	defer timer.Stop()
	for resting := c.mayRest(); resting; {
		select {
		case <-ctx.Done():
			resting = false
		case <-timer.C:
			resting = false
		case <-c.wake: // a wake, which can wait, or a full commit
			resting = c.mayRest()
		}
	}
	c.mu.Lock()
	c.resting = false
	c.mu.Unlock()
}

// mayRest is false where a full commit waits.
func (c *Committer[Q, R]) mayRest() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resting = len(c.pending) < c.opts.Max
	return c.resting
}

// close takes no more requests, answers those that wait, and returns what is closed at the end of the
// goroutine, if there is one.
func (c *Committer[Q, R]) close() (done chan struct{}) {
	c.mu.Lock()
	c.stopped = true
	if c.cancel != nil {
		c.cancel()
	}
	pending := c.pending
	c.pending, done = nil, c.done
	c.mu.Unlock() // who is told may call us
	for _, r := range pending {
		r.refuse(ErrStopped)
	}
	return done
}
