package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"muster/internal/ident"
	"muster/internal/redistest"
)

// keepApart notes of pairs of players that they have met in a world.
func (b *bundle) keepApart(w WorldRules, pairs ...[2]ident.Player) {
	b.Helper()
	b.pipelined(func(pipe redis.Pipeliner) {
		for _, pair := range pairs {
			pipe.Set(b.ctx, b.key("rc", fmt.Sprintf("%s,%s,%s", w.Name, min(pair[0], pair[1]), max(pair[0], pair[1]))), 1, w.RematchCooldown)
		}
	})
}

// allMet are the pairs of players of whom each has met each.
func allMet(players []ident.Player) (pairs [][2]ident.Player) {
	for i, p := range players {
		for _, other := range players[:i] {
			pairs = append(pairs, [2]ident.Player{other, p})
		}
	}
	return pairs
}

// walk has an instance form matches until there is nothing more to do, and returns the calls that it took.
func (b *bundle) walk(instance int, w WorldRules, candidates int, each func(Formed)) (calls int) {
	b.Helper()
	for formed := (Formed{More: true}); formed.More; calls++ {
		if calls == 1000 {
			b.Fatal("the walk does not end")
		}
		formed = b.formWith(instance, w, formed.After, b.candidates(candidates))
		each(formed)
	}
	return calls
}

// TestDuel_OldestMeetsNewcomers has players wait who have all met. Each newcomer meets the one of them that waits longest.
func TestDuel_OldestMeetsNewcomers(t *testing.T) {
	for n, newcomers := range map[int]int{11: 20, 16: 20, 130: 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			onBackends(t, func(t *testing.T, be backend) {
				w := duel("duel", time.Hour)
				b := setup(t, be, 1, w)
				w = b.rules(w)
				old := players("old", n)
				for batch := range slices.Chunk(old, 100) {
					b.waiting(0, w, batch...)
				}
				b.keepApart(w, allMet(old)...)
				b.walk(0, w, 25, func(f Formed) {
					if f.Matches > 0 {
						t.Errorf("formed %+v of players who have all met", f)
					}
				})
				for i, p := range players("new", min(n, newcomers)) {
					who := b.arrive(0, p)[0]
					join := []Join{{Player: p, Generation: who.Generation, Key: "~k", Fingerprint: "f"}}
					_, formed, err := b.stores[0].JoinAndMatch(b.ctx, w, 8, join, "", b.candidates(2))
					for err == nil && formed.More {
						_, formed, err = b.stores[0].JoinAndMatch(b.ctx, w, 8, nil, formed.After, b.candidates(2))
					}
					if err != nil {
						t.Fatal(err)
					}
					match := b.view().matches[b.view().records[p].Match]
					if want := []ident.Player{old[i], p}; !slices.Equal(match.Players, want) {
						t.Fatalf("%s is in a match of %v, want %v", p, match.Players, want)
					}
				}
			})
		})
	}
}

// TestDuel_CallsAreBounded has a hundred players wait of whom each has met each.
func TestDuel_CallsAreBounded(t *testing.T) {
	t.Parallel()
	w := duel("duel", time.Hour)
	b := setup(t, only(redistest.Start(t)), 1, w)
	waiting := players("p", 100)
	b.waiting(0, w, waiting...)
	b.keepApart(w, allMet(waiting)...)
	var worst cost
	formed, calls := Formed{More: true}, 0
	for ; formed.More && calls < 20; calls++ {
		worst = costlier(worst, b.cost(func() { formed = b.formWith(0, w, formed.After, b.candidates(25)) }))
	}
	if formed.More || formed.Matches > 0 {
		t.Errorf("formed %+v after %d calls", formed, calls)
	}
	bounded(t, "a call", worst, 200, 1700)
	t.Logf("%d calls, at most %v", calls, worst)
}

