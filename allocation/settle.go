package allocation

import (
	"context"
	"errors"
	"time"

	"muster/store"
)

// settlePause is the pause before the store is told once more, while it is away.
const settlePause = 250 * time.Millisecond

// settle tells the store how an attempt ended, until it has taken it, or the lease ends and the match is somebody
// else's. Telling it twice, because a reply was lost, is no harm: the store knows the attempt. It reports whether the
// store said that it took it.
func (w *Worker) settle(settling context.Context, a attempt, tell func(context.Context) error) bool {
	ctx, cancel := context.WithDeadline(settling, a.leaseEnds)
	defer cancel()
	for {
		err := tell(ctx)
		switch {
		case err == nil:
			return true
		case errors.Is(err, store.ErrNoSuchMatch):
			// It ended meanwhile, or this instance was held up for longer than the lease.
			w.opts.Logger.Debug().Str("match_id", string(a.Match.ID)).Msg("allocation settled elsewhere")
			return false
		case !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrLostHistory):
			w.opts.Logger.Error().Err(err).Str("match_id", string(a.Match.ID)).Msg("allocation not settled")
			w.opts.Observer.Abandoned(a.Match.World)
			return false
		}
		if !wait(ctx, settlePause) {
			w.opts.Logger.Debug().Err(err).Str("match_id", string(a.Match.ID)).Msg("allocation not settled in its lease")
			w.opts.Observer.Abandoned(a.Match.World)
			return false
		}
	}
}

// wait waits for d; false means that ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
