package matching

import (
	"context"
	"errors"
	"fmt"
	"time"

	"muster/store"
)

// retryPause is how long after a lost reply a call is sent again: a connection that was reset has a successor
// by then.
const retryPause = 50 * time.Millisecond

// call is what a loop sends, and sends again after a lost reply: the same joins and the same ids, by which
// the scripts know what they did the first time.
type call struct {
	joins      []store.Join
	after      store.Cursor
	candidates []store.Candidate
	// unsure says that it was sent before, and nobody knows what came of that.
	unsure bool
}

// call joins and matches, and remembers where matching goes on.
func (l *loop) call(ctx context.Context, joins []store.Join) ([]JoinResult, error) {
	if poked := l.poked.Swap(false); poked && l.after != "" {
		l.restart = true // joins come behind all whom the walk has passed
	}
	c := &call{joins: joins, after: l.after}
	joined, formed, err := l.send(ctx, c)
	if err != nil {
		return nil, err
	}
	l.remember(c, formed)
	results := make([]JoinResult, len(joins))
	for i := range results {
		results[i] = JoinResult{Joined: l.settle(c, i, joined.Joined[i]), Now: joined.Now, MeanWait: joined.MeanWait}
	}
	return results, nil
}

// send sends a call: once more after a lost reply, and once more with the worlds as they are now.
func (l *loop) send(ctx context.Context, c *call) (store.JoinResult, store.Formed, error) {
	c.candidates = l.candidates(len(c.joins))
	reloaded := false
	for {
		joined, formed, err := l.opts.Store.JoinAndMatch(ctx, l.world.Load().WorldRules, l.opts.WorldsPerPlayer(),
			c.joins, c.after, c.candidates)
		switch {
		case errors.Is(err, store.ErrUnavailable) && !c.unsure && pause(ctx, retryPause):
			c.unsure = true
			if errors.Is(err, store.ErrOutlived) {
				c.candidates = l.candidates(len(c.joins)) // others may know matches by these
			}
		case errors.Is(err, store.ErrStaleRevision) && !reloaded:
			reloaded = true
			if err := l.opts.Reload(ctx); err != nil {
				return joined, formed, fmt.Errorf("reload worlds: %w", err)
			}
			if l.removed.Load() {
				return joined, formed, store.ErrUnknownWorld
			}
			c.candidates = l.candidates(len(c.joins)) // the rooms may be others
		default:
			return joined, formed, err
		}
	}
}

// candidates makes ids for as many matches as a call is likely to form: more joins or more calls find what is
// left.
func (l *loop) candidates(joins int) []store.Candidate {
	w := l.world.Load()
	count := candidatesMax
	if !l.more {
		count = min(joins/max(w.Size, 1)+1, candidatesMax)
	}
	return newCandidates(count, w.Rooms)
}

// remember notes where the next call looks, and whether there is to be one at once.
func (l *loop) remember(c *call, formed store.Formed) {
	switch {
	case !formed.More:
		// The end of a walk, behind whose back something changed, is the beginning of another.
		l.more, l.after, l.restart = l.restart, "", false
	case c.unsure:
		l.more, l.after = true, c.after // its ids may have been used up by the first try
	default:
		l.more, l.after = true, formed.After
	}
	if formed.Matches > 0 || formed.Parked > 0 {
		l.opts.Observer.Formed(l.name, formed)
	}
	if formed.OpensIn > 0 {
		if l.opening != nil {
			l.opening.Stop()
		}
		l.opening = time.AfterFunc(formed.OpensIn, l.wake)
	}
}

// settle is what is said of a join. A repeated one is new if only we repeated it. After a lost reply nobody
// knows whether what keeps a player from joining now is what the first try did, unless its time has passed.
func (l *loop) settle(c *call, i int, joined store.Joined) store.Joined {
	if isServerKey(c.joins[i].Key) {
		joined.Repeated = false
	}
	if !c.unsure {
		return joined
	}
	var in *store.InMatchError
	var queued *store.AlreadyQueuedError
	if errors.As(joined.Err, &in) && !in.Overdue || errors.As(joined.Err, &queued) {
		return store.Joined{Err: fmt.Errorf("joined again after a lost reply: %w", store.ErrUnavailable)}
	}
	return joined
}

// pause waits for d, unless ctx would end before; it reports whether it did.
func pause(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
