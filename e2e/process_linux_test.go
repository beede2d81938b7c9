package e2e

import (
	"os/exec"
	"syscall"
)

// dieWithParent lets the kernel end an instance when the test binary dies without its cleanups.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
