package load

import (
	"context"
	"time"
)

// schedule is the moments at which things are to be done. They are fixed when it begins: what is late
// stays late, and moves nothing behind it.
type schedule struct {
	start time.Time
	rate  float64 // a second; 0 is all at the start
}

// at is the moment of the k-th thing, from 0.
func (s schedule) at(k int) time.Time {
	if s.rate == 0 {
		return s.start
	}
	return s.start.Add(time.Duration(float64(k) / s.rate * float64(time.Second)))
}

// wait waits for a moment, and reports whether ctx let it.
func wait(ctx context.Context, moment time.Time) bool {
	d := time.Until(moment)
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
