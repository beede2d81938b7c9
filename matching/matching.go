package matching

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/faultlog"
	"muster/internal/groupcommit"
	"muster/internal/ident"
	"muster/store"
)

var (
	// ErrOverloaded: more joins wait than can be served in time. The join had no effect.
	ErrOverloaded = groupcommit.ErrOverloaded
	// ErrStopped: this instance takes no more joins. The join had no effect.
	ErrStopped = groupcommit.ErrStopped
)

// Store is what matching needs of a *store.Store.
type Store interface {
	JoinAndMatch(ctx context.Context, w store.WorldRules, worldsPerPlayer int, joins []store.Join, after store.Cursor,
		candidates []store.Candidate) (store.JoinResult, store.Formed, error)
	EndMatch(ctx context.Context, match ident.Match, reason store.EndReason) error
	Sweep(ctx context.Context, interval time.Duration, worlds []store.WorldRules) (store.Swept, error)
}

// Observer is told what happens, for metrics; any of it may be nil. The functions are called by the loops:
// they must not block.
type Observer struct {
	// Joined is called for every new ticket.
	Joined func(ident.World)
	// Formed is called for every call that formed a match or parked a player.
	Formed func(ident.World, store.Formed)
	// Swept is called for every sweep that this instance did.
	Swept func(store.Swept)
}

// Options are what a Matching works with.
type Options struct {
	Store Store
	// WorldsPerPlayer is how many worlds a player may wait in.
	WorldsPerPlayer func() int
	// Reload is called where the store has newer worlds than this instance: it reads them and calls SetWorlds.
	Reload   func(context.Context) error
	Logger   zerolog.Logger
	Observer Observer
	// SweepInterval is DefaultSweepInterval where it is 0.
	SweepInterval time.Duration
}

// Matching serves the worlds that it was given. New makes one.
type Matching struct {
	opts    Options
	sweeper sweeper
	served  atomic.Pointer[served]

	mu      sync.Mutex // guards what follows, and the changes of served
	stopped bool
	launch  func(*loop) error  // starts a loop; nil before Start
	cancel  context.CancelFunc // nil before Start
	// running are the sweeper, and removed loops that are still at their last call.
	running sync.WaitGroup
}

// served is what is served at a time; it is replaced as a whole.
type served struct {
	revision ident.Place
	worlds   []World
	rules    []store.WorldRules
	loops    map[ident.World]*loop
}

// New makes a Matching that serves no world yet.
func New(opts Options) *Matching {
	if opts.SweepInterval == 0 {
		opts.SweepInterval = DefaultSweepInterval
	}
	if opts.Observer.Joined == nil {
		opts.Observer.Joined = func(ident.World) {}
	}
	if opts.Observer.Formed == nil {
		opts.Observer.Formed = func(ident.World, store.Formed) {}
	}
	if opts.Observer.Swept == nil {
		opts.Observer.Swept = func(store.Swept) {}
	}
	m := &Matching{opts: opts}
	m.served.Store(&served{})
	m.sweeper = sweeper{
		store: opts.Store, interval: opts.SweepInterval, wake: m.Wake, swept: opts.Observer.Swept,
		rules: func() []store.WorldRules { return m.served.Load().rules },
		faults: faultlog.New(opts.Logger, faultlog.Messages{
			Level: zerolog.WarnLevel, Fails: "sweep failed; retrying", Works: "sweep works again",
		}),
	}
	return m
}

// Start starts the loops and the sweeps. They go on until Stop, or until ctx ends.
func (m *Matching) Start(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.stopped:
		return ErrStopped
	case m.cancel != nil:
		return errors.New("matching started twice")
	}
	ctx, m.cancel = context.WithCancel(ctx)
	m.launch = func(l *loop) error { return l.committer.Start(ctx) } // for worlds that come later, too
	for _, l := range m.served.Load().loops {
		if err := m.launch(l); err != nil {
			return fmt.Errorf("start world %s: %w", l.name, err)
		}
	}
	m.running.Go(func() { m.sweeper.run(ctx) })
	return nil
}

// Stop answers the joins that wait with ErrStopped, and waits for those whose call is in flight, at most as
// long as a client waits for an answer. It may be called more than once, and before Start.
func (m *Matching) Stop() {
	m.mu.Lock()
	m.stopped = true
	if m.cancel != nil {
		m.cancel()
	}
	m.mu.Unlock() // a loop's last call may want it
	var loops sync.WaitGroup
	for _, l := range m.served.Load().loops {
		loops.Go(l.stop)
	}
	loops.Wait()
	m.running.Wait()
}

// SetWorlds makes worlds those that are served, as they stood at a revision; an older one than it knows is
// ignored. Joins that wait for a world which changed are taken by its new rules; for one that is gone they
// get store.ErrUnknownWorld.
func (m *Matching) SetWorlds(revision ident.Place, worlds []World) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.served.Load()
	if m.stopped || revision < before.revision {
		return
	}
	now := &served{revision: revision, loops: make(map[ident.World]*loop, len(worlds))}
	for _, w := range worlds {
		w.Pairs = w.Mode == Duel
		now.worlds = append(now.worlds, w)
		now.rules = append(now.rules, w.WorldRules)
		now.loops[w.Name] = m.loopFor(before.loops[w.Name], w)
	}
	m.served.Store(now)
	for name, l := range before.loops {
		if now.loops[name] == nil {
			l.removed.Store(true)
			m.running.Go(l.stop) // not waited for here: its own call may be what called for the change
		}
	}
}

// loopFor gives a world its loop: the one that it has, or a new one. What changed may make tickets
// matchable, so that it is poked then. The caller holds mu.
func (m *Matching) loopFor(l *loop, w World) *loop {
	if l == nil {
		l = newLoop(&m.opts, w)
		if m.launch != nil {
			if err := m.launch(l); err != nil {
				m.opts.Logger.Error().Err(err).Str("world", string(w.Name)).Msg("world has no loop")
			}
		}
		l.wake()
	} else if was := l.world.Swap(&w); was.Revision != w.Revision {
		l.wake()
	}
	return l
}

// Revision is that of the worlds that are served.
func (m *Matching) Revision() ident.Place { return m.served.Load().revision }

// World is a world that is served.
func (m *Matching) World(name ident.World) (World, bool) {
	l, ok := m.served.Load().loops[name]
	if !ok {
		return World{}, false
	}
	return *l.world.Load(), true
}

// Worlds are the worlds that are served, in the order that they were declared in.
func (m *Matching) Worlds() []World { return slices.Clone(m.served.Load().worlds) }

// Wake has worlds look for matches: something became matchable there. Unknown ones are ignored.
func (m *Matching) Wake(worlds ...ident.World) {
	loops := m.served.Load().loops
	for _, world := range worlds {
		if l, ok := loops[world]; ok {
			l.wake()
		}
	}
}
