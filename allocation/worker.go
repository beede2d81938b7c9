package allocation

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/ident"
)

// ErrStopped: Start came after Stop.
var ErrStopped = errors.New("allocation is stopped")

const (
	// DefaultPollInterval is how often is looked for due matches without a wake: those of an instance that died, and
	// pokes that were lost.
	DefaultPollInterval = 500 * time.Millisecond
	// DefaultInFlight is how many requests an instance has at a time.
	DefaultInFlight = 64
	// DefaultGrace is how long Stop lets requests go on that are on their way.
	DefaultGrace = 2 * time.Second
	// settleWithin is the part of a lease that is kept for telling the store how the attempt ended.
	settleWithin = 5 * time.Second
	// claimWithin bounds one claim. The store has a bound of its own, which is shorter.
	claimWithin = 3 * time.Second
	// giveBackWithin bounds what a stop still tells the store.
	giveBackWithin = 1500 * time.Millisecond
)

// Options are what a Worker works with. Store and Settings are required.
type Options struct {
	Store Store
	// Settings are those of a world, as this instance serves it now; false where it has no allocator, or is not
	// known here.
	Settings func(world ident.World) (Settings, bool)
	// Longest is the longest Timeout of all worlds' settings now. It makes the leases no longer than need be:
	// what a crash costs is one lease. MaxTimeout where Longest is nil.
	Longest func() time.Duration
	// Realm is told to the allocators, Version is that of this program.
	Realm, Version string
	Logger         zerolog.Logger
	Observer       Observer
	// PollInterval, InFlight and Grace are the defaults above where they are 0.
	PollInterval time.Duration
	InFlight     int
	Grace        time.Duration
}

// Worker asks allocators for the matches that it claims. New makes one.
type Worker struct {
	opts     Options
	client   *http.Client
	poked    chan struct{}
	slots    chan struct{} // one element a request in flight
	inFlight sync.WaitGroup
	failures *failures
	done     chan struct{} // closed when run has ended

	mu sync.Mutex
	// guarded by mu
	stopped bool
	cancel  context.CancelFunc // nil before Start
}

// New makes a Worker. It does nothing before Start.
func New(opts Options) *Worker {
	if opts.PollInterval == 0 {
		opts.PollInterval = DefaultPollInterval
	}
	if opts.InFlight == 0 {
		opts.InFlight = DefaultInFlight
	}
	if opts.Grace == 0 {
		opts.Grace = DefaultGrace
	}
	if opts.Longest == nil {
		opts.Longest = func() time.Duration { return MaxTimeout }
	}
	if opts.Observer.Attempted == nil {
		opts.Observer.Attempted = func(ident.World, Outcome, time.Duration) {}
	}
	if opts.Observer.Abandoned == nil {
		opts.Observer.Abandoned = func(ident.World) {}
	}
	return &Worker{
		opts: opts, client: newClient(opts.InFlight), poked: make(chan struct{}, 1), slots: make(chan struct{}, opts.InFlight),
		failures: newFailures(opts.Logger), done: make(chan struct{}),
	}
}

// Start begins to claim. It goes on until Stop, or until ctx ends, which does the same without being waited for.
func (w *Worker) Start(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.stopped:
		return ErrStopped
	case w.cancel != nil:
		return errors.New("allocation started twice")
	}
	ctx, w.cancel = context.WithCancel(ctx)
	go w.run(ctx)
	return nil
}

// Stop claims nothing more, lets requests that are on their way go on for Options.Grace, gives back the matches whose
// answer has not come by then, so that another instance asks at once, and returns when all that is done: at
// most about 5 s after Grace. It may be called twice, and before Start.
func (w *Worker) Stop() {
	w.mu.Lock()
	w.stopped = true
	cancel := w.cancel
	w.mu.Unlock()
	if cancel != nil {
		cancel()
		<-w.done
	}
}

// Wake says that a match may be due. It does not wait.
func (w *Worker) Wake() {
	select {
	case w.poked <- struct{}{}:
	default:
	}
}

// run claims until ctx ends, and then sees to it that what was begun comes to an end: requests go on for the
// grace, and settling them a little longer.
func (w *Worker) run(ctx context.Context) {
	defer close(w.done)
	defer w.client.CloseIdleConnections()
	asking, stopAsking := context.WithCancel(context.WithoutCancel(ctx))
	defer stopAsking()
	settling, stopSettling := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSettling()

	w.claimUntil(ctx, asking, settling)

	idle := make(chan struct{})
	go func() { w.inFlight.Wait(); close(idle) }()
	waitFor(idle, w.opts.Grace)
	stopAsking()
	waitFor(idle, giveBackWithin)
	stopSettling()
	<-idle
}

// claimUntil claims what is due, at each wake and at intervals, until ctx ends.
func (w *Worker) claimUntil(ctx, asking, settling context.Context) {
	for ctx.Err() == nil {
		w.claim(asking, settling)
		// The instances of a realm must not come all at once.
		timer := time.NewTimer(w.opts.PollInterval*3/4 + rand.N(w.opts.PollInterval/2+1)) //nolint:gosec // G404: jitter need not be unpredictable
		select {
		case <-ctx.Done():
		case <-w.poked:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// claim claims as many matches as requests can be begun, and begins them. The claim is not cut off by a stop: it
// could have taken effect, and nobody would have the matches until the lease ends.
func (w *Worker) claim(asking, settling context.Context) {
	free := cap(w.slots) - len(w.slots)
	if free == 0 {
		return // the end of a request pokes
	}
	ctx, cancel := context.WithTimeout(settling, claimWithin)
	defer cancel()
	lease := min(w.opts.Longest(), MaxTimeout) + settleWithin
	before := time.Now() // the store's lease begins later, so it ends later, too
	claimed, err := w.opts.Store.ClaimAllocations(ctx, free, lease)
	w.failures.noteClaim(err)
	for _, a := range claimed {
		w.slots <- struct{}{}
		w.inFlight.Go(func() {
			w.attempt(asking, settling, attempt{Allocation: a, leaseEnds: before.Add(lease)})
			<-w.slots
			w.Wake() // more may be due than could be begun
		})
	}
}

// waitFor waits until done is closed, at most so long.
func waitFor(done <-chan struct{}, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
