//go:build linux

package bench

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/internal/child"
	"muster/internal/loopback"
)

// patience is how long a process may take to come up, or to end.
const patience = time.Minute

// process is a program that is measured from outside.
type process struct {
	tb   testing.TB
	pid  int
	proc *child.Process
}

// spawn runs a program until the test ends, or end is called.
func spawn(tb testing.TB, environ []string, name string, args ...string) *process {
	tb.Helper()
	var log bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), environ...), &log, &log
	proc, err := child.Launch(cmd, syscall.SIGKILL)
	if err != nil {
		tb.Fatal(err)
	}
	p := &process{tb: tb, pid: proc.PID(), proc: proc}
	tb.Cleanup(func() {
		p.end()
		if tb.Failed() {
			tb.Logf("%s said:\n%s", filepath.Base(name), log.String())
		}
	})
	return p
}

// end asks the program to end, and kills it where it does not. It may be called twice.
func (p *process) end() {
	_ = p.proc.End(syscall.SIGTERM, patience) // how it ends is of no interest
}

// await polls until done, and fails where the process ends before or it takes too long.
func (p *process) await(what string, done func() bool) {
	p.tb.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-p.proc.Exited():
			p.tb.Fatalf("%s: the process has ended", what)
		case <-limit:
			p.tb.Fatalf("%s: not within %v", what, patience)
		case <-tick.C:
		}
	}
}

// cpu is how much CPU the process has used so far, by the scheduler's own count of each of its threads: stat
// counts in hundredths of a second, which is too coarse for a burst. A thread that has ended is missing; a Go
// program and Redis keep theirs.
func cpu(tb testing.TB, pid int) time.Duration {
	tb.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(tasks) == 0 {
		tb.Fatalf("process %d has no threads: %v", pid, err)
	}
	var sum time.Duration
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // it has just ended
		}
		on, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(on, 10, 64)
		if err != nil {
			tb.Fatalf("%s: %v", task, err)
		}
		sum += time.Duration(ns)
	}
	return sum
}

// cores are those that a process may use, as taskset lists them.
type cores string

// ownCore is for what is measured alone, otherCores for all else.
var (
	ownCore    = cores("0")
	otherCores = cores(fmt.Sprintf("1-%d", max(1, runtime.NumCPU()-1)))
	allCores   = cores(fmt.Sprintf("0-%d", runtime.NumCPU()-1))
)

// single is whether it is one core by itself, as ownCore is.
func (c cores) single() bool { return !strings.Contains(string(c), "-") }

// pin keeps all threads of a process to some cores until the test ends: what runs beside it costs it less then. A process
// with one core only is left as it is.
func pin(tb testing.TB, pid int, on cores) {
	tb.Helper()
	if runtime.NumCPU() == 1 {
		return
	}
	set := func(list string) error {
		out, err := exec.Command("taskset", "--all-tasks", "--cpu-list", "--pid", list, strconv.Itoa(pid)).CombinedOutput()
		if err != nil {
			return fmt.Errorf("taskset: %w: %s", err, out)
		}
		return nil
	}
	if err := set(string(on)); err != nil {
		tb.Fatal(err)
	}
	if pid == os.Getpid() {
		tb.Cleanup(func() {
			if err := set(string(allCores)); err != nil {
				tb.Error(err)
			}
		})
	}
}

// rss is the resident memory of a process, in bytes.
func rss(tb testing.TB, pid int) int64 {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		tb.Fatal(err)
	}
	fields := strings.Fields(string(text))
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

func freeAddr(tb testing.TB) string {
	tb.Helper()
	ln, err := loopback.Listen()
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = ln.Close() }() // only the number is wanted
	return ln.Addr().String()
}

// listens reports whether somebody takes connections at an address.
func listens(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// answers reports whether an address answers 200.
func answers(url string) bool {
	client := http.Client{Timeout: time.Second}
	response, err := client.Get(url)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}
