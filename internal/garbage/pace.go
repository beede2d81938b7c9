// Package garbage sets how much garbage may pile up before it is collected. A server of many idle sessions makes
// little: with a fixed share of what is live, either an idle one holds memory that nobody needs, or a busy one
// walks over all of its sessions several times a second.
package garbage

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// interval is how often the rate is looked at: often enough that a burst is noticed while it lasts.
	interval = 100 * time.Millisecond
	// between is about how long garbage may pile up while the server is busy.
	between = 2 * time.Second
	// Bounds of the setting, in percent of what is live: between two collections memory grows by so much.
	least, most = 10, 200
	// slowly is by how much the setting may go down in an interval: from end to end in some ten seconds, so that
	// moments without work change little.
	slowly = 0.97
	// step is by how much the setting has to change for it to be worth stopping the world for a moment.
	step = 1.25
)

// Pace adjusts the collector to what is allocated, until ctx ends. It is for the whole process, and must not be
// called where the setting is somebody's own (GOGC).
func Pace(ctx context.Context) {
	m := newMeter()
	set, wanted := float64(least), float64(least)
	debug.SetGCPercent(least)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		wanted = max(percent(m.read()), wanted*slowly, least)
		quiet := wanted == least && set > least
		if !quiet && wanted < set*step && wanted > set/step {
			continue
		}
		set = wanted
		debug.SetGCPercent(int(math.Round(set)))
		if quiet {
			collect()
		}
	}
}

// collect drops what a busy time left, which would otherwise stay until as much is allocated again. The runtime
// gives memory back by what it found in use when it collected before: so it needs to do so twice.
func collect() {
	runtime.GC()
	runtime.GC()
}

// percent is the setting for a rate in bytes a second and what is live in bytes.
func percent(rate, live float64) float64 {
	return min(max(100*rate*between.Seconds()/max(live, 1), least), most)
}

// meter reads what the runtime counts.
type meter struct {
	samples   []metrics.Sample
	allocated uint64
	at        time.Time
}

func newMeter() *meter {
	m := &meter{samples: []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"},
	}}
	m.read()
	return m
}

// read is how much was allocated a second since the last time, and what was live after the last collection: as
// the collector counts it, with the stacks.
func (m *meter) read() (rate, live float64) {
	metrics.Read(m.samples)
	now, allocated := time.Now(), m.samples[0].Value.Uint64()
	rate = float64(allocated-m.allocated) / now.Sub(m.at).Seconds()
	m.allocated, m.at = allocated, now
	return rate, float64(m.samples[1].Value.Uint64() + m.samples[2].Value.Uint64())
}