// TestDuel_WalkIsExact compares the pairs that a walk through a queue forms with those that the waiting players form by
// their order, for queues that are longer than one call looks.
func TestDuel_WalkIsExact(t *testing.T) {
	t.Parallel()
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 0))
			w := duel("duel", time.Hour)
			b := setup(t, only(redistest.Shared(t)), 1, w)
			waiting := players("p", 2+random.IntN(150))
			for batch := range slices.Chunk(waiting, 100) {
				b.waiting(0, w, batch...)
			}
			met := 70 + random.IntN(31) // percent
			pairs := slices.DeleteFunc(allMet(waiting), func([2]ident.Player) bool { return random.IntN(100) >= met })
			b.keepApart(w, pairs...)
			expected := expectedMatches(b.view(), w, len(waiting))
			calls := b.walk(0, w, 1+random.IntN(25), func(Formed) {})
			var got [][]ident.Player
			for _, m := range b.view().matches {
				got = append(got, m.Players)
			}
			slices.SortFunc(got, func(x, y []ident.Player) int { return slices.Compare(x, y) })
			if !slices.EqualFunc(got, expected, slices.Equal) {
				t.Errorf("matches of %v, want %v", got, expected)
			}
			t.Logf("%d players, %d%% of whose pairs have met: %d matches by %d calls", len(waiting), met, len(got), calls)
		})
	}
}

// TestRematchCooldown_BeginsWithAMatch has the same two proposed to each other until a match of them stands: only that
// keeps them apart, and it is kept for as long as their world said when they were proposed.
func TestRematchCooldown_BeginsWithAMatch(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w := duel("duel", time.Hour)
		w.ReadyCheck, w.Allocate = time.Minute, true
		b := setup(t, be, 1, w)
		b.waiting(0, w, "x", "y")
		propose := func(id ident.Match) {
			t.Helper()
			b.walk(0, w, 1, func(Formed) {})
			if m := b.view().matches[id]; m.State != Proposed {
				t.Fatalf("%s is %+v, and apart are %v", id, m, b.view().apart)
			}
		}
		accept := func(id ident.Match) {
			t.Helper()
			for _, p := range []ident.Player{"x", "y"} {
				_, err := b.stores[0].AcceptMatch(b.ctx, b.who[p], id)
				b.wantErr("accept", err, nil)
			}
		}
		propose("m1")
		b.pass(2*time.Minute, w) // nobody was shown it, so both are back
		propose("m2")
		accept("m2")
		claimed, err := b.stores[0].ClaimAllocations(b.ctx, 1, time.Minute)
		b.wantErr("claim", err, nil)
		b.wantErr("fail", b.stores[0].FailAllocation(b.ctx, claimed[0].Match.ID, claimed[0].Attempt), nil)
		b.pass(time.Minute, w) // the allocator is not asked for a while
		propose("m3")
		accept("m3")
		claimed, err = b.stores[0].ClaimAllocations(b.ctx, 1, time.Minute)
		b.wantErr("claim", err, nil)
		b.wantErr("complete", b.stores[0].CompleteAllocation(b.ctx, claimed[0].Match.ID, claimed[0].Attempt, []byte(`"s"`)), nil)
		until, err := b.rdb.Get(b.ctx, b.key("rc", "duel,x,y")).Int64()
		b.wantErr("get", err, nil)
		if want := b.now/1000 + w.RematchCooldown.Milliseconds(); until != want {
			t.Errorf("they are kept apart until %d, want %d", until, want)
		}
	})
}

// TestDuel_SeatChecksAreBounded has a hundred players wait beside as many open rooms as a call reads, none of which they may
// enter: a call looks up a bounded number of pairs.
func TestDuel_SeatChecksAreBounded(t *testing.T) {
	t.Parallel()
	const roomsRead = 32
	w := duel("duel", time.Hour)
	b := setup(t, only(redistest.Start(t)), 1, w)
	seated, waiting := players("seated", 2*roomsRead), players("waits", 100)
	b.waiting(0, w, seated...)
	for formed := 0; formed < roomsRead; {
		formed += b.form(0, w, 25).Matches
	}
	for i := range roomsRead {
		_, err := b.stores[0].OpenSeats(b.ctx, ident.Match(fmt.Sprint("m", i+1)), 1, nil)
		b.wantErr("open", err, nil)
	}
	b.waiting(0, w, waiting...)
	met := allMet(waiting)
	for _, p := range waiting {
		for _, other := range seated {
			met = append(met, [2]ident.Player{p, other})
		}
	}
	b.keepApart(w, met...)
	var worst cost
	formed, calls := Formed{More: true}, 0
	for ; formed.More && calls < 40; calls++ {
		worst = costlier(worst, b.cost(func() { formed = b.formWith(0, w, formed.After, b.candidates(25)) }))
	}
	if formed.More || formed.Matches+formed.Players > 0 {
		t.Errorf("formed %+v after %d calls", formed, calls)
	}
	bounded(t, "a call", worst, 700, 1400)
	t.Logf("%d calls, at most %v", calls, worst)
}
