package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal opens a new terminal. Closing the returned window is what a user does who closes it.
func terminal(t *testing.T) (window, tty *os.File) {
	t.Helper()
	window, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = window.Close() }) // most often closed by the test
	if err := unix.IoctlSetPointerInt(int(window.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(window.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return window, tty
}

func TestServe_EndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	// A test run that was itself started by nohup(1) ignores SIGHUP, and its children would too; a caught signal is at its
	// default again in a child.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	for name, stderrIsTerminal := range map[string]bool{"log on the terminal": true, "log in a file": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i, _ := intoPipe(t)
			window, tty := terminal(t)
			i.prepare = func(cmd *exec.Cmd) {
				cmd.Stdin, cmd.Stdout = tty, tty
				if stderrIsTerminal {
					cmd.Stderr = tty
				}
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			}
			i.start()
			_ = tty.Close() // the child has its own
			i.awaitReady()
			if err := window.Close(); err != nil {
				t.Fatal(err)
			}
			i.signal(syscall.SIGHUP) // a shell sends one too
			select {
			case <-i.proc.Exited():
			case <-time.After(patience):
				t.Fatal("it has not ended")
			}
			if code := i.cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("it ends with %d, want a drain", code)
			}
		})
	}
}

// TestServe_OutlivesItsTerminalWithNohup: nohup(1) starts a program with SIGHUP ignored.
func TestServe_OutlivesItsTerminalWithNohup(t *testing.T) {
	t.Parallel()
	i, _ := intoPipe(t)
	window, tty := terminal(t)
	i.before = "trap '' HUP"
	i.prepare = func(cmd *exec.Cmd) {
		cmd.Stdin = tty
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	i.start()
	_ = tty.Close() // the child has its own
	i.awaitReady()
	if err := window.Close(); err != nil {
		t.Fatal(err)
	}
	i.signal(syscall.SIGHUP)
	eventually(t, func() string { // a reload, as of a service
		if !bytes.Contains(i.log(), []byte("settings read again")) {
			return "the settings were not read again"
		}
		return ""
	})
	if code := i.stop(); code != 0 {
		t.Errorf("SIGTERM ends it with %d", code)
	}
}
