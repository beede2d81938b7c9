package store

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"muster/internal/redistest"
)

// BenchmarkJoinAndMatch has players join and be matched at once in calls of several sizes, and tells what CPU
// Redis needs for each of them.
func BenchmarkJoinAndMatch(b *testing.B) {
	for _, c := range []struct {
		world WorldRules
		joins int
	}{
		{duel("pairs", 0), 2}, {duel("pairs", 0), 50}, {duel("pairs", 0), 100}, {group("threes", 3), 60}, {group("fives", 5), 50},
	} {
		b.Run(fmt.Sprintf("world=%s/joins=%d", c.world.Name, c.joins), func(b *testing.B) {
			bundle := setup(b, only(redistest.Start(b)), 1, c.world)
			batches := make([][]Join, b.N)
			for i := range batches {
				for _, who := range bundle.arrive(0, players(fmt.Sprintf("p%d-", i), c.joins)...) {
					batches[i] = append(batches[i], Join{Player: who.Player, Generation: who.Generation, Key: "~12345678"})
				}
			}
			rules, matches := bundle.rules(c.world), 0
			before := bundle.redisCPU()
			b.ReportAllocs()
			b.ResetTimer()
			for _, joins := range batches {
				_, formed, err := bundle.stores[0].JoinAndMatch(bundle.ctx, rules, 8, joins, "", bundle.candidates(c.joins/c.world.Size))
				if err != nil {
					b.Fatal(err)
				}
				matches += formed.Matches
			}
			b.StopTimer()
			total := float64(b.N * c.joins)
			b.ReportMetric((bundle.redisCPU()-before)*1e6/total, "redis-µs/player")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/total, "µs/player")
			if want := b.N * c.joins / c.world.Size; matches < want {
				b.Errorf("%d matches, want %d", matches, want)
			}
		})
	}
}

// BenchmarkLeaveMatch has a hundred players leave their matches at once, and tells what CPU Redis needs for each.
func BenchmarkLeaveMatch(b *testing.B) {
	const n = 100
	w := duel("pairs", 0)
	bundle := setup(b, only(redistest.Start(b)), 1, w)
	var redis float64
	for b.Loop() {
		b.StopTimer()
		sessions, matches := bundle.inMatches(w, n)
		before := bundle.redisCPU()
		b.StartTimer()
		var wg sync.WaitGroup
		for i, who := range sessions {
			wg.Go(func() {
				if _, err := bundle.stores[0].LeaveMatch(bundle.ctx, who, matches[i]); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
		b.StopTimer()
		redis += bundle.redisCPU() - before
		b.StartTimer()
	}
	b.ReportMetric(redis*1e6/float64(b.N*n), "redis-µs/player")
}

// redisCPU is how much CPU the main thread of Redis has used so far, in seconds.
func (b *bundle) redisCPU() float64 {
	b.Helper()
	info, err := b.rdb.Info(b.ctx, "cpu").Result()
	if err != nil {
		b.Fatal(err)
	}
	var sum float64
	for line := range strings.Lines(info) {
		if _, text, ok := strings.Cut(strings.TrimSpace(line), "_main_thread:"); ok {
			seconds, err := strconv.ParseFloat(text, 64)
			if err != nil {
				b.Fatal(err)
			}
			sum += seconds
		}
	}
	return sum
}
