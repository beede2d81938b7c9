package server

import (
	"time"

	"golang.org/x/time/rate"

	"muster/protocol"
)

// limitedPause is the longest time between two limited messages that still belong to one run of them.
const limitedPause = time.Second

// messageRate bounds the messages of one session. It is for the session's reader alone: not safe for
// concurrent use.
type messageRate struct {
	limiter *rate.Limiter
	// runSince and limitedAt are when the first and the last message of the present run were limited.
	runSince, limitedAt time.Time
}

// verdict is what becomes of a message.
type verdict int

const (
	pass      verdict = iota
	limited           // to be refused
	exhausted         // to be refused, and the client has had its warnings
)

// newMessageRate allows perSecond messages a second, with a burst of twice that.
func newMessageRate(perSecond int) *messageRate {
	return &messageRate{limiter: rate.NewLimiter(rate.Limit(perSecond), 2*perSecond)}
}

// take judges a message that came at now; retryAfter is how long it takes until one passes again, 0 with
// pass. A message that does not pass costs nothing of what is allowed.
//
// Limited messages with at most one second between them are a run, whatever passes in between. The verdict
// is exhausted where a message is limited [protocol.RateLimitedTimeout] or more after the first one of its
// run: the client has run into the limit for that long and did not pause for even a second.
func (m *messageRate) take(now time.Time) (v verdict, retryAfter time.Duration) {
	reservation := m.limiter.ReserveN(now, 1)
	retryAfter = reservation.DelayFrom(now)
	if retryAfter == 0 {
		return pass, 0
	}
	reservation.CancelAt(now)
	if now.Sub(m.limitedAt) > limitedPause {
		m.runSince = now
	}
	m.limitedAt = now
	if now.Sub(m.runSince) >= protocol.RateLimitedTimeout {
		return exhausted, retryAfter
	}
	return limited, retryAfter
}
