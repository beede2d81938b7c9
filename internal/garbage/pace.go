// Package garbage sets how much garbage may pile up before it is collected. A server of many idle sessions makes
// little: with a fixed share of what is live, either an idle one holds memory that nobody needs, or a busy one
// walks over all of its sessions several times a second.
package garbage

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// interval is how often the rate is looked at: often enough that a burst is noticed while it lasts.
	interval = 50 * time.Millisecond
	// looks is over how many intervals the rate is taken: an idle server allocates by fits and starts, for all sessions
	// whose heartbeats are due together, and a burst is over in half a second.
	looks = 10
	// between is about how long garbage may pile up while the server is busy.
	between = 2 * time.Second
	// Bounds of what may pile up, in percent of what is live.
	least, most = 10, 200
	// busy is from where on it is worth it to give back what piled up.
	busy = 2 * least
	// slowly is by how much what may pile up may go down in an interval: from end to end in some ten seconds, so that
	// moments without work change little.
	slowly = 0.985
)

// Pace collects garbage by how much is allocated, until ctx ends. The runtime's own setting is left at the most that may
// pile up, so that a burst that comes to an idle server is not interrupted: it would begin, by the setting for an idle one,
// with walks over all sessions. It is for the whole process, and must not be called where the setting is somebody's own
// (GOGC).
func Pace(ctx context.Context) {
	defer debug.SetGCPercent(debug.SetGCPercent(most))
	m := newMeter()
	allowed, piled := float64(least), false
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		rate, live, garbage := m.read()
		allowed = max(percent(rate, live), allowed*slowly, least)
		piled = piled || allowed > busy
		switch {
		case piled && allowed == least:
			collect()
			piled = false
		case 100*garbage > allowed*live:
			runtime.GC()
		}
	}
}

// collect drops what a busy time left, which would otherwise stay until as much is allocated again. A second collection
// finds what the first found dead only then, and what is free goes back to the system at once.
func collect() {
	runtime.GC()
	debug.FreeOSMemory()
}

// percent is how much may pile up at a rate in bytes a second, of what is live in bytes.
func percent(rate, live float64) float64 {
	return min(max(100*rate*between.Seconds()/max(live, 1), least), most)
}

// meter reads what the runtime counts.
type meter struct {
	samples []metrics.Sample
	past    [looks]look // the oldest is the next to be replaced
	next    int
	// collections is how many there were, and since how many bytes had been allocated when the last was seen.
	collections, since uint64
}

// look is how many bytes had been allocated at a time.
type look struct {
	allocated uint64
	at        time.Time
}

func newMeter() *meter {
	m := &meter{samples: []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/cycles/total:gc-cycles"},
	}}
	metrics.Read(m.samples)
	for i := range m.past {
		m.past[i] = look{m.samples[0].Value.Uint64(), time.Now()}
	}
	return m
}

// read is how much was allocated a second over the last looks, what was live after the last collection (as the
// collector counts it, with the stacks), and how much was allocated since: all in bytes.
func (m *meter) read() (rate, live, garbage float64) {
	metrics.Read(m.samples)
	allocated, collections := m.samples[0].Value.Uint64(), m.samples[3].Value.Uint64()
	if collections != m.collections {
		m.since, m.collections = allocated, collections
	}
	now, oldest := look{allocated, time.Now()}, &m.past[m.next]
	// The first looks go back to the start, which may be less far than the others: of that no burst is to be made.
	rate = float64(allocated-oldest.allocated) / max(now.at.Sub(oldest.at), looks*interval).Seconds()
	*oldest, m.next = now, (m.next+1)%looks
	return rate, float64(m.samples[1].Value.Uint64() + m.samples[2].Value.Uint64()), float64(allocated - m.since)
}
