package lua

import (
	"sync/atomic"
	"time"
)

// redisClock reckons Redis' time from its replies. It is never ahead of it but for the drift since the last, and behind by as
// long as a reply was on its way.
type redisClock struct {
	began time.Time
	// ahead is Redis' time, in Unix microseconds, less what has passed since began; 0 before the first reply.
	ahead atomic.Int64
}

// saw takes in the time of a reply, in Unix milliseconds.
func (c *redisClock) saw(ms int64) { c.ahead.Store(ms*1000 - time.Since(c.began).Microseconds()) }

// in is what Redis' clock says after a while, in Unix microseconds; 0 where that is not known.
func (c *redisClock) in(d time.Duration) int64 {
	ahead := c.ahead.Load()
	if ahead == 0 {
		return 0
	}
	return ahead + (time.Since(c.began) + d).Microseconds()
}
