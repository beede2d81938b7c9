package allocation

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	// backoffBase is the longest pause after the first attempt; it doubles with each, up to backoffCap.
	backoffBase = 200 * time.Millisecond
	backoffCap  = 10 * time.Second
	// retryAfterCap is the longest pause that an allocator can ask for: players wait for it.
	retryAfterCap = 30 * time.Second
)

// pause is how long to wait after an attempt, of which the first is 1: between half of what the attempt's number
// says and all of it, so that matches that failed together do not come back together. What the allocator
// asked for is the least.
func pause(attempt int, asked time.Duration) time.Duration {
	longest := backoffCap
	if doublings := max(attempt, 1) - 1; doublings < 10 { // 2^10 is beyond the cap
		longest = min(backoffBase<<doublings, backoffCap)
	}
	jittered := longest/2 + rand.N(longest/2+1) //nolint:gosec // G404: jitter need not be unpredictable
	return max(jittered, min(asked, retryAfterCap))
}

// retryAfter is what a reply's header of that name asks for; 0 where there is none that makes sense. A date is
// taken relative to the reply's own, so that the clocks of the two machines need not agree.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		return min(max(time.Duration(seconds), 0), retryAfterCap/time.Second) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(until.Sub(now), 0), retryAfterCap)
}
