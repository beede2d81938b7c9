package garbage

import (
	"errors"
	"fmt"
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Bound has garbage collected more often rather than exceed nine tenths of what the control group of the process (a
// container) may use, unless the environment says otherwise (GOMEMLIMIT, AUTOMEMLIMIT). It returns the bound in bytes, 0
// where there is none.
func Bound() (bytes int64, err error) {
	bytes, err = memlimit.Set()
	switch {
	case errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("bound of memory: %w", err)
	case bytes == math.MaxInt64:
		return 0, nil
	}
	return bytes, nil
}
