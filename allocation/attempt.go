package allocation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/musterhq/muster/lua"
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
	lua.Allocation
	leaseEnds time.Time
}

// attempt asks for a server and settles what comes of it.
func (w *Worker) attempt(asking, settling context.Context, a attempt) {
	settings, known := w.opts.Settings(a.Match.World)
	attempts := settings.Attempts
	var (
		endpoint json.RawMessage
		err      error
	)
	start := time.Now()
	switch {
	case !known:
		attempts = unknownAttempts
		err = &failure{outcome: NoAllocator, after: unknownPause, err: errors.New("the world has no allocator")}
	case a.Attempt > attempts:
		err = &failure{outcome: Exhausted, err: fmt.Errorf("all %d attempts were begun and none was settled", attempts)}
	default:
		endpoint, err = w.ask(asking, settings, a)
	}
	took := time.Since(start)

	match := a.Match.ID
	if err == nil {
		w.report(a, Allocated, took, nil)
		w.settle(settling, a, func(ctx context.Context) error {
			return w.opts.Store.CompleteAllocation(ctx, match, a.Attempt, endpoint)
		})
		return
	}
	failed := failureOf(asking, err)
	w.report(a, failed.outcome, took, err)
	if final(failed.outcome, a.Attempt, attempts) {
		w.settle(settling, a, func(ctx context.Context) error { return w.opts.Store.FailAllocation(ctx, match, a.Attempt) })
		return
	}
	after := pause(a.Attempt, failed.after)
	if failed.outcome == Stopped {
		after = 0
	}
	settled := w.settle(settling, a, func(ctx context.Context) error {
		return w.opts.Store.RetryAllocation(ctx, match, a.Attempt, after)
	})
	if settled {
		// The next poll could come half a second late. After a stop the poke wakes nobody.
		time.AfterFunc(after, w.Poke)
	}
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

// failureOf is what an error of ask says. One without a failure is a fault of ours.
func failureOf(asking context.Context, err error) *failure {
	var failed *failure
	switch {
	case !errors.As(err, &failed):
		return &failure{outcome: Refused, err: err}
	case failed.outcome == Failed && asking.Err() != nil:
		return &failure{outcome: Stopped, err: err}
	}
	return failed
}

// report tells of an attempt's end.
func (w *Worker) report(a attempt, outcome Outcome, took time.Duration, err error) {
	if outcome == NoAllocator || outcome == Exhausted {
		took = 0
	}
	w.opts.Observer.Attempted(a.Match.World, outcome, took)
	if outcome != Stopped {
		w.failures.note(a.Match.World, a.Match.ID, err)
	}
}
