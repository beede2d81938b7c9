package child

import (
	"bufio"
	"errors"
	"io"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// echo is a program that says again what it is told, until it is told no more.
type echo struct {
	*Process
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// launch starts an echo as a shell does, after what else the shell shall do.
func launch(t *testing.T, before string, attributes *syscall.SysProcAttr) *echo {
	t.Helper()
	e := &echo{t: t, cmd: exec.Command("sh", "-c", before+"exec cat")}
	e.cmd.SysProcAttr = attributes
	var err error
	if e.in, err = e.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	e.out = bufio.NewReader(out)
	if e.Process, err = Launch(e.cmd, syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Kill(); err != nil {
			t.Error(err)
		}
	})
	e.answers()
	return e
}

// answers fails the test where the program does not run.
func (e *echo) answers() {
	e.t.Helper()
	if _, err := io.WriteString(e.in, "here\n"); err != nil {
		e.t.Fatal(err)
	}
	if line, err := e.out.ReadString('\n'); err != nil || line != "here\n" {
		e.t.Fatalf("answers %q, %v", line, err)
	}
}

// endedBy fails the test where the program has not gone, or not by the signal.
func (e *echo) endedBy(sig syscall.Signal) {
	e.t.Helper()
	select {
	case <-e.Exited():
	default:
		e.t.Fatal("it has not gone")
	}
	if status, ok := e.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != sig {
		e.t.Errorf("ended by %v, want %v", e.cmd.ProcessState, sig)
	}
}

func TestAProcessThatListensIsNotKilled(t *testing.T) {
	t.Parallel()
	e := launch(t, "", nil)
	if err := e.End(syscall.SIGTERM, time.Minute); err != nil {
		t.Error(err)
	}
	e.endedBy(syscall.SIGTERM)
}

func TestAProcessThatDoesNotListenIsKilled(t *testing.T) {
	t.Parallel()
	e := launch(t, "trap '' TERM; ", nil) // what a shell ignores, so does what it becomes
	if err := e.End(syscall.SIGTERM, 100*time.Millisecond); !errors.Is(err, ErrKilled) {
		t.Errorf("End returns %v, want ErrKilled", err)
	}
	e.endedBy(syscall.SIGKILL)
}

func TestAProcessThatHasEndedIsNoError(t *testing.T) {
	t.Parallel()
	e := launch(t, "", nil)
	pid := e.PID()
	if err := e.in.Close(); err != nil {
		t.Fatal(err)
	}
	<-e.Exited()
	if !e.cmd.ProcessState.Success() {
		t.Errorf("ended with %v", e.cmd.ProcessState)
	}
	for name, err := range map[string]error{
		"Signal": e.Signal(syscall.SIGHUP),
		"End":    e.End(syscall.SIGTERM, time.Minute),
		"Kill":   e.Kill(),
	} {
		if err != nil {
			t.Errorf("%s returns %v", name, err)
		}
	}
	if e.PID() != pid {
		t.Errorf("process %d became %d", pid, e.PID())
	}
}

func TestAProgramThatIsNotThereIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := Launch(exec.Command("no-such-program"), syscall.SIGKILL); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("Launch returns %v, want %v", err, exec.ErrNotFound)
	}
}

func TestWhatElseIsAskedOfTheSystemIsKept(t *testing.T) {
	t.Parallel()
	e := launch(t, "", &syscall.SysProcAttr{Setpgid: true})
	if group, err := syscall.Getpgid(e.PID()); err != nil || group != e.PID() {
		t.Errorf("process %d is in group %d, %v, and not in one of its own", e.PID(), group, err)
	}
}
