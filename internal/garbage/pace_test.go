package garbage

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

func TestPercentGivesABusyServerTimeAndAnIdleOneLittleMemory(t *testing.T) {
	t.Parallel()
	const mega = 1 << 20
	for _, c := range []struct {
		name             string
		rate, live, want float64
	}{
		{"idle", mega / 10, 100 * mega, least},
		{"two seconds of what is allocated", 25 * mega, 100 * mega, 50},
		{"never more than twice what is live", 1000 * mega, 100 * mega, most},
		{"before the first collection", mega, 0, most},
		{"nothing at all", 0, 0, least},
	} {
		if got := percent(c.rate, c.live); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// sink keeps what is allocated from being left out.
var sink []byte

func TestPaceFollowsWhatIsAllocated(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	held := make([]byte, 64<<20) // so that there is something live
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		Pace(ctx)
	}()
	until := func(what string, holds func(percent uint64) bool, work func()) {
		t.Helper()
		limit := time.Now().Add(60 * time.Second)
		for !holds(setting()) {
			if time.Now().After(limit) {
				t.Fatalf("%s: it is %d", what, setting())
			}
			work()
		}
	}
	until("low at first", func(p uint64) bool { return p == least }, func() { <-time.After(time.Millisecond) })
	until("high while it is busy", func(p uint64) bool { return p > 2*least }, func() { sink = make([]byte, 1<<20) })
	sink = nil
	collections := count()
	until("low again", func(p uint64) bool { return p == least && count() > collections }, func() { <-time.After(time.Millisecond) })
	cancel()
	<-over
	held[0] = 1
}

// count is how often garbage was collected because somebody asked for it.
func count() uint64 {
	sample := []metrics.Sample{{Name: "/gc/cycles/forced:gc-cycles"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// setting is the percent that the collector works by.
func setting() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
