package allocation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"muster/store"
)

// unknownAttempts is how often a match is looked at whose world has no allocator here, and unknownPause the pause
// between. An instance adopts the settings that another one declared within a second; a world that has no allocator
// even then has lost it while the match waited.
const (
	unknownAttempts = 3
	unknownPause    = time.Second
)

// attempt is a claimed match on its way.
type attempt struct {
	store.Allocation
	leaseEnds time.Time
}

// attempt asks for a server and settles what comes of it. Requests end with asking, and telling the store with
// settling.
func (w *Worker) attempt(asking, settling context.Context, a attempt) {
	endpoint, attempts, err := w.allocate(asking, a)
	match := a.Match.ID
	if err == nil {
		w.settle(settling, a, func(ctx context.Context) error {
			return w.opts.Store.CompleteAllocation(ctx, match, a.Attempt, endpoint)
		})
		return
	}
	if final(err.outcome, a.Attempt, attempts) {
		w.settle(settling, a, func(ctx context.Context) error { return w.opts.Store.FailAllocation(ctx, match, a.Attempt) })
		return
	}
	after := pause(a.Attempt, err.after)
	if err.outcome == Stopped {
		after = 0
	}
	settled := w.settle(settling, a, func(ctx context.Context) error {
		return w.opts.Store.RetryAllocation(ctx, match, a.Attempt, after)
	})
	if settled {
		// The next poll could come half a second late. After a stop the wake wakes nobody.
		time.AfterFunc(after, w.Wake)
	}
}

// allocate asks for a server, where that is to be done, and reports how it went. attempts is how many there may be
// in all.
func (w *Worker) allocate(asking context.Context, a attempt) (endpoint json.RawMessage, attempts int, failed *failure) {
	settings, known := w.opts.Settings(a.Match.World)
	attempts = settings.Attempts
	var took time.Duration
	switch {
	case !known:
		attempts = unknownAttempts
		failed = &failure{outcome: NoAllocator, after: unknownPause, err: errors.New("the world has no allocator")}
	case a.Attempt > attempts:
		failed = &failure{outcome: Exhausted, err: fmt.Errorf("all %d attempts were begun and none was settled", attempts)}
	default:
		start := time.Now()
		var err error
		endpoint, err = w.ask(asking, settings, a)
		took = time.Since(start)
		failed = failureOf(asking, err)
	}
	if failed == nil {
		w.opts.Observer.Attempted(a.Match.World, Allocated, took)
		w.failures.note(a.Match.World, a.Match.ID, nil)
		return endpoint, attempts, nil
	}
	w.opts.Observer.Attempted(a.Match.World, failed.outcome, took)
	if failed.outcome != Stopped { // says nothing of the allocator
		w.failures.note(a.Match.World, a.Match.ID, failed)
	}
	return nil, attempts, failed
}

// final tells whether an attempt that failed was the last. One that a stop cut off says nothing of the allocator,
// so it never is.
func final(outcome Outcome, attempt, attempts int) bool {
	switch outcome {
	case Refused, Exhausted:
		return true
	case Stopped:
		return false
	}
	return attempt >= attempts
}

// ask asks the allocator of a match's world. Its error is a *failure.
func (w *Worker) ask(asking context.Context, s Settings, a attempt) (json.RawMessage, error) {
	// The lease may be shorter than the time-out where the settings have just changed; it counts, so that nobody
	// asks while another does.
	deadline := a.leaseEnds.Add(-settleWithin)
	if d := time.Now().Add(s.Timeout); d.Before(deadline) {
		deadline = d
	}
	ctx, cancel := context.WithDeadline(asking, deadline)
	defer cancel()
	told := briefOf(w.opts.Realm, a.Allocation)
	build, endpoint := webhookCall, webhookEndpoint
	if s.Agones != nil {
		build, endpoint = agonesCall, agonesEndpoint
	}
	c, err := build(s, told, time.Now())
	if err != nil {
		return nil, fmt.Errorf("build request: %w", err)
	}
	c.header.Set(headerUserAgent, "muster/"+w.opts.Version)
	body, err := post(ctx, w.client, c)
	if err != nil {
		return nil, err
	}
	return endpoint(body, a.Match.ID)
}

// failureOf is what an error of ask says; nil for none. One without a failure is a fault of ours.
func failureOf(asking context.Context, err error) *failure {
	var failed *failure
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &failed):
		return &failure{outcome: Refused, err: err}
	case failed.outcome == Failed && asking.Err() != nil:
		return &failure{outcome: Stopped, err: err}
	}
	return failed
}
