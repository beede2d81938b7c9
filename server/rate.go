package server

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/musterhq/muster/protocol"
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
type verdict struct {
	kind verdictKind
	// retryAfter is how long it takes until a message passes again; 0 with ratePass.
	retryAfter time.Duration
}

type verdictKind int

const (
	ratePass      verdictKind = iota
	rateLimited               // to be refused
	rateExhausted             // to be refused, and the client has had its warnings
)

// newMessageRate allows perSecond messages a second, with a burst of twice that.
func newMessageRate(perSecond int) *messageRate {
	return &messageRate{limiter: rate.NewLimiter(rate.Limit(perSecond), 2*perSecond)}
}

// take judges a message that came at now; a message that does not pass costs nothing of what is allowed.
//
// Limited messages with at most one second between them are a run, whatever passes in between. A message
// is rateExhausted where it is limited [protocol.RateLimitedTimeout] or more after the first one of its
// run: the client has run into the limit for that long and did not pause for even a second.
func (m *messageRate) take(now time.Time) verdict {
	reservation := m.limiter.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait == 0 {
		return verdict{kind: ratePass}
	}
	reservation.CancelAt(now)
	if now.Sub(m.limitedAt) > limitedPause {
		m.runSince = now
	}
	m.limitedAt = now
	if now.Sub(m.runSince) >= protocol.RateLimitedTimeout {
		return verdict{rateExhausted, wait}
	}
	return verdict{rateLimited, wait}
}
