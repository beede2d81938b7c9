package child

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long what a test waits for may take.
const patience = 60 * time.Second

// poll waits until something has come to be.
func poll(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("not within %v: %s", patience, what)
		case <-tick.C:
		}
	}
}

// state is the letter that ps shows for a process, "" for one that has gone.
func state(pid string) string {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	letter, _, _ := strings.Cut(rest, " ")
	return letter
}

func TestAPausedProcessIsAsked(t *testing.T) {
	t.Parallel()
	e := launch(t, "", nil)
	if err := e.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	poll(t, "it is paused", func() bool { return state(fmt.Sprint(e.PID())) == "T" })
	if err := e.End(syscall.SIGTERM, patience); err != nil {
		t.Error(err)
	}
	e.endedBy(syscall.SIGTERM)
}

// TestAProcessPartsByItsSignal runs a copy of the test binary that starts a program and crashes.
func TestAProcessPartsByItsSignal(t *testing.T) {
	t.Parallel()
	const variable = "CHILD_CRASH"
	if name := os.Getenv(variable); name != "" {
		// It ends by itself too, lest it stays behind where it is not told.
		cmd := exec.Command("sh", "-c", "trap 'echo parted >"+name+"; exit' QUIT; echo up; for i in $(seq 500); do sleep 0.02; done")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		p, err := Launch(cmd, syscall.SIGQUIT)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("\npid=%d\n", p.PID())
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	name := filepath.Join(t.TempDir(), "parted")
	cmd := exec.Command(os.Args[0], "-test.run=^TestAProcessPartsByItsSignal$")
	cmd.Env = append(os.Environ(), variable+"="+name)
	out, err := cmd.Output()
	if err == nil {
		t.Fatalf("the copy of the test did not crash:\n%s", out)
	}
	_, rest, _ := bytes.Cut(out, []byte("pid="))
	pid, _, found := bytes.Cut(rest, []byte("\n"))
	if !found {
		t.Fatalf("the copy of the test started nothing:\n%s", out)
	}
	poll(t, "the program has ended", func() bool { return strings.Trim(state(string(pid)), "ZX") == "" })
	if text, err := os.ReadFile(name); err != nil || string(text) != "parted\n" {
		t.Errorf("it did not hear the signal: %q, %v", text, err)
	}
}

func TestAProcessOutlivesTheThreadOfItsCaller(t *testing.T) {
	t.Parallel()
	var e *echo
	thread := os.Getpid()
	for thread == os.Getpid() { // the first thread of a process never ends
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			runtime.LockOSThread()
			if thread = syscall.Gettid(); thread == os.Getpid() {
				runtime.UnlockOSThread()
				return
			}
			e = launch(t, "", nil) // the thread ends with its goroutine, as it is not unlocked
		}()
		<-ended
	}
	if t.Failed() {
		return // launch says why
	}
	poll(t, "the thread has ended", func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", thread))
		return errors.Is(err, fs.ErrNotExist)
	})
	e.answers()
}
