package presence

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"muster/internal/ident"
	"muster/store"
)

// renewLoop renews the instance's lease. Everything else that waits for Redis to be back hangs on it.
func (k *Keeper) renewLoop(ctx context.Context) {
	var away, said = error(nil), ""
	for {
		start := time.Now()
		err := k.renew(ctx, away != nil)
		if ctx.Err() != nil {
			return
		}
		if now := trouble(err); now != said {
			k.sayTrouble(now, err)
			said = now
		}
		away = err
		pause := renewInterval
		if err != nil {
			pause = retryInterval
		}
		if !wait(ctx, pause-time.Since(start)) {
			return
		}
	}
}

// redisAway is the trouble that ends by itself.
const redisAway = "redis is away; waiting for it"

// trouble is what keeps the lease from being renewed, in a sentence; "" for nothing.
func trouble(err error) string {
	var setup *store.SetupError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &setup):
		return setup.Sentence
	default:
		return redisAway
	}
}

// sayTrouble logs a trouble that is new, or that there is none any more. What an operator has to change is an error.
func (k *Keeper) sayTrouble(now string, err error) {
	switch now {
	case "":
		k.opts.Log.Info().Msg("redis is back")
	case redisAway:
		k.opts.Log.Warn().Err(err).Msg(now)
	default:
		k.opts.Log.Error().Err(err).Msg(now)
	}
}

// renew renews the lease once. After one that failed the lease may have lapsed, and the reply that said so been
// lost.
func (k *Keeper) renew(ctx context.Context, failed bool) error {
	lease, err := k.opts.Store.RenewLease(ctx)
	if err != nil {
		return err
	}
	k.renewedAt.Store(int64(time.Since(started)))
	k.raiseFloor(max(lease.LastPlace, ident.Place(lease.Now*int64(time.Millisecond/time.Microsecond))))
	if err := k.opts.Worlds.Adopt(ctx, lease.WorldsRevision); err != nil {
		k.opts.Log.Debug().Err(err).Msg("worlds of the realm not read; again at the next renewal")
	}
	if lease.Lapsed || failed {
		// Numbers may have begun anew, so that the state is read whatever they say.
		k.opts.Sessions.RestartNumbers(k.opts.Store.Epoch(), lease.Published)
		k.healSoon(healing{rearrive: true})
	} else {
		k.healSoon(healing{check: true, published: lease.Published})
	}
	return nil
}

// HealSoon has the states read of the sessions that are in doubt.
func (k *Keeper) HealSoon() { k.healSoon(healing{}) }

// Gap has all states read: messages to this instance were lost.
func (k *Keeper) Gap() { k.healSoon(healing{look: true}) }

// healing is what has to be made up for.
type healing struct {
	// rearrive: the instance's lease had lapsed; its players may be parked.
	rearrive bool
	// look: messages were lost; check: they are, if they have not come shortly.
	look, check bool
	published   int64
}

func (k *Keeper) healSoon(h healing) {
	k.mu.Lock()
	k.todo.rearrive = k.todo.rearrive || h.rearrive
	k.todo.look = k.todo.look || h.look
	k.todo.check = k.todo.check || h.check
	k.todo.published = max(k.todo.published, h.published)
	if h.rearrive {
		k.todo.published = h.published
	}
	k.mu.Unlock()
	select {
	case k.heal <- struct{}{}:
	default:
	}
}

// healLoop makes up for what was missed, apart from the renewals, which must not wait for it.
func (k *Keeper) healLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.heal:
		}
		k.mu.Lock()
		h := k.todo
		k.todo = healing{}
		k.mu.Unlock()
		if err := k.healNow(ctx, h); err != nil && ctx.Err() == nil {
			k.opts.Log.Debug().Err(err).Msg("not healed yet")
			k.mu.Lock() // at the next renewal it is done again
			k.todo.rearrive = k.todo.rearrive || h.rearrive
			k.todo.look = k.todo.look || h.look
			k.mu.Unlock()
		}
	}
}

