package presence

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/ident"
	"muster/internal/redistest"
	"muster/store"
)

// duel is the one world of these tests.
var duel = store.WorldRules{Name: "duel", Size: 2, Scan: 10, MatchHold: time.Hour, TicketTTL: time.Hour, Tick: time.Second}

// hookedStore is a real store whose calls are noted, and can be interfered with.
type hookedStore struct {
	*store.Store
	*journal

	mu sync.Mutex
	// guarded by mu
	before, after map[string]func() // by call; run once
	failing       map[string]int    // by call; how many more succeed before one fails
}

// failAfter has a call fail once, without effect, after n that succeed.
func (h *hookedStore) failAfter(n int, call string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failing = map[string]int{call: n}
}

func (h *hookedStore) fails(call string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, ok := h.failing[call]
	if !ok {
		return nil
	}
	if n > 0 {
		h.failing[call] = n - 1
		return nil
	}
	delete(h.failing, call)
	return store.ErrUnavailable
}

func (h *hookedStore) hook(when map[string]func(), call string, f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	when[call] = f
}

func (h *hookedStore) run(when map[string]func(), call string) {
	h.mu.Lock()
	f := when[call]
	delete(when, call)
	h.mu.Unlock()
	if f != nil {
		f()
	}
}

func (h *hookedStore) SetEpoch(e ident.Place) {
	h.add("setEpoch %s", e)
	h.Store.SetEpoch(e)
}

func (h *hookedStore) OpenEpoch(ctx context.Context, floor ident.Place) (store.Epoch, error) {
	h.add("openEpoch")
	h.run(h.before, "openEpoch")
	return h.Store.OpenEpoch(ctx, floor)
}

func (h *hookedStore) AssertState(ctx context.Context, epoch ident.Place, a []store.Assertion) ([]store.Asserted, error) {
	if h.Epoch() == epoch {
		h.add("late: the epoch is set already")
	}
	h.add("assertState %d", len(a))
	h.run(h.before, "assertState")
	if err := h.fails("assertState"); err != nil {
		return nil, err
	}
	return h.Store.AssertState(ctx, epoch, a)
}

func (h *hookedStore) Arrive(ctx context.Context, sessions []store.Session) ([]store.PlayerState, error) {
	states, err := h.Store.Arrive(ctx, sessions)
	if err == nil {
		h.add("arrive %s", names(sessions))
		h.run(h.after, "arrive")
	}
	return states, err
}

func (h *hookedStore) ArriveOver(ctx context.Context, arrivals []store.Arrival) ([]store.PlayerState, error) {
	h.run(h.before, "arrive")
	states, err := h.Store.ArriveOver(ctx, arrivals)
	if err == nil {
		h.add("arrive %s", names(sessionsOf(arrivals)))
		h.run(h.after, "arrive")
	}
	return states, err
}

func (h *hookedStore) Depart(ctx context.Context, grace time.Duration, sessions []store.Session) ([]error, error) {
	errs, err := h.Store.Depart(ctx, grace, sessions)
	if err == nil {
		h.add("depart %s", names(sessions))
	}
	return errs, err
}

// realm is a Keeper on a real Redis, or the embedded one.
type realm struct {
	*testing.T
	*journal
	ctx      context.Context
	keeper   *Keeper
	store    *hookedStore
	sessions *fakeSessions
	// lose makes history another one than the store's.
	lose func()
}

// onBackends runs a test on each kind of Redis.
func onBackends(t *testing.T, test func(r *realm)) {
	t.Helper()
	t.Parallel()
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		test(onRedis(t))
	})
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		r := newRealm(t, "", redistest.Realm(t))
		// Nobody else reaches it, so that its history stays: the store believes in another.
		r.lose = func() { r.store.Store.SetEpoch(1) }
		test(r)
	})
}

// onRedis is a realm on a real Redis, which can lose its history at any moment.
func onRedis(t *testing.T) *realm {
	t.Helper()
	server, name := redistest.Shared(t), redistest.Realm(t)
	r := newRealm(t, server.URL(), name)
	r.lose = func() {
		if _, err := server.Do(r.ctx, "DEL", "mm:{"+name+"}:meta"); err != nil {
			t.Error(err)
		}
	}
	return r
}

