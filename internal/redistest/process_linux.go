package redistest

import (
	"os/exec"
	"syscall"
)

// dieWithParent lets the kernel end the server when the test binary dies without its cleanups: by
// a panic, by -timeout or by SIGKILL.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
