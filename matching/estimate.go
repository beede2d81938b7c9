package matching

import (
	"time"

	"github.com/musterhq/muster/lua"
)

// EstimatedWait is how many milliseconds a ticket that has waited for a while has still to wait, if its match
// takes as long as those formed lately: never below 0, and nil while nothing is known. now is Redis' time in
// Unix milliseconds.
func EstimatedWait(mean lua.MeanWait, now int64, waited time.Duration) *int64 {
	if !mean.Known(now) {
		return nil
	}
	left := max(0, (mean.Wait - waited).Milliseconds())
	return &left
}
