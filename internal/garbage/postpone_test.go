package garbage

import (
	"runtime"
	"runtime/debug"
	"testing"
)

var kept []byte

func TestNothingIsCollectedBeforeTheRoomIsTaken(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	const room = 64 << 20
	Postpone(room)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range room / 2 >> 20 {
		kept = make([]byte, 1<<20)
	}
	runtime.ReadMemStats(&after)
	if after.NumGC != before.NumGC {
		t.Errorf("collected %d times within half of the room", after.NumGC-before.NumGC)
	}
	for range 2 * room >> 20 {
		kept = make([]byte, 1<<20)
	}
	runtime.ReadMemStats(&after)
	if after.NumGC == before.NumGC {
		t.Error("not collected when the room was taken twice")
	}
}
