package hub

import (
	"testing"
	"time"

	"muster/store"
)

func TestEstimate(t *testing.T) {
	t.Parallel()
	const now = int64(1_800_000_000_000)
	fresh := store.MeanWait{Wait: 2 * time.Second, At: now - 1000}
	for name, c := range map[string]struct {
		mean   store.MeanWait
		waited time.Duration
		want   int64 // -1 is nil
	}{
		"nothing was formed":        {store.MeanWait{}, 0, -1},
		"nothing was formed lately": {store.MeanWait{Wait: time.Second, At: now - time.Hour.Milliseconds()}, 0, -1},
		"just joined":               {fresh, 0, 2000},
		"waited a while":            {fresh, 500 * time.Millisecond, 1500},
		"waited longer than others": {fresh, time.Hour, 0},
		"the clock stepped back":    {store.MeanWait{Wait: 2 * time.Second, At: now + 3_600_000}, 0, 2000},
	} {
		got := Estimate(c.mean, now, c.waited.Milliseconds())
		if c.want < 0 && got != nil || c.want >= 0 && (got == nil || *got != c.want) {
			t.Errorf("%s: %v, want %d", name, got, c.want)
		}
	}
}
