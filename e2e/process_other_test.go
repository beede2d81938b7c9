//go:build !linux

package e2e

import "os/exec"

// dieWithParent does nothing where the kernel has no such thing.
func dieWithParent(*exec.Cmd) {}
