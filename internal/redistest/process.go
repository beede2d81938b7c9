package redistest

import (
	"errors"
	"syscall"
	"time"

	"muster/internal/child"
)

// stopTimeout is how long a server may take to end by itself. Without a snapshot to write it needs
// milliseconds; the rest is for a loaded machine.
const stopTimeout = 5 * time.Second

// stop asks the server to end, paused or not. That it had to be killed is no error.
func stop(proc *child.Process) error {
	if err := proc.End(syscall.SIGTERM, stopTimeout); err != nil && !errors.Is(err, child.ErrKilled) {
		return err
	}
	return nil
}
