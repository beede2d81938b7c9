package presence

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/singleflight"

	"github.com/musterhq/muster/internal/groupcommit"
	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/lua"
)

// Store is what a Keeper needs of the state in Redis.
type Store interface {
	Epoch() ident.Place
	SetEpoch(ident.Place)
	OpenEpoch(ctx context.Context, floor ident.Place) (lua.Epoch, error)
	AssertState(ctx context.Context, epoch ident.Place, assertions []lua.Assertion) ([]lua.Asserted, error)
	RenewLease(ctx context.Context) (lua.Lease, error)
	EndLease(ctx context.Context) error
	Arrive(ctx context.Context, sessions []lua.Session) ([]lua.PlayerState, error)
	Refresh(ctx context.Context, sessions []lua.Session) ([]error, error)
	Depart(ctx context.Context, grace time.Duration, sessions []lua.Session) ([]error, error)
}

// Sessions are those on this instance, as the hub has them.
type Sessions interface {
	// Beat is one part of a heartbeat and returns who was heard.
	Beat(ctx context.Context, slot, slots int, ttl time.Duration) []lua.Session
	// Sessions are all that have arrived, Assertions what they last saw.
	Sessions() []lua.Session
	Assertions() []lua.Assertion
	// Has tells whether a session is still connected.
	Has(session lua.Session) bool
	// Apply brings states to their sessions; Replaced ends those older than a generation.
	Apply(states []lua.PlayerState)
	Replaced(newer lua.Session)
	// Doubt has sessions' states read and sent by the next Heal; LookAgain reads those of all.
	Doubt(sessions []lua.Session)
	Heal(ctx context.Context) error
	LookAgain(ctx context.Context, published int64) error
	// Behind tells of messages that have not arrived, of those counted; RestartNumbers counts anew.
	Behind(published int64) bool
	RestartNumbers(epoch ident.Place, published int64)
	// BeginEpoch drops what is still told of older epochs.
	BeginEpoch(epoch ident.Place)
}

// Worlds are the realm's worlds, as this instance serves them.
type Worlds interface {
	// Declare makes them known in a new epoch.
	Declare(ctx context.Context, epoch ident.Place) error
	// Adopt takes over what others declared since, up to a revision.
	Adopt(ctx context.Context, revision ident.Place) error
	// Poke has matches tried, in all worlds where none is named.
	Poke(worlds ...ident.World)
}

// Options say how a Keeper keeps time. All are required.
type Options struct {
	Store    Store
	Sessions Sessions
	Worlds   Worlds
	Log      zerolog.Logger
	// Heartbeat is how often a client is pinged, TTL how long a sign of life counts, Grace how long a player
	// whose connection is gone keeps its places.
	Heartbeat, TTL, Grace time.Duration
}

const (
	renewInterval = time.Second
	// retryInterval is how soon Redis is tried again while it is away.
	retryInterval = 250 * time.Millisecond
	// readyFor is how long a renewal counts: the lease is 3 s long, and readyz follows within 3 s.
	readyFor = 2500 * time.Millisecond
	// publishDelay is how long a publish may take before the state is read instead.
	publishDelay = 200 * time.Millisecond
	// beatSlots are the parts of a heartbeat, so that refreshes and pings are spread over it.
	beatSlots   = 4
	arriveBatch = 100
)

// Keeper keeps the leases of an instance and its players.
type Keeper struct {
	opts     Options
	arrivals *groupcommit.Committer[lua.Session, lua.PlayerState]
	leaving  departures
	flight   singleflight.Group

	renewedAt atomic.Int64 // Unix nanoseconds of the last renewal; 0 before the first
	floor     atomic.Int64 // the highest place seen
	heal      chan struct{}

	mu sync.Mutex
	// guarded by mu
	todo   healing
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// New makes a Keeper. It does nothing before Start.
func New(opts Options) *Keeper {
	k := &Keeper{opts: opts, heal: make(chan struct{}, 1)}
	k.arrivals = groupcommit.New(groupcommit.Options{Max: arriveBatch}, k.commitArrivals)
	k.leaving.init()
	return k
}

// Start begins to renew the lease and to keep the sessions. It waits for nothing: see Ready.
func (k *Keeper) Start(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cancel != nil {
		return errors.New("presence: already started")
	}
	if err := k.arrivals.Start(ctx); err != nil {
		return err
	}
	ctx, k.cancel = context.WithCancel(ctx)
	for _, loop := range []func(context.Context){k.renewLoop, k.beatLoop, k.healLoop, k.departLoop} {
		k.wg.Go(func() { loop(ctx) })
	}
	return nil
}

// Stop ends the loops and gives the lease back. It may be called twice, and before Start.
func (k *Keeper) Stop(ctx context.Context) {
	k.mu.Lock()
	cancel := k.cancel
	k.cancel = nil
	k.mu.Unlock()
	if cancel == nil {
		return
	}
	k.flushDepartures(ctx)
	cancel()
	k.arrivals.Stop()
	k.wg.Wait()
	if err := k.opts.Store.EndLease(ctx); err != nil {
		k.opts.Log.Warn().Err(err).Msg("lease not given back")
	}
}

// Ready tells whether Redis answered lately and this instance holds its lease.
func (k *Keeper) Ready() bool {
	return time.Since(time.Unix(0, k.renewedAt.Load())) < readyFor
}

// Arrive makes a player live here: with generation 0 as a new session, which takes over. It returns what
// Redis has of the player; the worlds it waits in are poked.
func (k *Keeper) Arrive(ctx context.Context, session lua.Session) (lua.PlayerState, error) {
	st, err := k.arrivals.Do(ctx, session)
	if err == nil {
		err = st.Err
	}
	return st, err
}

func (k *Keeper) commitArrivals(ctx context.Context, batch []lua.Session) ([]lua.PlayerState, bool, error) {
	if len(batch) == 0 {
		return nil, false, nil
	}
	states, err := k.opts.Store.Arrive(ctx, batch)
	if err != nil {
		return nil, false, err
	}
	k.opts.Worlds.Poke(waitingIn(states)...)
	return states, false, nil
}

// departMissing departs those whose connections ended while they were made live.
func (k *Keeper) departMissing(sessions []lua.Session) {
	for _, session := range sessions {
		if !k.opts.Sessions.Has(session) {
			k.Depart(session, k.opts.Grace)
		}
	}
}

// waitingIn are the worlds in which arrivals made a ticket matchable.
func waitingIn(states []lua.PlayerState) []ident.World {
	seen := map[ident.World]bool{}
	var worlds []ident.World
	for _, st := range states {
		for w := range st.Ranks {
			if !seen[w] {
				seen[w] = true
				worlds = append(worlds, w)
			}
		}
	}
	return worlds
}
