package matching

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/faultlog"
	"muster/internal/groupcommit"
	"muster/internal/ident"
	"muster/store"
)

const (
	// joinsMax is the most joins of one call: it bounds how long a script holds Redis.
	joinsMax = 50
	// answerWithin is how long after the first join's arrival a call may end. A client is promised an answer
	// within 3 s.
	answerWithin = 2500 * time.Millisecond
)

// loop serves one world.
type loop struct {
	name      ident.World
	opts      *Options
	world     atomic.Pointer[World]
	committer *groupcommit.Committer[request, JoinResult]
	// removed says that the world is not served any more.
	removed atomic.Bool
	// poked says that something may have changed anywhere in the queue since the last call.
	poked atomic.Bool

	// What follows is the committer's goroutine's own.

	// more says that the last call left something to do.
	more bool
	// after is where the next call goes on in a queue that is longer than one call looks.
	after store.Cursor
	// restart says that something changed in the part of the queue that was walked already: it has to be walked again.
	restart bool
	opening *time.Timer // pokes when matching opens in a new epoch; nil before it was needed
	faults  *faultlog.Log
}

// request is a join that waits for its call.
type request struct {
	join    store.Join
	arrived time.Time
}

func newLoop(opts *Options, w World) *loop {
	l := &loop{name: w.Name, opts: opts, faults: faultlog.New(opts.Logger.With().Str("world", string(w.Name)).Logger(), faultlog.Messages{
		Level: zerolog.WarnLevel, Fails: "matching failed; retrying", Works: "matching works again",
	})}
	l.world.Store(&w)
	l.committer = groupcommit.New(groupcommit.Options{Max: joinsMax}, l.commit)
	return l
}

func (l *loop) wake() {
	l.poked.Store(true)
	l.committer.Wake()
}

// stop waits for the call in flight.
func (l *loop) stop() {
	l.committer.Stop()
	if l.opening != nil {
		l.opening.Stop()
	}
}

// commit has a batch of joins queued, and matches formed; see groupcommit.Commit.
func (l *loop) commit(ctx context.Context, batch []request) (results []JoinResult, again bool, err error) {
	joins := make([]store.Join, len(batch))
	for i, r := range batch {
		joins[i] = r.join
	}
	if len(batch) > 0 { // no client waits for a call without joins: the store bounds it
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, batch[0].arrived.Add(answerWithin))
		defer cancel()
	}
	if results, err = l.call(ctx, joins); err != nil {
		l.more, l.after, l.restart = false, "", false // the tick goes on, when the store is back
		if len(batch) == 0 {
			l.note(err)
		}
		return nil, false, err
	}
	l.faults.Worked()
	l.joinAfterOverdue(ctx, joins, results)
	for _, r := range results {
		if r.Err == nil && !r.Repeated {
			l.opts.Observer.Joined(l.name)
		}
	}
	return results, l.more, nil
}

// note logs an error that is no reply to a join. An outage of Redis is logged by presence, for the whole instance, and a
// world that is closed elsewhere is no fault.
func (l *loop) note(err error) {
	if !isOutage(err) && !errors.Is(err, store.ErrWorldClosed) && !errors.Is(err, store.ErrUnknownWorld) {
		l.faults.Failed(err)
	}
}

// isOutage reports whether a call failed because Redis is away or lost its history.
func isOutage(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrLostHistory)
}

// joinAfterOverdue ends the matches that kept players from joining though their time has passed, and has
// those players join once more. What cannot be done leaves them in their match.
func (l *loop) joinAfterOverdue(ctx context.Context, joins []store.Join, results []JoinResult) {
	ended := map[ident.Match]bool{}
	var again []store.Join
	var at []int // of again, in joins and results
	for i, r := range results {
		var in *store.InMatchError
		if !errors.As(r.Err, &in) || !in.Overdue {
			continue
		}
		if !ended[in.Match] {
			err := l.opts.Store.EndMatch(ctx, in.Match, store.Expired)
			ended[in.Match] = err == nil || errors.Is(err, store.ErrNoSuchMatch) // somebody was faster
		}
		if ended[in.Match] {
			again, at = append(again, joins[i]), append(at, i)
		}
	}
	if len(again) == 0 {
		return
	}
	rejoined, err := l.call(ctx, again)
	for i, result := range rejoined {
		results[at[i]] = result
	}
	if err != nil {
		for _, i := range at {
			results[i] = JoinResult{Joined: store.Joined{Err: err}}
		}
	}
}
