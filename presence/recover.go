package presence

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/lua"
)

const (
	// recoverTimeout bounds one recovery; it is tried again by the next call that needs it.
	recoverTimeout = 30 * time.Second
	// recoverAttempts is how often history may be lost again while it is being recovered.
	recoverAttempts = 5
)

// Recover is what a Store does when a call meets another history than its own (lua.Store.OnLostHistory):
// it learns or opens the new epoch, declares the worlds, and asserts what the sessions last saw. Many
// callers share one recovery.
func (k *Keeper) Recover(ctx context.Context) error {
	done := k.flight.DoChan("recover", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recoverTimeout)
		defer cancel()
		return nil, k.recover(ctx)
	})
	select {
	case <-ctx.Done():
		return fmt.Errorf("recover history: %w: %w", lua.ErrUnavailable, ctx.Err())
	case result := <-done:
		return result.Err
	}
}

func (k *Keeper) recover(ctx context.Context) error {
	var err error
	for range recoverAttempts {
		var epoch lua.Epoch
		if epoch, err = k.opts.Store.OpenEpoch(ctx, k.Floor()); err != nil {
			return fmt.Errorf("open epoch: %w", err)
		}
		if epoch.Number == k.opts.Store.Epoch() {
			return nil // somebody recovered it while this call was on its way
		}
		if err = k.enter(ctx, epoch.Number); err == nil {
			k.opensAt.Store(int64(time.Since(started) + epoch.OpensIn))
			if epoch.Emptied && k.opts.Emptied != nil {
				k.opts.Emptied()
			}
			return nil
		}
		if !errors.Is(err, lua.ErrLostHistory) {
			return fmt.Errorf("enter epoch %s: %w", epoch.Number, err)
		}
	}
	return fmt.Errorf("%w: history is lost again and again: %w", lua.ErrUnavailable, err)
}

// enter brings this instance into a new epoch. Only at its end do calls name the epoch: a session must not
// write in it before its assertion.
func (k *Keeper) enter(ctx context.Context, epoch ident.Place) error {
	before := k.opts.Store.Epoch()
	k.raiseFloor(epoch)
	// From here on nothing is taken in of the old history, so that the assertions are the last word on it.
	k.opts.Sessions.BeginEpoch(epoch)
	if err := k.opts.Worlds.Declare(ctx, epoch); err != nil {
		return fmt.Errorf("declare worlds: %w", err)
	}
	all := k.opts.Sessions.Assertions()
	var newer []lua.Session
	for _, batch := range lua.AssertionBatches(all) {
		outcomes, err := k.opts.Store.AssertState(ctx, epoch, batch)
		if err != nil {
			return fmt.Errorf("assert %d sessions: %w", len(all), err)
		}
		for i, outcome := range outcomes {
			switch outcome {
			case lua.Adopt:
				newer = append(newer, batch[i].Session)
			case lua.Replaced:
				k.replaced(batch[i].Session)
			case lua.Stands:
			}
		}
	}
	k.opts.Store.SetEpoch(epoch)
	k.epochs.Add(1)
	for _, a := range all {
		k.departMissing([]lua.Session{a.Session})
	}
	k.opts.Sessions.Doubt(newer)
	k.healSoon(healing{look: true})
	k.opts.Worlds.Poke()
	if before == 0 {
		k.opts.Log.Debug().Stringer("epoch", epoch).Msg("epoch entered")
		return nil
	}
	k.opts.Log.Warn().Stringer("epoch", epoch).Int("sessions", len(all)).Int("adopted", len(newer)).
		Msg("redis lost its history; sessions were asserted in a new epoch")
	return nil
}
