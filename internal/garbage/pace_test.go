package garbage

import (
	"context"
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
	held := make([]byte, 64<<20) // so that there is something live
	ctx, cancel := context.WithCancel(t.Context())
	before := setting()
	over := make(chan struct{})
	go func() {
		defer close(over)
		Pace(ctx)
	}()
	// until works and waits, and returns how many megabytes it allocated a collection.
	until := func(what string, holds func() bool, work int, pause time.Duration) float64 {
		t.Helper()
		limit, first, done := time.Now().Add(60*time.Second), count(allCycles), 0
		for !holds() {
			if time.Now().After(limit) {
				t.Fatalf("%s: not within a minute", what)
			}
			if work > 0 {
				sink = make([]byte, work)
			}
			done += work
			<-time.After(pause)
		}
		return float64(done) / (1 << 20) / float64(max(1, count(allCycles)-first))
	}
	until("the runtime does not interfere", func() bool { return setting() == most }, 0, time.Millisecond)

	forced := count(forcedCycles)
	slow := until("little by little", func() bool { return count(forcedCycles) > forced+3 }, 100<<10, 10*time.Millisecond)
	if slow > 60 {
		t.Errorf("an idle server is collected every %v MB", slow)
	}
	allocated := time.Now().Add(3 * time.Second)
	fast := until("much", func() bool { return time.Now().After(allocated) }, 4<<20, 10*time.Millisecond)
	if fast < slow {
		t.Errorf("a busy server is collected every %v MB, an idle one every %v", fast, slow)
	}
	sink = nil
	forced = count(forcedCycles)
	until("what piled up is dropped", func() bool { return count(forcedCycles) >= forced+2 }, 0, time.Millisecond)
	cancel()
	<-over
	if setting() != before {
		t.Errorf("it leaves a setting of %d", setting())
	}
	held[0] = 1
}

// Cycles of the collector: all, and those that somebody asked for.
const allCycles, forcedCycles = "/gc/cycles/total:gc-cycles", "/gc/cycles/forced:gc-cycles"

func count(what string) uint64 {
	sample := []metrics.Sample{{Name: what}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// setting is the percent that the collector works by.
func setting() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
