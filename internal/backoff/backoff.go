// Package backoff says how long to wait before something is tried again. It knows nothing of what that is, and
// does not wait itself. Its functions may be called concurrently.
package backoff

import (
	"math/rand/v2"
	"time"
)

// After is the pause after so many attempts: base after the first, doubled with each further one up to limit, of
// which a random part of up to a half is left out, so that many who failed together do not come back together.
func After(attempts int, base, limit time.Duration) time.Duration {
	pause := base
	for i := 1; i < attempts && pause < limit; i++ {
		pause *= 2
	}
	pause = min(pause, limit)
	return pause - time.Duration(rand.Int64N(int64(pause)/2+1)) //nolint:gosec // G404: nobody gains by guessing it
}
