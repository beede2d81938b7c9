package presence

import (
	"context"
	"errors"
	"slices"
	"sync"

	"muster/internal/ident"
	"muster/store"
)

// arrival is one Arrive. Whoever waits for it may give up while its commit is in flight. Then nobody has the
// session that comes of it, and its player would be live without a connection.
type arrival struct {
	store.Arrival

	mu sync.Mutex
	// guarded by mu
	state     store.PlayerState
	settled   bool // state is there
	abandoned bool // nobody waits for it any more
}

// settle takes the state in; false means that nobody waits for it.
func (a *arrival) settle(st store.PlayerState) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state, a.settled = st, true
	return !a.abandoned
}

// abandon gives the arrival up, unless its state is there.
func (a *arrival) abandon() (st store.PlayerState, settled bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.abandoned = !a.settled
	return a.state, a.settled
}

// takeoverTries is how often a new session looks whom it takes over; then it is whoever is there.
const takeoverTries = 3

// Arrive makes a player live here: with generation 0 as a new session, which takes over as long as present says that its
// connection is there: where the call was held up, the client may have gone and come back elsewhere before. It returns what
// Redis has of the player; the worlds it waits in are poked. Besides the errors of store.Store.ArriveOver there are
// those of groupcommit's Do. A player whose arrival succeeds after ctx ended departs again.
func (k *Keeper) Arrive(ctx context.Context, session store.Session, present func() bool) (store.PlayerState, error) {
	next := store.Arrival{Session: session}
	for try := 1; ; try++ {
		st, err := k.arrive(ctx, next)
		var taken *store.TakenError
		if !errors.As(err, &taken) {
			return st, err
		}
		if !present() {
			return store.PlayerState{}, store.ErrReplaced
		}
		next.Over = taken.Generation
		if try == takeoverTries {
			next.Over = store.Anybody
		}
	}
}

func (k *Keeper) arrive(ctx context.Context, arriving store.Arrival) (store.PlayerState, error) {
	a := &arrival{Arrival: arriving}
	st, err := k.arrivals.Do(ctx, a)
	if err != nil && ctx.Err() != nil {
		if late, settled := a.abandon(); settled {
			st, err = late, nil
		}
	}
	if err == nil {
		err = st.Err
	}
	return st, err
}

func (k *Keeper) commitArrivals(ctx context.Context, batch []*arrival) ([]store.PlayerState, bool, error) {
	if len(batch) == 0 {
		return nil, false, nil
	}
	arrivals := make([]store.Arrival, len(batch))
	for i, a := range batch {
		arrivals[i] = a.Arrival
	}
	states, err := k.opts.Store.ArriveOver(ctx, arrivals)
	if err != nil {
		return nil, false, err
	}
	for i, a := range batch {
		if !a.settle(states[i]) && states[i].Err == nil {
			k.departMissing([]store.Session{{Player: a.Player, Generation: states[i].Generation}})
		}
	}
	k.wake(states)
	return states, false, nil
}

// rearrive has sessions arrive again, with the generations they have.
func (k *Keeper) rearrive(ctx context.Context, sessions []store.Session) error {
	for batch := range slices.Chunk(k.connected(sessions), arriveBatch) {
		states, err := k.opts.Store.Arrive(ctx, batch)
		if err != nil {
			return err
		}
		for i, st := range states {
			if errors.Is(st.Err, store.ErrReplaced) {
				k.replaced(batch[i])
			}
		}
		k.opts.Sessions.Apply(states)
		k.departMissing(batch)
		k.wake(states)
	}
	return nil
}

// connected are those of sessions whose connections are there.
func (k *Keeper) connected(sessions []store.Session) []store.Session {
	return slices.DeleteFunc(slices.Clone(sessions), func(s store.Session) bool { return !k.opts.Sessions.Has(s) })
}

// replaced ends a session that a newer one took over.
func (k *Keeper) replaced(session store.Session) {
	k.opts.Sessions.Replaced(store.Session{Player: session.Player, Generation: session.Generation + 1})
}

// departMissing departs those whose connections ended while they were made live.
func (k *Keeper) departMissing(sessions []store.Session) {
	for _, session := range sessions {
		if !k.opts.Sessions.Has(session) {
			k.Depart(session, k.opts.Grace)
		}
	}
}

// wake has matches tried in the worlds in which arrivals made a ticket matchable.
func (k *Keeper) wake(states []store.PlayerState) {
	var worlds []ident.World
	for _, st := range states {
		for w := range st.Ranks {
			if !slices.Contains(worlds, w) {
				worlds = append(worlds, w)
			}
		}
	}
	if len(worlds) > 0 { // none would be all
		k.opts.Worlds.Wake(worlds...)
	}
}