// backendHeartbeat is short, as these tests wait for it.
const backendHeartbeat = 200 * time.Millisecond

func newRealm(t *testing.T, url, name string) *realm {
	t.Helper()
	j := &journal{}
	r := &realm{T: t, journal: j, ctx: context.Background(), sessions: newSessions(j, backendHeartbeat)}
	r.store = &hookedStore{Store: openStore(t, url, name, "here"), journal: j, before: map[string]func(){}, after: map[string]func(){}}
	declare := func(ctx context.Context, epoch ident.Place) error {
		return r.store.DeclareWorldsIn(ctx, epoch, []store.DeclaredWorld{{Name: duel.Name, State: "open", Hash: "h"}})
	}
	r.keeper = New(Options{
		Store: r.store, Sessions: r.sessions, Worlds: &fakeWorlds{journal: j, declare: declare}, Log: zerolog.Nop(),
		Heartbeat: backendHeartbeat, Grace: testGrace,
	})
	r.store.OnLostHistory(r.keeper.Recover)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(r.ctx, 5*time.Second)
		defer cancel()
		r.keeper.Stop(ctx)
	})
	return r
}

func openStore(t *testing.T, url, realm string, instance ident.Instance) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{
		URL: url, Realm: realm, Instance: instance, PresenceTTL: testTTL, Drain: time.Second, Recovery: time.Millisecond,
		CallTimeout: 30 * time.Second, // under the race detector, on a busy machine, the embedded Redis takes its time
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func (r *realm) start() {
	r.Helper()
	if err := r.keeper.Start(r.ctx); err != nil {
		r.Fatal(err)
	}
}

// startArrivals starts no more of the keeper than it takes to arrive.
func (r *realm) startArrivals() {
	r.Helper()
	if err := r.keeper.arrivals.Start(r.ctx); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(r.keeper.arrivals.Stop)
}

// arrive has a player arrive as a new session, which is connected.
func (r *realm) arrive(player ident.Player) store.Session {
	r.Helper()
	var session store.Session
	r.eventually(string(player)+" arrives", func() bool { // a busy machine is as good as away
		st, err := r.keeper.Arrive(r.ctx, store.Session{Player: player}, isThere)
		if err == nil {
			session = r.sessions.enter(st)
		}
		return err == nil
	})
	return session
}

// join queues a session's player, which its session knows then.
func (r *realm) join(session store.Session) {
	r.Helper()
	worlds, revision, err := r.store.ReadWorlds(r.ctx)
	if err != nil || len(worlds) != 1 {
		r.Fatalf("worlds %v: %v", worlds, err)
	}
	rules := duel
	rules.Revision = worlds[0].Revision
	joined, _, err := r.store.JoinAndMatch(r.ctx, rules, 8, []store.Join{{Player: session.Player, Generation: session.Generation, Key: "~k"}}, "", nil)
	if err != nil || joined.Joined[0].Err != nil {
		r.Fatalf("join at revision %s: %+v, %v", revision, joined, err)
	}
	r.sessions.mu.Lock()
	defer r.sessions.mu.Unlock()
	record, err := store.ParseRecord(joined.Joined[0].Record)
	if err != nil {
		r.Fatal(err)
	}
	a := r.sessions.here[session]
	a.AsOf, a.Record = record.Version, joined.Joined[0].Record
	r.sessions.here[session] = a
}

// outcome is what a refresh of a session comes to: nil if it is live here.
func (r *realm) outcome(session store.Session) error {
	r.Helper()
	var outcome error
	r.eventually("an answer to a refresh", func() bool {
		errs, err := r.store.Refresh(r.ctx, []store.Session{session})
		if err == nil {
			outcome = errs[0]
		}
		return err == nil
	})
	return outcome
}

// eventually waits until something has come to be.
func (r *realm) eventually(what string, is func() bool) {
	r.Helper()
	ticker, deadline := time.NewTicker(5*time.Millisecond), time.After(time.Minute)
	defer ticker.Stop()
	for !is() {
		select {
		case <-ticker.C:
		case <-deadline:
			r.mu.Lock()
			defer r.mu.Unlock()
			r.Fatalf("still not: %s; happened so far:\n%s", what, tail(r.entries))
		}
	}
}

func tail(entries []string) string { return fmt.Sprint(entries[max(0, len(entries)-40):]) }
