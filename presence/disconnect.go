package presence

import (
	"context"
	"errors"
	"sync"
	"time"

	"muster/store"
)

// departures are sessions whose connections are gone and whose players have to be told so. They wait here
// while Redis is away: a player whose departure was forgotten would be matched as a ghost.
type departures struct {
	wake chan struct{}

	mu sync.Mutex
	// guarded by mu
	waiting map[time.Duration][]store.Session
}

func (d *departures) init() {
	d.wake = make(chan struct{}, 1)
	d.waiting = map[time.Duration][]store.Session{}
}

func (d *departures) add(grace time.Duration, sessions ...store.Session) {
	d.mu.Lock()
	d.waiting[grace] = append(d.waiting[grace], sessions...)
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// take takes out a batch of one grace; it is empty when nobody waits.
func (d *departures) take() (time.Duration, []store.Session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for grace, sessions := range d.waiting {
		batch := sessions[:min(arriveBatch, len(sessions))]
		if len(batch) == len(sessions) {
			delete(d.waiting, grace)
		} else {
			d.waiting[grace] = sessions[len(batch):]
		}
		return grace, batch
	}
	return 0, nil
}

// Depart makes the player of a session whose connection is gone away for grace, if it waits anywhere. It
// does not wait for Redis.
func (k *Keeper) Depart(session store.Session, grace time.Duration) {
	k.leaving.add(grace, session)
}

func (k *Keeper) departLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.leaving.wake:
			k.departUntil(ctx)
		}
	}
}

// departUntil departs all who wait for it, again and again while Redis does not take them, as far as ctx goes.
func (k *Keeper) departUntil(ctx context.Context) {
	logged := false
	for {
		err := k.departAll(ctx)
		if err == nil {
			return
		}
		if !logged && !errors.Is(err, store.ErrUnavailable) && ctx.Err() == nil {
			k.opts.Log.Error().Err(err).Msg("players not departed")
			logged = true
		}
		if !wait(ctx, retryInterval) {
			return
		}
	}
}

// departAll departs all who wait for it. After an error the rest still waits.
func (k *Keeper) departAll(ctx context.Context) error {
	for {
		grace, batch := k.leaving.take()
		if len(batch) == 0 {
			return nil
		}
		if _, err := k.opts.Store.Depart(ctx, grace, batch); err != nil {
			k.leaving.add(grace, batch...)
			return err
		}
		k.opts.Sessions.Departed(batch)
	}
}
