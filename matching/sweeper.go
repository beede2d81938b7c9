package matching

import (
	"context"
	"time"

	"muster/internal/faultlog"
	"muster/internal/ident"
	"muster/store"
)

// DefaultSweepInterval is how often what time changes is looked at; a deadline is kept to that.
const DefaultSweepInterval = 500 * time.Millisecond

// sweeper does what time changes, at intervals, unless another instance was faster.
type sweeper struct {
	store    Store
	interval time.Duration
	rules    func() []store.WorldRules
	wake     func(...ident.World)
	swept    func(store.Swept)
	faults   *faultlog.Log
}

func (s *sweeper) run(ctx context.Context) {
	ticker := time.NewTicker(s.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.sweep(ctx)
		}
	}
}

// sweep goes on until there is no more to do. A sweep that is cut off is no harm: the next goes on.
func (s *sweeper) sweep(ctx context.Context) {
	// The ticker's jitter must not make every other sweep come too early.
	interval := s.interval * 9 / 10
	for more := true; more && ctx.Err() == nil; {
		swept, err := s.store.Sweep(ctx, interval, s.rules())
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if !isOutage(err) { // which presence logs, for the whole instance
				s.faults.Failed(err)
			}
			return
		}
		s.faults.Worked()
		if swept.Done {
			s.swept(swept)
		}
		s.wake(swept.Due...)
		more = swept.More
	}
}
