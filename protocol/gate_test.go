package protocol_test

import (
	"testing"

	"muster/internal/race"
	"muster/protocol"
)

// TestGateAllocationsOfFrames holds what is decoded and encoded for each join to a number of allocations, which
// no machine changes.
func TestGateAllocationsOfFrames(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates; make gate runs it without")
	}
	join := []byte(`{"type":"join","id":"join","world":"pairs"}`)
	joined := &protocol.Joined{World: "pairs", TicketID: "pairs.1", Position: 1, QueueSize: 1, Party: protocol.List[string]{}}
	match := &protocol.MatchCompleted{Match: complete()}
	for _, c := range []struct {
		name  string
		bound float64
		do    func()
	}{
		{"decode join", 20, func() {
			if _, err := protocol.DecodeRequest(join); err != nil {
				t.Fatal(err)
			}
		}},
		{"fingerprint of a plain join", 0, func() { (&protocol.Join{World: "pairs"}).Fingerprint() }},
		{"encode joined", 6, func() { protocol.Encode(joined) }},
		{"encode match_complete", 10, func() { protocol.Encode(match) }},
	} {
		if got := testing.AllocsPerRun(100, c.do); got > c.bound {
			t.Errorf("%s: %.0f allocations, at most %.0f", c.name, got, c.bound)
		} else {
			t.Logf("%s: %.0f allocations, at most %.0f", c.name, got, c.bound)
		}
	}
}
