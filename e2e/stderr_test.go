package e2e

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// intoPipe is an instance with an embedded Redis, not started yet, whose stdout and stderr are a pipe. start starts it
// and returns the end to read from.
func intoPipe(t *testing.T, env ...string) (i *instance, start func() *os.File) {
	t.Helper()
	c := startCluster(t, 0, withEnv(append(env, "REDIS_URL=", "DRAIN=100ms")...))
	i = c.newInstance("I1", c.config)
	return i, func() *os.File {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() }) // some tests close it themselves
		i.prepare = func(cmd *exec.Cmd) { cmd.Stdout, cmd.Stderr = w, w }
		i.start()
		_ = w.Close() // the child has its own
		return r
	}
}

// healthy makes requests that each log a line of more than 100 bytes at debug level.
func (i *instance) healthy(requests int) {
	i.t.Helper()
	for range requests {
		if status, body := i.request("GET", "/healthz", "", ""); status != 200 {
			i.t.Fatalf("healthz answers %d %s", status, body)
		}
	}
}

func TestServe_OutlivesReaderOfStderr(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "console"} { // the latter greets with a banner
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			i, start := intoPipe(t, "LOG_LEVEL=debug", "LOG_FORMAT="+format)
			_ = start().Close()
			i.awaitReady()
			i.healthy(3)
			eventually(t, func() string {
				if i.counted("muster_log_lines_lost_total") {
					return ""
				}
				return "no lost line is counted"
			})
			if code := i.stop(); code != 0 {
				t.Errorf("SIGTERM ends it with %d", code)
			}
		})
	}
}

func TestServe_DoesNotWaitForReaderOfStderr(t *testing.T) {
	t.Parallel()
	i, start := intoPipe(t, "LOG_LEVEL=debug")
	start()
	i.awaitReady()
	i.healthy(1000) // a pipe holds 64 KiB
	if code := i.stop(); code != 0 {
		t.Errorf("SIGTERM ends it with %d", code)
	}
}

func TestServe_WritesLinesAtOnceAndToTheLast(t *testing.T) {
	t.Parallel()
	i, start := intoPipe(t)
	log := bufio.NewReader(start())
	line := ""
	for !strings.Contains(line, "muster serves") {
		var err error
		if line, err = log.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	i.awaitReady()
	i.signal(syscall.SIGTERM)
	if rest, err := io.ReadAll(log); err != nil || !strings.HasSuffix(string(rest), `"message":"stopped"}`+"\n") {
		t.Errorf("%v; the log ends with\n%s", err, rest)
	}
}

func TestServe_WritesWhyItFails(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }() // nothing connected
	i, start := intoPipe(t, "LOG_LEVEL=debug")
	i.addr = taken.Addr().String()
	if text, err := io.ReadAll(start()); err != nil || !strings.HasSuffix(string(text), "address already in use\n") {
		t.Errorf("%v; the log ends with\n%s", err, text)
	}
	select {
	case <-i.proc.Exited():
	case <-time.After(patience):
		t.Fatal("it has not ended")
	}
	if code := i.cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d", code)
	}
}
