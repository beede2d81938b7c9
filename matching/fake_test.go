package matching

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/ident"
	"muster/store"
)

// sent is one JoinAndMatch as the store got it.
type sent struct {
	at         time.Time
	deadline   time.Time
	rules      store.WorldRules
	joins      []store.Join
	after      store.Cursor
	candidates []store.Candidate
}

// fakeStore answers by a function and remembers what it was asked. Only the test's bubble may use it.
type fakeStore struct {
	// answer is given the call and how many were before it; by default joins succeed and nothing is formed.
	answer func(n int, s sent) (store.JoinResult, store.Formed, error)
	// end answers EndMatch, sweep Sweep; nil is success.
	end   func(ident.Match) error
	sweep func(n int) (store.Swept, error)

	mu     sync.Mutex // guards what follows, and answer
	sent   []sent
	ended  []ident.Match
	sweeps []time.Time
}

func (f *fakeStore) JoinAndMatch(ctx context.Context, w store.WorldRules, _ int, joins []store.Join, after store.Cursor,
	candidates []store.Candidate) (store.JoinResult, store.Formed, error) {
	deadline, _ := ctx.Deadline()
	s := sent{time.Now(), deadline, w, slices.Clone(joins), after, candidates}
	f.mu.Lock()
	n := len(f.sent)
	f.sent = append(f.sent, s)
	answer := f.answer
	f.mu.Unlock()
	if answer == nil {
		return joinedAll(s), store.Formed{}, nil
	}
	return answer(n, s)
}

func (f *fakeStore) EndMatch(_ context.Context, match ident.Match, reason store.EndReason) error {
	f.mu.Lock()
	f.ended = append(f.ended, match)
	f.mu.Unlock()
	if reason != store.Expired {
		return store.ErrNoSuchMatch
	}
	if f.end == nil {
		return nil
	}
	return f.end(match)
}

func (f *fakeStore) Sweep(context.Context, time.Duration, []store.WorldRules) (store.Swept, error) {
	f.mu.Lock()
	n := len(f.sweeps)
	f.sweeps = append(f.sweeps, time.Now())
	f.mu.Unlock()
	if f.sweep == nil {
		return store.Swept{}, nil
	}
	return f.sweep(n)
}

// calls are the calls so far.
func (f *fakeStore) calls() []sent {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.sent)
}

// joinedAll answers every join with a ticket.
func joinedAll(s sent) store.JoinResult {
	result := store.JoinResult{Now: 1000, Joined: make([]store.Joined, len(s.joins))}
	for i := range result.Joined {
		result.Joined[i] = store.Joined{Place: ident.Place(i + 1), Position: i + 1, Size: len(s.joins)}
	}
	return result
}

// refusedAll answers every join with an error.
func refusedAll(s sent, err error) store.JoinResult {
	result := joinedAll(s)
	for i := range result.Joined {
		result.Joined[i] = store.Joined{Err: err}
	}
	return result
}

func groupWorld(name ident.World, size int) World {
	return World{
		WorldRules: store.WorldRules{
			Name: name, Revision: 1, Size: size, Scan: 32, MatchHold: time.Minute, TicketTTL: time.Hour, Tick: time.Second,
		},
		Mode: Group, State: Open, Rooms: []string{"room1", "room2"}, PartyMax: 1,
	}
}

func duelWorld(name ident.World) World {
	w := groupWorld(name, 2)
	w.Mode = Duel
	return w
}

// startFake starts a Matching on a fake store, with sweeps so rare that they are not seen, and waits until
// the pokes of the beginning are over; they are forgotten.
func startFake(t *testing.T, fake *fakeStore, change func(*Options), worlds ...World) *Matching {
	t.Helper()
	opts := Options{
		Store: fake, WorldsPerPlayer: func() int { return 8 }, Logger: zerolog.Nop(), SweepInterval: 24 * time.Hour,
		Reload: func(context.Context) error { return nil },
	}
	if change != nil {
		change(&opts)
	}
	answer := fake.answer
	fake.answer = nil
	m := New(opts)
	m.SetWorlds(1, worlds)
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Stop)
	synctest.Wait()
	fake.mu.Lock()
	defer fake.mu.Unlock()
	fake.sent, fake.answer = nil, answer
	return m
}

type outcome struct {
	JoinResult
	err error
}

// join joins a player and returns where the outcome will be, once the join waits.
func join(t *testing.T, m *Matching, world ident.World, j store.Join) <-chan outcome {
	t.Helper()
	done := make(chan outcome, 1)
	go func() {
		result, err := m.Join(t.Context(), world, j)
		done <- outcome{result, err}
	}()
	synctest.Wait()
	return done
}
