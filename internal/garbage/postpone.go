package garbage

import (
	"runtime"
	"runtime/debug"
)

// leastLive is what the runtime reckons with at least, in bytes: GOGC is a share of no less.
const leastLive = 4 << 20

// Postpone collects what there is, and has so many bytes of garbage pile up before the next time, at least as much as is
// live. It is for a program that measures others: its own collector, on cores that may be theirs too, would be taken for
// their delay. It is for the whole process, and must not be called where the setting is somebody's own (GOGC).
func Postpone(bytes uint64) {
	runtime.GC()
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	debug.SetGCPercent(max(100, int(100*bytes/max(heap.HeapAlloc, leastLive))))
}
