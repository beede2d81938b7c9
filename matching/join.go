package matching

import (
	"context"
	"errors"
	"fmt"
	"time"

	"muster/internal/ident"
	"muster/store"
)

// JoinResult is what became of a join.
type JoinResult struct {
	store.Joined
	// Now is Redis' time in Unix milliseconds.
	Now int64
	// MeanWait is how long matches of the world took to form lately.
	MeanWait store.MeanWait
}

// Join puts a player's ticket into a world's queue; the match that it brings about, if any, is formed before
// it returns, and told to all in it by the store.
//
// The errors are those of store.Joined, and store.ErrUnknownWorld, store.ErrWorldClosed, ErrOverloaded and
// ErrStopped, all of which mean that nothing was changed; store.ErrStaleRevision, the same, where worlds change
// faster than they can be read; and store.ErrUnavailable, store.ErrLostHistory or the context's own, after which
// the player's state has to be read.
func (m *Matching) Join(ctx context.Context, world ident.World, join store.Join) (JoinResult, error) {
	l, err := m.loopOf(world)
	if err != nil {
		return JoinResult{}, err
	}
	return l.joined(l.committer.Do(ctx, newRequest(time.Now(), join)))
}

// StartJoin is Join for one who does not wait: done is told, once, within 2.5 s of its arrival. It must not block: who calls it
// serves the world, or is the caller. The end of ctx calls it no sooner; a join whose turn comes after it is not carried
// out.
func (m *Matching) StartJoin(ctx context.Context, arrived time.Time, world ident.World, join store.Join, done func(JoinResult, error)) {
	l, err := m.loopOf(world)
	if err != nil {
		done(JoinResult{}, err)
		return
	}
	l.committer.Send(ctx, arrived, newRequest(arrived, join), func(result JoinResult, err error) { done(l.joined(result, err)) })
}

func (m *Matching) loopOf(world ident.World) (*loop, error) {
	l, ok := m.served.Load().loops[world]
	if !ok {
		return nil, fmt.Errorf("join %s: %w", world, store.ErrUnknownWorld)
	}
	return l, nil
}

func newRequest(arrived time.Time, join store.Join) request {
	if join.Key == "" {
		join.Key = newKey()
	}
	return request{join: join, arrived: arrived}
}

// joined is what is told of a join that was committed with a result, or was not.
func (l *loop) joined(result JoinResult, err error) (JoinResult, error) {
	if errors.Is(err, ErrStopped) && l.removed.Load() {
		err = store.ErrUnknownWorld
	}
	if err == nil {
		err = result.Err
	}
	if err != nil {
		return result, fmt.Errorf("join %s: %w", l.name, err)
	}
	return result, nil
}
