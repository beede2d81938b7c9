package matching

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/ident"
	"muster/internal/redistest"
	"muster/store"
)

// The times of the tests' realms. Nothing ends within a test but what it waits for.
const (
	testPresenceTTL = time.Minute
	// testCallTimeout is long: under the race detector, on a busy machine, the embedded Redis takes its time.
	testCallTimeout = 30 * time.Second
	testGrace       = 30 * time.Second
	testRenewal     = 500 * time.Millisecond // a lease is 3 s long
	patience        = 60 * time.Second
)

// realm is a realm with several instances that match in it.
type realm struct {
	testing.TB
	ctx       context.Context
	stores    []*store.Store // one an instance; the embedded Redis is one instance's, so that all share it
	instances []*Matching

	mu       sync.Mutex
	settings map[string]World // of the worlds that were declared, by hash; guarded by mu
}

// onBackends runs a test on a real Redis and on the embedded one.
func onBackends(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Parallel()
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		test(t, redistest.Shared(t).URL())
	})
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t, "")
	})
}

// openRealm opens a realm with two instances that serve worlds; they are not started. They sweep so rarely
// that tests do not see it, unless sweep says otherwise.
func openRealm(t testing.TB, url string, sweep time.Duration, worlds ...World) *realm {
	t.Helper()
	r := &realm{TB: t, ctx: context.Background(), settings: map[string]World{}}
	name := redistest.Realm(t)
	if sweep == 0 {
		sweep = time.Hour
	}
	r.openStore(url, name, "a")
	if url != "" {
		r.openStore(url, name, "b")
	}
	r.declare(worlds...)
	for i := range 2 {
		st := r.stores[i%len(r.stores)]
		var m *Matching
		m = New(Options{
			Store: st, WorldsPerPlayer: func() int { return 8 }, Logger: zerolog.New(zerolog.NewTestWriter(t)),
			Reload:        func(ctx context.Context) error { return r.load(ctx, st, m) },
			SweepInterval: sweep,
		})
		if err := r.load(r.ctx, st, m); err != nil {
			t.Fatal(err)
		}
		r.instances = append(r.instances, m)
	}
	return r
}

// startRealm is openRealm with the instances started.
func startRealm(t testing.TB, url string, sweep time.Duration, worlds ...World) *realm {
	t.Helper()
	r := openRealm(t, url, sweep, worlds...)
	r.start()
	return r
}

func (r *realm) start() {
	r.Helper()
	for _, m := range r.instances {
		if err := m.Start(r.ctx); err != nil {
			r.Fatal(err)
		}
		r.Cleanup(m.Stop)
	}
}

// openStore opens an instance's access to the realm, in an open epoch and with a lease that is renewed.
func (r *realm) openStore(url, name string, instance ident.Instance) {
	r.Helper()
	s, err := store.Open(store.Options{URL: url, Realm: name, Instance: instance, PresenceTTL: testPresenceTTL, CallTimeout: testCallTimeout})
	if err != nil {
		r.Fatal(err)
	}
	epoch, err := s.OpenEpoch(r.ctx, 0)
	if err != nil {
		r.Fatal(err)
	}
	s.SetEpoch(epoch.Number)
	if _, err := s.RenewLease(r.ctx); err != nil {
		r.Fatal(err)
	}
	r.stores = append(r.stores, s)
	ctx, cancel := context.WithCancel(r.ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for pause(ctx, testRenewal) {
			// One that is late on a busy machine is made good by the next, well within the lease.
			if _, err := s.RenewLease(ctx); err != nil && ctx.Err() == nil {
				r.Logf("renew lease: %v", err)
			}
		}
	})
	r.Cleanup(func() {
		cancel()
		renewing.Wait()
		if err := s.Close(); err != nil {
			r.Errorf("close: %v", err)
		}
	})
}

// declare makes worlds the realm's, by way of the first instance's store.
func (r *realm) declare(worlds ...World) {
	r.Helper()
	r.mu.Lock()
	var declared []store.DeclaredWorld
	for _, w := range worlds {
		hash := strconv.Itoa(len(r.settings))
		r.settings[hash] = w
		declared = append(declared, store.DeclaredWorld{Name: w.Name, State: string(w.State), Hash: hash})
	}
	r.mu.Unlock()
	if _, err := r.stores[0].DeclareWorlds(r.ctx, declared); err != nil {
		r.Fatal(err)
	}
}

// load has an instance serve the worlds as the realm has them.
func (r *realm) load(ctx context.Context, st *store.Store, m *Matching) error {
	declared, revision, err := st.ReadWorlds(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var worlds []World
	for _, d := range declared {
		if w, ok := r.settings[d.Hash]; ok && d.State != "closing" {
			w.Revision, w.State = d.Revision, State(d.State)
			worlds = append(worlds, w)
		}
	}
	slices.SortFunc(worlds, func(a, b World) int { return strings.Compare(string(a.Name), string(b.Name)) })
	m.SetWorlds(revision, worlds)
	return nil
}

// player is a player with a session on one of the instances.
type player struct {
	store.Session
	on int
}

// arrive has n players connect, in turn to each instance.
func (r *realm) arrive(n int) []player {
	r.Helper()
	players := make([]player, n)
	for on := range r.instances {
		var sessions []store.Session
		for i := on; i < n; i += len(r.instances) {
			sessions = append(sessions, store.Session{Player: ident.Player(fmt.Sprintf("p%d", i))})
		}
		done := 0
		for batch := range slices.Chunk(sessions, 100) {
			states, err := r.stores[on%len(r.stores)].Arrive(r.ctx, batch)
			if err != nil {
				r.Fatal(err)
			}
			for _, st := range states {
				players[on+done*len(r.instances)] = player{store.Session{Player: st.Player, Generation: st.Generation}, on}
				done++
			}
		}
	}
	return players
}

// join joins a player by its instance.
func (r *realm) join(p player, world ident.World) (JoinResult, error) {
	return r.instances[p.on].Join(r.ctx, world, store.Join{Player: p.Player, Generation: p.Generation})
}

// joinAll joins many players at the same time, each to each of the worlds, which must succeed, or be too
// late because of a match.
func (r *realm) joinAll(players []player, worlds ...ident.World) {
	r.Helper()
	var wg sync.WaitGroup
	for _, p := range players {
		for _, world := range worlds {
			wg.Go(func() {
				if _, err := r.join(p, world); err != nil && !isInMatch(err) {
					r.Errorf("%s: %v", p.Player, err)
				}
			})
		}
	}
	wg.Wait()
}

// queue puts players into a world's queue without having anything matched. The batches are small as the
// embedded Redis is slow where the machine is busy and the race detector on.
func (r *realm) queue(players []player, world ident.World) {
	r.Helper()
	w, _ := r.instances[0].World(world)
	for batch := range slices.Chunk(players, 25) {
		var joins []store.Join
		for _, p := range batch {
			joins = append(joins, store.Join{Player: p.Player, Generation: p.Generation, Key: newKey()})
		}
		result, _, err := r.stores[0].JoinAndMatch(r.ctx, w.WorldRules, 8, joins, "", nil)
		if err != nil {
			r.Fatal(err)
		}
		for i, j := range result.Joined {
			if j.Err != nil {
				r.Fatalf("queue %s: %v", joins[i].Player, j.Err)
			}
		}
	}
}
