//go:build !linux

package child

import (
	"os/exec"
	"syscall"
)

// partWithParent has no means outside Linux: a test binary that dies without its cleanups leaves its programs
// behind.
func partWithParent(*exec.Cmd, syscall.Signal) {}
