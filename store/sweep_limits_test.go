package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"muster/internal/ident"
	"muster/internal/redistest"
)

// sweepUpTo is a sweep by the first instance whose limit is not sweepLimit.
func (b *bundle) sweepUpTo(limit int, worlds []WorldRules) Swept {
	b.Helper()
	args := sweepArgs(0, testDrain, worlds)
	args[1] = limit
	r, err := b.stores[0].run(b.ctx, "sweep", args...)
	if err != nil {
		b.Fatal(err)
	}
	return sweptOf(r)
}

// sweepLimited sweeps until nothing is left to do, and fails if one call changed more than its limit. On a Redis of the
// test's own it also bounds what a call costs.
func (b *bundle) sweepLimited(own bool, limit int, worlds []WorldRules) (all Swept, calls int) {
	b.Helper()
	var worst cost
	for swept := (Swept{More: true}); swept.More; calls++ {
		if calls > 2000 {
			b.Fatal("the sweep does not end")
		}
		act := func() {
			swept = b.sweepUpTo(limit, worlds)
		}
		if own {
			worst = costlier(worst, b.cost(act))
		} else {
			act()
		}
		if n := swept.Parked + swept.Gone + swept.MatchesExpired + swept.TicketsExpired + swept.SeatsReleased; n > limit {
			b.Fatalf("one call changed %d: %+v", n, swept)
		}
		all.Parked += swept.Parked
		all.Gone += swept.Gone
		all.MatchesExpired += swept.MatchesExpired
		all.TicketsExpired += swept.TicketsExpired
		all.SeatsReleased += swept.SeatsReleased
	}
	bounded(b, "a sweep", worst, 1000+3*len(worlds), 1200+3*len(worlds))
	return all, calls
}

// streamed counts the stream's entries by event, and fails where one is there twice.
func (b *bundle) streamed() map[string]int {
	b.Helper()
	entries, err := b.rdb.XRange(b.ctx, b.key("st"), "-", "+").Result()
	if err != nil {
		b.Fatal(err)
	}
	seen, counts := map[string]bool{}, map[string]int{}
	for _, e := range entries {
		id := fmt.Sprint(e.Values["event"], e.Values["match"], e.Values["ticket"])
		if seen[id] {
			b.Fatalf("%s twice", id)
		}
		seen[id] = true
		counts[fmt.Sprint(e.Values["event"])]++
	}
	return counts
}

// TestSweep_ClosesManyWorldsAtOnce has one reload close 45 worlds in which 99 players each wait.
func TestSweep_ClosesManyWorldsAtOnce(t *testing.T) {
	const waiting = 99
	onBackends(t, func(t *testing.T, be backend) {
		worldCount := 45
		if be.embedded {
			worldCount = 10 // the embedded Redis is slow
		}
		worlds := worldsNamed(worldCount)
		b := setup(t, be, 1, worlds...)
		b.must(b.stores[0].tidyGroups(b.ctx, "g", ""))
		b.pipelined(func(pipe redis.Pipeliner) {
			for _, w := range worlds {
				b.enqueue(pipe, w.Name, waiting)
			}
		})
		var closed []DeclaredWorld
		for _, w := range worlds {
			closed = append(closed, DeclaredWorld{Name: w.Name, State: "closed", Hash: "h", Settings: "{}"})
		}
		if _, err := b.stores[0].DeclareWorlds(b.ctx, closed); err != nil {
			t.Fatal(err)
		}
		b.sweepLimited(false, sweepLimit, worlds)
		v := b.view()
		for p, r := range v.records {
			if !r.Idle() || len(v.queues) > 0 {
				t.Fatalf("%s waits still: %+v, in %d queues", p, r, len(v.queues))
			}
		}
		if got := b.streamed()["player_dequeued"]; got != worldCount*waiting {
			t.Errorf("%d tickets ended, want %d", got, worldCount*waiting)
		}
	})
}

