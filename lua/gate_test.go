package lua

import (
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/internal/redistest"
)

// TestGateCommandsOfPairsThatWaitInFourWorlds bounds what a match costs Redis whose players' tickets have to be taken
// out of four queues: 50 players of each call wait in all of them when the last world matches them.
func TestGateCommandsOfPairsThatWaitInFourWorlds(t *testing.T) {
	t.Parallel()
	const calls, joins, limit = 8, 50, 3.5
	worlds := []WorldRules{duel("one", 0), duel("two", 0), duel("three", 0), duel("four", 0)}
	b := setup(t, only(redistest.Start(t)), 1, worlds...)
	total, formed, each := 0, 0, map[string]int{}
	for i := range calls {
		var list []Join
		for _, who := range b.arrive(0, players(fmt.Sprintf("p%d-", i), joins)...) {
			list = append(list, Join{Player: who.Player, Generation: who.Generation, Key: "~k"})
		}
		join := func(w WorldRules, matches int) {
			_, f, err := b.stores[0].JoinAndMatch(b.ctx, b.rules(w), 8, list, 0, b.candidates(matches))
			if err != nil {
				t.Fatal(err)
			}
			formed += f.Matches
		}
		for _, w := range worlds[:3] {
			join(w, 0)
		}
		spent := b.cost(func() { join(worlds[3], joins/2) })
		total += spent.commands
		for name, count := range spent.by {
			each[name] += count
		}
	}
	if formed != calls*joins/2 {
		t.Fatalf("%d matches of %d players", formed, calls*joins)
	}
	if per := float64(total) / float64(formed); per > limit {
		t.Errorf("%.2f commands a match, at most %.1f: %s", per, limit, counted(each))
	} else {
		t.Logf("%.2f commands a match: %s", per, counted(each))
	}
}

// crowdedWorld has as many players wait in a world as it is told, live and with records of their own, as if each
// had joined.
func crowdedWorld(b *testing.B, tickets int) *bundle {
	b.Helper()
	const batch = 1000
	w := duel("crowd", 0)
	bundle := setup(b, only(redistest.Start(b)), 1, w)
	epoch := bundle.stores[0].Epoch()
	for from := 0; from < tickets; from += batch {
		var queue []redis.Z
		var records []any
		bundle.pipelined(func(pipe redis.Pipeliner) {
			for i := from; i < min(from+batch, tickets); i++ {
				player := fmt.Sprintf("waiting%07d", i)
				place := ident.Place(testStart - 2_000_000 + i)
				queue = append(queue, redis.Z{Score: float64(place), Member: player})
				records = append(records, player, fmt.Sprintf("%d||||crowd=%d,1,~12345678,,,", place, place))
				pipe.Set(bundle.ctx, bundle.key("pr", player), fmt.Sprintf("L|%d|a|%d", epoch, place), testPresenceTTL)
			}
			pipe.ZAdd(bundle.ctx, bundle.key("q", "crowd", "1"), queue...)
			pipe.HSet(bundle.ctx, bundle.key("pl"), records...)
		})
	}
	return bundle
}

// BenchmarkMillionWaiting measures what CPU Redis needs for two joins and their match, of a call each, in a world where
// nobody waits and in one where a million do, by turns. It fails where the crowd makes it more than twice as much,
// or needs commands by the crowd.
func BenchmarkMillionWaiting(b *testing.B) {
	const calls, bound = 200, 2
	worlds := map[int]*bundle{0: crowdedWorld(b, 0), 1_000_000: crowdedWorld(b, 1_000_000)}
	costs, commands := map[int][]float64{}, map[int]int{}
	round := 0
	for b.Loop() {
		round++
		for tickets, bundle := range worlds {
			var batches [][]Join
			for i := range calls {
				var list []Join
				for _, who := range bundle.arrive(0, players(fmt.Sprintf("new%d-%d-", round, i), 2)...) {
					list = append(list, Join{Player: who.Player, Generation: who.Generation, Key: "~12345678"})
				}
				batches = append(batches, list)
			}
			w := bundle.rules(duel("crowd", 0))
			before := bundle.redisCPU()
			commands[tickets] = bundle.cost(func() {
				for _, list := range batches {
					_, formed, err := bundle.stores[0].JoinAndMatch(bundle.ctx, w, 8, list, 0, bundle.candidates(1))
					if err != nil || formed.Matches != 1 {
						b.Fatalf("%d matches, %v", formed.Matches, err)
					}
				}
			}).commands
			costs[tickets] = append(costs[tickets], (bundle.redisCPU()-before)*1e6/(2*calls))
		}
	}
	median := func(list []float64) float64 {
		slices.Sort(list)
		return list[len(list)/2]
	}
	empty, crowd := median(costs[0]), median(costs[1_000_000])
	b.ReportMetric(empty, "redis-µs/join-empty")
	b.ReportMetric(crowd, "redis-µs/join-crowd")
	b.ReportMetric(crowd/empty, "crowd/empty")
	if crowd > bound*empty {
		b.Errorf("a join costs %.1f µs among a million and %.1f µs alone, at most %d times as much", crowd, empty, bound)
	}
	// Who is matched at once is never queued. Among those who wait two others are read and taken out, and it is put in:
	// four commands a call, whatever the crowd.
	if commands[1_000_000] > commands[0]+4*calls+calls/10 {
		b.Errorf("%d commands among a million, %d alone", commands[1_000_000], commands[0])
	}
}
