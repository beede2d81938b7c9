package client

import (
	"math/rand/v2"
	"time"
)

// Backoff is how long to wait between attempts to connect. The zero value is 500 ms to 30 s.
type Backoff struct {
	// Min is the wait after the first failure; each further one doubles it.
	Min time.Duration
	// Max bounds the wait.
	Max time.Duration
}

// withDefaults fills in what is not set. Half a second is below the grace for which a server keeps a
// place; half a minute keeps the clients of a server that is down for long from being its load.
func (b Backoff) withDefaults() Backoff {
	if b.Min <= 0 {
		b.Min = 500 * time.Millisecond
	}
	if b.Max <= 0 {
		b.Max = 30 * time.Second
	}
	b.Max = max(b.Max, b.Min)
	return b
}

// wait is how long to wait after failures in a row, the first being 0: somewhere in the upper half of
// the step, so that clients that were cut off together do not come back together.
func (b Backoff) wait(failures int) time.Duration {
	step := b.Min
	for range failures {
		if step >= b.Max/2 {
			step = b.Max
			break
		}
		step *= 2
	}
	return step/2 + rand.N(step/2+1) //nolint:gosec // G404: spreads load, guards nothing
}
