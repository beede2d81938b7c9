package store

import (
	"sync"
	"time"
)

// redisClock estimates Redis' clock from the times in its replies. Redis read its clock after the call was sent and before the
// reply was read, so each reply bounds the distance between the two clocks from both sides. The estimate is the highest lower
// bound, after Cristian ("Probabilistic clock synchronization", 1989): it is never ahead of Redis, and a reply that was read
// late, as on a busy machine, does not set it back.
type redisClock struct {
	began time.Time

	mu sync.Mutex
	// ahead is Redis' time, in Unix microseconds, minus the time since began: a lower bound. 0 before the first reply.
	ahead int64
}

// observe takes the time of a reply, in Unix milliseconds, to a call that was sent at a time. If Redis' clock was set back the
// reply contradicts the bound, and replaces it.
func (c *redisClock) observe(sent time.Time, ms int64) {
	earliest := ms*1000 - time.Since(c.began).Microseconds()
	latest := (ms+1)*1000 - sent.Sub(c.began).Microseconds()
	c.mu.Lock()
	defer c.mu.Unlock()
	if earliest > c.ahead || c.ahead > latest {
		c.ahead = earliest
	}
}

// after returns what Redis' clock shows at least after a duration, in Unix microseconds; 0 before the first reply.
func (c *redisClock) after(d time.Duration) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ahead == 0 {
		return 0
	}
	return c.ahead + (time.Since(c.began) + d).Microseconds()
}
