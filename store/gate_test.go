package store

import (
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"muster/internal/ident"
	"muster/internal/redistest"
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
			_, f, err := b.stores[0].JoinAndMatch(b.ctx, b.rules(w), 8, list, "", b.candidates(matches))
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
func crowdedWorld(t testing.TB, tickets int) *bundle {
	t.Helper()
	const batch = 1000
	w := duel("crowd", 0)
	bundle := setup(t, only(redistest.Start(t)), 1, w)
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

// pairsAmongACrowd has pairs join and be matched, each in a call of its own, and returns what all of them cost Redis.
func (b *bundle) pairsAmongACrowd(prefix string, calls int) (cpu float64, commands int) {
	b.Helper()
	var batches [][]Join
	for i := range calls {
		var list []Join
		for _, who := range b.arrive(0, players(fmt.Sprintf("%s%d-", prefix, i), 2)...) {
			list = append(list, Join{Player: who.Player, Generation: who.Generation, Key: "~12345678"})
		}
		batches = append(batches, list)
	}
	w := b.rules(duel("crowd", 0))
	before := b.redisCPU()
	commands = b.cost(func() {
		for _, list := range batches {
			_, formed, err := b.stores[0].JoinAndMatch(b.ctx, w, 8, list, "", b.candidates(1))
			if err != nil || formed.Matches != 1 {
				b.Fatalf("%d matches, %v", formed.Matches, err)
			}
		}
	}).commands
	return b.redisCPU() - before, commands
}

// TestGateCommandsAmongACrowd bounds what those who wait add to what a join costs, in commands: who is matched at once is
// never queued; among those who wait two others are read and taken out, and it is put in.
func TestGateCommandsAmongACrowd(t *testing.T) {
	t.Parallel()
	const calls, tickets, more = 200, 50_000, 4
	_, alone := crowdedWorld(t, 0).pairsAmongACrowd("new", calls)
	_, among := crowdedWorld(t, tickets).pairsAmongACrowd("new", calls)
	if per := float64(among-alone) / calls; per > more+0.1 {
		t.Errorf("%.2f commands more a call among %d than alone, at most %d", per, tickets, more)
	} else {
		t.Logf("%.2f commands more a call among %d than alone, at most %d", per, tickets, more)
	}
}

// BenchmarkMillionWaiting measures what CPU Redis needs for two joins and their match, of a call each, in a world where
// nobody waits and in one where a million do, by turns. It fails where the crowd makes it more than twice as much.
func BenchmarkMillionWaiting(b *testing.B) {
	const calls, bound = 200, 2
	worlds := map[int]*bundle{0: crowdedWorld(b, 0), 1_000_000: crowdedWorld(b, 1_000_000)}
	costs := map[int][]float64{}
	round := 0
	for b.Loop() {
		round++
		for tickets, bundle := range worlds {
			cpu, _ := bundle.pairsAmongACrowd(fmt.Sprintf("new%d-", round), calls)
			costs[tickets] = append(costs[tickets], cpu*1e6/(2*calls))
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
}
