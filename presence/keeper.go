package presence

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/singleflight"

	"muster/internal/groupcommit"
	"muster/internal/ident"
	"muster/store"
)

// Store is what a Keeper needs of the state in Redis.
type Store interface {
	Epoch() ident.Place
	SetEpoch(ident.Place)
	OpenEpoch(ctx context.Context, floor ident.Place) (store.Epoch, error)
	AssertState(ctx context.Context, epoch ident.Place, assertions []store.Assertion) ([]store.Asserted, error)
	RenewLease(ctx context.Context) (store.Lease, error)
	EndLease(ctx context.Context) error
	Arrive(ctx context.Context, sessions []store.Session) ([]store.PlayerState, error)
	ArriveOver(ctx context.Context, arrivals []store.Arrival) ([]store.PlayerState, error)
	Refresh(ctx context.Context, sessions []store.Session) ([]error, error)
	Depart(ctx context.Context, grace time.Duration, sessions []store.Session) ([]error, error)
}

// Sessions are those on this instance, as the hub has them.
type Sessions interface {
	// Beat pings the sessions that are due, closes those that are silent, and returns those whose presence is to be
	// refreshed. It is to be called once every BeatInterval.
	Beat() []store.Session
	BeatInterval() time.Duration
	// Sessions are all that have arrived, Assertions what they last saw.
	Sessions() []store.Session
	Assertions() []store.Assertion
	// Has tells whether a session is still connected. Departed forgets sessions that are not.
	Has(session store.Session) bool
	Departed(sessions []store.Session)
	// Apply brings states to their sessions, passing over those with an Err; Replaced ends sessions that are
	// older than a generation.
	Apply(states []store.PlayerState)
	Replaced(newer store.Session)
	// MarkStale has sessions' states read and sent by the next ResyncStale; ResyncAll reads those of all.
	MarkStale(sessions []store.Session)
	ResyncStale(ctx context.Context) error
	ResyncAll(ctx context.Context, published int64) error
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
	// Wake has matches tried, in all worlds where none is named.
	Wake(worlds ...ident.World)
}

// Options say how a Keeper keeps time. All are required.
type Options struct {
	Store    Store
	Sessions Sessions
	Worlds   Worlds
	Log      zerolog.Logger
	// Heartbeat is how often a session is refreshed, Grace how long a player whose connection is gone keeps its places.
	Heartbeat, Grace time.Duration
	// Emptied, if set, is called when an epoch was entered in which Redis had nothing. It must not block.
	Emptied func()
}

const (
	renewInterval = time.Second
	// retryInterval is how soon Redis is tried again while it is away.
	retryInterval = 250 * time.Millisecond
	// readyFor is how long a renewal counts: the lease is 3 s long, and readyz follows within 3 s.
	readyFor = 2500 * time.Millisecond
	// publishDelay is how long a publish may take before the state is read instead.
	publishDelay = 200 * time.Millisecond
	// refreshParts is how often during a heartbeat those sessions are refreshed that fill no batch.
	refreshParts = 10
	refreshBatch = 100
	arriveBatch  = 100
)

// started is what renewals are counted from: no step of the machine's clock moves what is left of a lease.
var started = time.Now()

// Keeper keeps the leases of an instance and its players.
type Keeper struct {
	opts     Options
	arrivals *groupcommit.Committer[*arrival, store.PlayerState]
	leaving  departures
	flight   singleflight.Group
	asserted assertions

	renewedAt atomic.Int64 // the last renewal, in nanoseconds since started; 0 before the first
	floor     atomic.Int64 // the highest place seen
	epochs    atomic.Int64 // how many were entered
	opensAt   atomic.Int64 // until when others may still assert, in nanoseconds since started; 0 before the first
	heal      chan struct{}
	fresh     chan struct{} // wakes the refreshing

	mu sync.Mutex
	// guarded by mu
	todo   healing
	heard  map[store.Session]struct{} // to be refreshed
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// New makes a Keeper. It does nothing before Start.
func New(opts Options) *Keeper {
	k := &Keeper{opts: opts, heal: make(chan struct{}, 1), fresh: make(chan struct{}, 1), heard: map[store.Session]struct{}{}}
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
	for _, loop := range []func(context.Context){k.renewLoop, k.beatLoop, k.refreshLoop, k.healLoop, k.departLoop} {
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
	cancel()
	k.arrivals.Stop()
	k.wg.Wait()
	k.departUntil(ctx) // what was on its way when its loop was cut off too
	if err := k.opts.Store.EndLease(ctx); err != nil {
		k.opts.Log.Warn().Err(err).Msg("lease not given back")
	}
}

// Ready tells whether Redis answered lately and this instance holds its lease.
func (k *Keeper) Ready() bool {
	at := time.Duration(k.renewedAt.Load())
	return at != 0 && time.Since(started)-at < readyFor
}

// Recovering is how long other instances may still assert what they know in the epoch that was entered last; 0 or less
// where that is over.
func (k *Keeper) Recovering() time.Duration {
	return time.Duration(k.opensAt.Load()) - time.Since(started)
}

// Epochs is how many epochs this instance has entered; each after the first is a loss of history.
func (k *Keeper) Epochs() int64 { return k.epochs.Load() }
