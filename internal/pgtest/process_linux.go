package pgtest

import (
	"os/exec"
	"syscall"
)

// dieWithParent lets the kernel end the server when the test binary dies without its cleanups. Its connections
// end with it.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT }
