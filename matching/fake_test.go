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
	"muster/lua"
)

// sent is one JoinAndMatch as the store got it.
type sent struct {
	at         time.Time
	deadline   time.Time
	rules      lua.WorldRules
	joins      []lua.Join
	after      lua.Cursor
	candidates []lua.Candidate
}

// fakeStore answers by a function and remembers what it was asked. Only the test's bubble may use it.
type fakeStore struct {
	// answer is given the call and how many were before it; by default joins succeed and nothing is formed.
	answer func(n int, s sent) (lua.JoinResult, lua.Formed, error)
	// end answers EndMatch, sweep Sweep; nil is success.
	end   func(ident.Match) error
	sweep func(n int) (lua.Swept, error)

	mu     sync.Mutex // guards what follows, and answer
	sent   []sent
	ended  []ident.Match
	sweeps []time.Time
}

func (f *fakeStore) JoinAndMatch(ctx context.Context, w lua.WorldRules, _ int, joins []lua.Join, after lua.Cursor,
	candidates []lua.Candidate) (lua.JoinResult, lua.Formed, error) {
	deadline, _ := ctx.Deadline()
	s := sent{time.Now(), deadline, w, slices.Clone(joins), after, candidates}
	f.mu.Lock()
	n := len(f.sent)
	f.sent = append(f.sent, s)
	answer := f.answer
	f.mu.Unlock()
	if answer == nil {
		return joinedAll(s), lua.Formed{}, nil
	}
	return answer(n, s)
}

func (f *fakeStore) EndMatch(_ context.Context, match ident.Match, reason lua.EndReason) error {
	f.mu.Lock()
	f.ended = append(f.ended, match)
	f.mu.Unlock()
	if reason != lua.Expired {
		return lua.ErrNoSuchMatch
	}
	if f.end == nil {
		return nil
	}
	return f.end(match)
}

func (f *fakeStore) Sweep(context.Context, time.Duration, []lua.WorldRules) (lua.Swept, error) {
	f.mu.Lock()
	n := len(f.sweeps)
	f.sweeps = append(f.sweeps, time.Now())
	f.mu.Unlock()
	if f.sweep == nil {
		return lua.Swept{}, nil
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
func joinedAll(s sent) lua.JoinResult {
	result := lua.JoinResult{Now: 1000, Joined: make([]lua.Joined, len(s.joins))}
	for i := range result.Joined {
		result.Joined[i] = lua.Joined{Place: ident.Place(i + 1), Position: i + 1, Size: len(s.joins)}
	}
	return result
}

// refusedAll answers every join with an error.
func refusedAll(s sent, err error) lua.JoinResult {
	result := joinedAll(s)
	for i := range result.Joined {
		result.Joined[i] = lua.Joined{Err: err}
	}
	return result
}

func groupWorld(name ident.World, size int) World {
	return World{
		WorldRules: lua.WorldRules{
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
func startFake(t *testing.T, store *fakeStore, change func(*Options), worlds ...World) *Matching {
	t.Helper()
	opts := Options{
		Store: store, WorldsPerPlayer: func() int { return 8 }, Logger: zerolog.Nop(), SweepInterval: 24 * time.Hour,
		Reload: func(context.Context) error { return nil },
	}
	if change != nil {
		change(&opts)
	}
	answer := store.answer
	store.answer = nil
	m := New(opts)
	m.SetWorlds(1, worlds)
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Stop)
	synctest.Wait()
	store.mu.Lock()
	defer store.mu.Unlock()
	store.sent, store.answer = nil, answer
	return m
}

type outcome struct {
	JoinResult
	err error
}

// join joins a player and returns where the outcome will be, once the join waits.
func join(t *testing.T, m *Matching, world ident.World, j lua.Join) <-chan outcome {
	t.Helper()
	done := make(chan outcome, 1)
	go func() {
		result, err := m.Join(t.Context(), world, j)
		done <- outcome{result, err}
	}()
	synctest.Wait()
	return done
}
