package presence

import (
	"context"
	"errors"
	"fmt"
	"time"

	"muster/internal/ident"
	"muster/store"
)

// recoverAttempts is how often history may be lost again while it is being recovered.
const recoverAttempts = 5

// assertions is how far the assertion of this instance's sessions in an epoch is. An attempt that fails, as Redis is out of
// reach for a moment, leaves the rest to the next one. Used by one recovery at a time.
type assertions struct {
	epoch ident.Place
	done  map[store.Session]struct{}
	// adopted are the sessions of which Redis has newer knowledge.
	adopted []store.Session
}

// in returns the assertions of an epoch: those of an older one count no more.
func (a *assertions) in(epoch ident.Place) *assertions {
	if a.epoch != epoch {
		*a = assertions{epoch: epoch, done: map[store.Session]struct{}{}}
	}
	return a
}

// left returns which of the sessions are still to be asserted.
func (a *assertions) left(all []store.Assertion) []store.Assertion {
	var left []store.Assertion
	for _, next := range all {
		if _, done := a.done[next.Session]; !done {
			left = append(left, next)
		}
	}
	return left
}

// Recover is what a Store does when a call meets another history than its own (store.Store.OnLostHistory):
// it learns or opens the new epoch, declares the worlds, and asserts what the sessions last saw. Many
// callers share one recovery. Each of its calls has a time-out, but it has none as a whole: it may take long where
// Redis is far away and the sessions are many, and one that fails continues in the next.
func (k *Keeper) Recover(ctx context.Context) error {
	done := k.flight.DoChan("recover", func() (any, error) {
		return nil, k.recover(context.WithoutCancel(ctx))
	})
	select {
	case <-ctx.Done():
		return fmt.Errorf("recover history: %w: %w", store.ErrUnavailable, ctx.Err())
	case result := <-done:
		return result.Err
	}
}

func (k *Keeper) recover(ctx context.Context) error {
	var err error
	for range recoverAttempts {
		var epoch store.Epoch
		if epoch, err = k.opts.Store.OpenEpoch(ctx, k.Floor()); err != nil {
			return fmt.Errorf("open epoch: %w", err)
		}
		if epoch.Number == k.opts.Store.Epoch() {
			return nil // somebody recovered it while this call was on its way
		}
		if err = k.enter(ctx, epoch); err == nil {
			k.opensAt.Store(int64(time.Since(started) + epoch.OpensIn))
			if epoch.Emptied && k.opts.Emptied != nil {
				k.opts.Emptied()
			}
			return nil
		}
		if !errors.Is(err, store.ErrLostHistory) {
			return fmt.Errorf("enter epoch %s: %w", epoch.Number, err)
		}
	}
	return fmt.Errorf("%w: history is lost again and again: %w", store.ErrUnavailable, err)
}

// enter brings this instance into a new epoch. Only at its end do calls name the epoch: a session must not
// write in it before its assertion.
func (k *Keeper) enter(ctx context.Context, opened store.Epoch) error {
	before, epoch := k.opts.Store.Epoch(), opened.Number
	k.raiseFloor(epoch)
	// From here on nothing is taken in of the old history, so that the assertions are the last word on it.
	k.opts.Sessions.BeginEpoch(epoch)
	if err := k.opts.Worlds.Declare(ctx, epoch); err != nil {
		return fmt.Errorf("declare worlds: %w", err)
	}
	all := k.opts.Sessions.Assertions()
	adopted, err := k.assert(ctx, epoch, all)
	if err != nil {
		return err
	}
	k.opts.Store.SetEpoch(epoch)
	k.epochs.Add(1)
	for _, a := range all {
		k.departMissing([]store.Session{a.Session})
	}
	k.opts.Sessions.MarkStale(adopted)
	k.healSoon(healing{look: true})
	k.opts.Worlds.Wake()
	if before == 0 {
		k.opts.Log.Debug().Stringer("epoch", epoch).Msg("epoch entered")
		return nil
	}
	what := "redis restarted or failed over with its data; sessions were asserted in a new epoch"
	if opened.Emptied {
		what = "redis lost its data; sessions were asserted in a new epoch"
	}
	k.opts.Log.Warn().Stringer("epoch", epoch).Int("sessions", len(all)).Int("adopted", len(adopted)).Msg(what)
	return nil
}

// assert asserts those sessions that have not been asserted in the epoch, and returns all for which Redis has newer knowledge.
func (k *Keeper) assert(ctx context.Context, epoch ident.Place, all []store.Assertion) (adopted []store.Session, err error) {
	progress := k.asserted.in(epoch)
	left := progress.left(all)
	for _, batch := range store.AssertionBatches(left) {
		outcomes, err := k.opts.Store.AssertState(ctx, epoch, batch)
		if err != nil {
			return nil, fmt.Errorf("assert %d of %d sessions: %w", len(left), len(all), err)
		}
		for i, outcome := range outcomes {
			progress.done[batch[i].Session] = struct{}{}
			switch outcome {
			case store.Adopt:
				progress.adopted = append(progress.adopted, batch[i].Session)
			case store.Replaced:
				k.replaced(batch[i].Session)
			case store.Stands:
			}
		}
	}
	adopted = progress.adopted
	k.asserted = assertions{}
	return adopted, nil
}
