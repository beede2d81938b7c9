package matching

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/lua"
)

// JoinResult is what became of a join.
type JoinResult struct {
	lua.Joined
	// Now is Redis' time in Unix milliseconds.
	Now int64
	// MeanWait is how long matches of the world took to form lately.
	MeanWait lua.MeanWait
}

// Join puts a player's ticket into a world's queue; the match that it brings about, if any, is formed before
// it returns, and told to all in it by the store.
//
// The errors are those of lua.Joined, and lua.ErrUnknownWorld, lua.ErrWorldClosed, ErrOverloaded and
// ErrStopped, all of which mean that nothing was changed; lua.ErrStaleRevision, the same, where worlds change
// faster than they can be read; and lua.ErrUnavailable, lua.ErrLostHistory or the context's own, after which
// the player's state has to be read.
func (m *Matching) Join(ctx context.Context, world ident.World, join lua.Join) (JoinResult, error) {
	l, ok := m.served.Load().loops[world]
	if !ok {
		return JoinResult{}, fmt.Errorf("join %s: %w", world, lua.ErrUnknownWorld)
	}
	if join.Key == "" {
		join.Key = newKey()
	}
	result, err := l.committer.Do(ctx, request{join: join, arrived: time.Now()})
	if errors.Is(err, ErrStopped) && l.removed.Load() {
		err = lua.ErrUnknownWorld
	}
	if err == nil {
		err = result.Err
	}
	if err != nil {
		return result, fmt.Errorf("join %s: %w", world, err)
	}
	return result, nil
}
