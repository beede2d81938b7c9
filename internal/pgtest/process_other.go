//go:build !linux

package pgtest

import "os/exec"

// dieWithParent has no means outside Linux: a test binary that dies without its cleanups leaves its server behind.
func dieWithParent(*exec.Cmd) {}
