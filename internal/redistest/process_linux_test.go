package redistest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestServerDiesWithItsTest runs a copy of the test binary that starts a server and crashes.
func TestServerDiesWithItsTest(t *testing.T) {
	t.Parallel()
	const variable = "REDISTEST_CRASH"
	if os.Getenv(variable) != "" {
		s := Start(t)
		fmt.Printf("\naddr=%s\n", s.Addr())
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerDiesWithItsTest$")
	cmd.Env = append(os.Environ(), variable+"=1", "TMPDIR="+t.TempDir())
	out, err := cmd.Output()
	if err == nil {
		t.Fatal("the copy of the test did not crash")
	}
	_, rest, _ := bytes.Cut(out, []byte("addr="))
	addr, _, _ := bytes.Cut(rest, []byte("\n"))
	deadline := time.After(time.Minute)
	tick := time.NewTicker(answerInterval)
	defer tick.Stop()
	for {
		conn, err := net.Dial("tcp", string(addr))
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		switch {
		case err == nil:
			_ = conn.Close()
		case !errors.Is(err, syscall.ECONNRESET): // which it is while the server dies
			t.Fatalf("dial %q: %v", addr, err)
		}
		select {
		case <-deadline:
			t.Fatal("the server outlived its test")
		case <-tick.C:
		}
	}
}