func (k *Keeper) healNow(ctx context.Context, h healing) error {
	if h.rearrive {
		if err := k.rearrive(ctx, k.opts.Sessions.Sessions()); err != nil {
			return err
		}
	}
	if h.check && k.opts.Sessions.Behind(h.published) && !h.look {
		if !wait(ctx, publishDelay) {
			return nil
		}
		h.look = k.opts.Sessions.Behind(h.published)
	}
	if h.look {
		if err := k.opts.Sessions.ResyncAll(ctx, h.published); err != nil {
			return err
		}
	}
	return k.opts.Sessions.ResyncStale(ctx)
}

// beatLoop pings clients, collects the sessions whose presence is to be refreshed, and ends those that are silent. It never
// waits for Redis: a client that is not pinged falls silent.
func (k *Keeper) beatLoop(ctx context.Context) {
	ticker := time.NewTicker(k.opts.Sessions.BeatInterval())
	defer ticker.Stop()
	for {
		k.refreshSoon(k.opts.Sessions.Beat())
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// refreshSoon collects sessions for the next refresh, which is at once if they fill a batch.
func (k *Keeper) refreshSoon(sessions []store.Session) {
	k.mu.Lock()
	for _, session := range sessions {
		k.heard[session] = struct{}{}
	}
	full := len(k.heard) >= refreshBatch
	k.mu.Unlock()
	if !full {
		return
	}
	select {
	case k.fresh <- struct{}{}:
	default:
	}
}

// refreshLoop refreshes the collected sessions whenever they fill a batch, and refreshParts times a heartbeat. Sessions that
// Redis did not refresh are tried again after retryInterval: a heartbeat later may be too late.
func (k *Keeper) refreshLoop(ctx context.Context) {
	ticker := time.NewTicker(k.opts.Heartbeat / refreshParts)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.fresh:
		case <-ticker.C:
		}
		logged := false
		for {
			err := k.refreshCollected(ctx)
			if err == nil {
				break
			}
			if !logged && !errors.Is(err, store.ErrUnavailable) && ctx.Err() == nil {
				k.opts.Log.Error().Err(err).Msg("presence not refreshed; trying again")
				logged = true
			}
			if !wait(ctx, retryInterval) {
				return
			}
		}
	}
}

// refreshCollected refreshes the collected sessions. After an error those that were not refreshed are collected again.
func (k *Keeper) refreshCollected(ctx context.Context) error {
	k.mu.Lock()
	heard := slices.Collect(maps.Keys(k.heard))
	clear(k.heard)
	k.mu.Unlock()
	left, err := k.refresh(ctx, heard)
	if err != nil {
		k.mu.Lock()
		for _, session := range left {
			k.heard[session] = struct{}{}
		}
		k.mu.Unlock()
	}
	return err
}

// refresh refreshes sessions; those that are left were not.
func (k *Keeper) refresh(ctx context.Context, sessions []store.Session) (left []store.Session, err error) {
	left = k.connected(sessions)
	for len(left) > 0 {
		batch := left[:min(refreshBatch, len(left))]
		outcomes, err := k.opts.Store.Refresh(ctx, batch)
		if err != nil {
			return left, err
		}
		var gone []store.Session
		for i, outcome := range outcomes {
			switch {
			case errors.Is(outcome, store.ErrGone):
				gone = append(gone, batch[i])
			case errors.Is(outcome, store.ErrReplaced):
				k.replaced(batch[i])
			}
		}
		if err := k.rearrive(ctx, gone); err != nil {
			return left, err
		}
		left = left[len(batch):]
	}
	return nil, nil
}

// wait waits for d, if that is anything; false means that ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Floor is a place that is not below any that this instance can have seen: what was given out since the last
// renewal lies within the time that has passed.
func (k *Keeper) Floor() ident.Place {
	floor := ident.Place(k.floor.Load())
	if at := k.renewedAt.Load(); at != 0 {
		floor += ident.Place((time.Since(started) - time.Duration(at)).Microseconds())
	}
	return floor
}

// raiseFloor notes a place that was seen.
func (k *Keeper) raiseFloor(place ident.Place) {
	for {
		floor := k.floor.Load()
		if int64(place) <= floor || k.floor.CompareAndSwap(floor, int64(place)) {
			return
		}
	}
}