// TestSweep_EveryDeadlineInManyWorlds lets deadlines of every kind pass at once: no call does much, each of them takes
// effect once, and all have at the end.
func TestSweep_EveryDeadlineInManyWorlds(t *testing.T) {
	t.Parallel()
	for name, be := range map[string]backend{"redis": only(redistest.Start(t)), "embedded": backends[1]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, be, 2)
			b.must(b.stores[0].tidyGroups(b.ctx, "g", ""))
			limit := sweepLimit
			if be.embedded {
				limit = 12 // the embedded Redis is slow
			}
			worlds, want := deadlines(b, limit)
			b.step(2*time.Hour + time.Minute)
			b.touch()
			b.renewOnly(0)
			all, calls := b.sweepLimited(!be.embedded, limit, worlds)
			if want.Due = nil; fmt.Sprint(all) != fmt.Sprint(want) {
				t.Errorf("swept %+v, want %+v", all, want)
			}
			if most := (25*2+12)*2 + 20; calls > most {
				t.Errorf("%d calls, want at most %d", calls, most)
			}
			v := b.view()
			if n := len(v.queues) + len(v.seats) + len(v.asking) + len(v.holders["b"]); n > 0 {
				t.Errorf("queues %v, seats %v, asking %v, holders %v", v.queues, v.seats, v.asking, v.holders["b"])
			}
			for p, r := range v.records {
				if (r.Match == "" || r.Match[0] != 'r') && !strings.HasPrefix(string(p), "silent-") { // these are away
					t.Fatalf("%s has record %+v", p, r)
				}
			}
			got := b.streamed()
			if got["player_dequeued"] != 51*limit || got["match_ended"]+got["match_cancelled"] != limit {
				t.Errorf("streamed %v", got)
			}
		})
	}
}

// TestSweep_NoKindStarves has one world use up the budget of each call: the other worlds and kinds have their turns.
func TestSweep_NoKindStarves(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := setup(t, be, 2)
		const limit = 12
		worlds, _ := deadlines(b, limit)
		b.step(2*time.Hour + time.Minute)
		b.touch()
		b.renewOnly(0)
		const turns = 2 * (50 + 5) // each has a full budget within two rounds
		for range turns {
			for _, busy := range []ident.World{"w00", "w25"} {
				b.pipelined(func(pipe redis.Pipeliner) { b.enqueue(pipe, busy, 2*limit) })
			}
			b.sweepUpTo(limit, worlds)
		}
		v := b.view()
		delete(v.queues, "w00")
		delete(v.queues, "w25")
		if len(v.queues) > 0 || len(v.seats) > 0 || len(v.asking) > 0 || len(v.holders["b"]) > 0 {
			t.Errorf("%d worlds have not been swept; seats %v, asking %v, silent players %v", len(v.queues), v.seats, v.asking, v.holders["b"])
		}
	})
}

// TestSweep_ByWhoServesNotAllWorlds has an instance sweep that does not serve every open world: those that it leaves out are
// swept by the next instance, however soon that comes.
func TestSweep_ByWhoServesNotAllWorlds(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		worlds := worldsNamed(2)
		b := setup(t, be, 2, worlds...)
		b.pipelined(func(pipe redis.Pipeliner) { b.enqueue(pipe, "w01", 3) })
		sweepBy := func(instance int, served ...WorldRules) Swept {
			swept, err := b.stores[instance].Sweep(b.ctx, time.Second, served)
			if err != nil {
				t.Fatal(err)
			}
			return swept
		}
		if swept := sweepBy(0, worlds[0]); !swept.Done || len(swept.Due) > 0 {
			t.Errorf("the instance that serves w00 swept %+v", swept)
		}
		if swept := sweepBy(1, worlds...); !slices.Equal(swept.Due, []ident.World{"w01"}) {
			t.Errorf("the instance that serves both swept %+v, want w01 due", swept)
		}
		if swept := sweepBy(0, worlds[0]); swept.Done {
			t.Errorf("all was swept, and is again: %+v", swept)
		}
	})
}

// TestSweep_WritesNothingIfItFails has a sweep meet a record that no script can have written, behind deadlines that it could
// have served: all is as it was, the stream too.
func TestSweep_WritesNothingIfItFails(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := setup(t, be, 2)
		b.must(b.stores[0].tidyGroups(b.ctx, "g", ""))
		worlds, _ := deadlines(b, 1)
		b.rdb.HSet(b.ctx, b.key("pl"), "w49-0000", "no record")
		b.rdb.HSet(b.ctx, b.key("meta"), "sweep_from", "world") // behind the turn of the silent instance, which ends a call
		b.step(2*time.Hour + time.Minute)
		b.touch()
		b.renewOnly(0)
		before := b.dump()
		for range 2 {
			if _, err := b.stores[0].Sweep(b.ctx, 0, worlds); err == nil {
				t.Fatal("the sweep did not fail")
			}
		}
		if diff := cmp.Diff(before, b.dump()); diff != "" {
			t.Errorf("it wrote: %s", diff)
		}
	})
}
