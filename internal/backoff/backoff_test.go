package backoff

import (
	"testing"
	"time"
)

func TestPausesDoubleUpToTheLimitAndAreSpread(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]time.Duration{0: 8, 1: 8, 2: 16, 3: 32, 4: 50, 1000: 50} {
		want *= time.Second
		least, most := time.Hour, time.Duration(0)
		for range 1000 {
			pause := After(attempts, 8*time.Second, 50*time.Second)
			least, most = min(least, pause), max(most, pause)
		}
		if least < want/2 || most > want || most-least < want/3 {
			t.Errorf("after %d attempts from %v to %v, want within %v and %v", attempts, least, most, want/2, want)
		}
	}
}
