package store

import (
	"fmt"
	"testing"
	"time"

	"muster/internal/ident"
)

// Matches that were asked for together fail together: that is one failure of the allocator, and not eight in a row.
func TestPause_FailuresWithinItCountOnce(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w := group("arena", 1)
		w.Allocate = true
		b := setup(t, be, 1, w)
		const matches = 10
		for i := range matches {
			b.waiting(0, w, ident.Player(fmt.Sprint("p", i)))
		}
		if f := b.form(0, w, matches); f.Matches != matches {
			t.Fatalf("formed %+v", f)
		}
		claimed, err := b.stores[0].ClaimAllocations(b.ctx, matches, time.Minute)
		b.must(err)
		fail := func() {
			b.must(b.stores[0].FailAllocation(b.ctx, claimed[0].Match.ID, 1))
			claimed = claimed[1:]
		}
		opensIn := func() time.Duration { return b.form(0, w, 1).OpensIn }
		for range 8 {
			fail()
			b.step(50 * time.Millisecond)
		}
		if got := opensIn(); got <= 0 || got > 500*time.Millisecond {
			t.Errorf("after eight failures in 0.4 s the world is open in %s, want 0.5 s after the first", got)
		}
		b.step(500 * time.Millisecond)
		for _, want := range []time.Duration{time.Second, 2 * time.Second} {
			fail()
			if got := opensIn(); got < want || got > want+time.Millisecond {
				t.Errorf("after a failure behind the pause the world is open in %s, want %s", got, want)
			}
			b.step(want)
		}
	})
}
