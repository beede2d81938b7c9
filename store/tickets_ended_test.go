package store

import (
	"maps"
	"testing"
	"time"
)

// Each ticket that ends without a match is counted once, under its reason; a player who is gone without one is not.
func TestTicketsEnded_AreCountedByReason(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := setup(t, be, 2, trio, pairs, apart, check2)
		got := map[string]int{}
		for _, s := range b.stores {
			s.opts.TicketsEnded = func(reason string, n int) { got[reason] += n }
		}
		want := func(want map[string]int) {
			t.Helper()
			if !maps.Equal(got, want) {
				t.Errorf("counted %v, want %v", got, want)
			}
		}
		b.proposed(check2)
		b.decline("y")
		want(map[string]int{"declined": 1})

		_, err := b.stores[0].RemoveFromQueue(b.ctx, b.who["x"]) // whose ticket ends as asked
		b.must(err)
		waiting := b.waiting(0, trio, "w")
		b.join(0, apart, waiting...)
		gone := append(waiting, b.arrive(0, "idle")...)
		if _, err := b.stores[0].Depart(b.ctx, testGrace, gone); err != nil {
			t.Fatal(err)
		}
		for passed := time.Duration(0); passed <= testGrace; passed += time.Second { // no gap that makes it calm
			b.step(time.Second)
			b.renew()
		}
		b.sweep()
		want(map[string]int{"declined": 1, "presence_lost": 2})

		b.waiting(0, trio, "v", "u")
		b.declare(pairs, apart, check2)
		b.sweep()
		want(map[string]int{"declined": 1, "presence_lost": 2, "world_closed": 2})
	})
}
