// Package child starts programs for tests, which end with the process that started them. It owns how they are
// started, signalled and waited for; it must not know what they are. All functions and methods may be called
// concurrently.
package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// ErrKilled is returned by End when the process did not listen and was killed.
var ErrKilled = errors.New("it did not end when asked and was killed")

// Process is one run of a program.
type Process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process has ended and was waited for
}

// Launch starts cmd and waits for it in the background: cmd.ProcessState says how it ended, once Exited is
// closed. Where the system can (Linux), the process is sent the signal parting when the one that started it dies
// without its cleanups: by a panic, by -timeout or by SIGKILL. What else cmd.SysProcAttr asks for is kept.
func Launch(cmd *exec.Cmd, parting syscall.Signal) (*Process, error) {
	partWithParent(cmd, parting)
	p := &Process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		defer close(p.exited)
		// "Parent" in partWithParent means the thread that forked. The goroutine keeps this thread for itself as
		// long as the child lives, so that the runtime cannot end it earlier.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // whoever wants to know how it ended asks cmd.ProcessState
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// PID is the number of the process, also when it has ended.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed when the process has gone and its output was read.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Signal sends sig; a process that has ended already is no error.
func (p *Process) Signal(sig os.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %v to %s: %w", sig, filepath.Base(p.cmd.Path), err)
	}
	return nil
}

// Kill ends the process with SIGKILL and returns when it has gone.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.exited
	return nil
}

// End asks the process to end by a signal, paused or not, and returns when it has gone. One that is still there
// after the time within is killed: that is ErrKilled.
func (p *Process) End(sig os.Signal, within time.Duration) error {
	if err := p.Signal(sig); err != nil {
		return err
	}
	if err := p.Signal(syscall.SIGCONT); err != nil {
		return err
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(within):
	}
	if err := p.Kill(); err != nil {
		return err
	}
	return fmt.Errorf("end %s by %v within %v: %w", filepath.Base(p.cmd.Path), sig, within, ErrKilled)
}
