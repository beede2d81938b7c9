package server

import (
	"testing"
	"time"

	"muster/protocol"
)

// taken sends n messages at the same moment and counts the verdicts.
func taken(m *messageRate, at time.Time, n int) map[verdict]int {
	counts := make(map[verdict]int)
	for range n {
		v, _ := m.take(at)
		counts[v]++
	}
	return counts
}

func TestRateAllowsABurstAndThenTheRate(t *testing.T) {
	t.Parallel()
	m, start := newMessageRate(10), time.Unix(1000, 0)
	if got := taken(m, start, 25); got[pass] != 20 || got[limited] != 5 {
		t.Errorf("burst: %v, want 20 to pass and 5 to be limited", got)
	}
	if got := taken(m, start.Add(time.Second), 25); got[pass] != 10 {
		t.Errorf("a second later: %v, want 10 to pass", got)
	}
}

func TestRateTellsWhenToRetry(t *testing.T) {
	t.Parallel()
	m, now := newMessageRate(10), time.Unix(1000, 0)
	taken(m, now, 20)
	for range 3 { // a refused message does not put the next one off
		if v, after := m.take(now); v != limited || after != 100*time.Millisecond {
			t.Fatalf("verdict %v for %v, want limited for 100ms", v, after)
		}
	}
	if v, after := m.take(now.Add(100 * time.Millisecond)); v != pass || after != 0 {
		t.Errorf("after that time: verdict %v for %v, want pass", v, after)
	}
}

func TestRateIsExhaustedAfterTenSecondsOfLimit(t *testing.T) {
	t.Parallel()
	m, start := newMessageRate(10), time.Unix(1000, 0)
	taken(m, start, 20)
	var exhaustedAt time.Duration
	for at := time.Duration(0); exhaustedAt == 0 && at < time.Minute; at += 10 * time.Millisecond {
		if v, _ := m.take(start.Add(at)); v == exhausted {
			exhaustedAt = at
		}
	}
	if late := exhaustedAt - protocol.RateLimitedTimeout; late < 0 || late > 100*time.Millisecond {
		t.Errorf("exhausted after %v, want %v", exhaustedAt, protocol.RateLimitedTimeout)
	}
}

func TestRateForgivesAClientThatPauses(t *testing.T) {
	t.Parallel()
	m, at := newMessageRate(10), time.Unix(1000, 0)
	for range 30 {
		got := taken(m, at, 50)
		if got[limited] == 0 {
			t.Fatal("no message was limited: the test proves nothing")
		}
		if got[exhausted] != 0 {
			t.Fatalf("a client that pauses is exhausted: %v", got)
		}
		at = at.Add(limitedPause + time.Millisecond)
	}
}
