package child

import (
	"os/exec"
	"syscall"
)

// partWithParent has the kernel send the signal when the thread dies that starts cmd.
func partWithParent(cmd *exec.Cmd, parting syscall.Signal) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = parting
}
