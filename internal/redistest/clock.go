package redistest

import (
	_ "embed"
	numbers "encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

//go:embed preload/clock.c
var clockSource []byte

// Clock is the wall clock of a server that was started with it.
type Clock struct {
	t             testing.TB
	library, file string
}

// NewClock is a clock that goes as the machine's until it is set. It needs Linux and a C compiler, as the race
// detector does.
func NewClock(t testing.TB) *Clock {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("a server has a clock of its own on Linux only")
	}
	dir := t.TempDir()
	c := &Clock{t: t, library: filepath.Join(dir, "clock.so"), file: filepath.Join(dir, "clock")}
	source := filepath.Join(dir, "clock.c")
	if err := os.WriteFile(source, clockSource, 0o600); err != nil {
		t.Fatal(err)
	}
	//nolint:gosec // G204: arguments are the test's own
	if out, err := exec.Command(compiler(), "-shared", "-fPIC", "-O2", "-o", c.library, source).CombinedOutput(); err != nil {
		t.Fatalf("redistest: compile the clock: %v\n%s", err, out)
	}
	c.Set(0)
	return c
}

// compiler is the C compiler that scripts/install-test-tools.sh sees to.
func compiler() string {
	for _, name := range []string{os.Getenv("CC"), "gcc", "clang"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return "cc"
}

// Set puts the clock by so much before (or after, if negative) the machine's, at once.
func (c *Clock) Set(ahead time.Duration) {
	c.t.Helper()
	f, err := os.OpenFile(c.file, os.O_CREATE|os.O_WRONLY, 0o600) // not cut short: the server has it mapped
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // what Write says is all there is to know
	if _, err := f.Write(numbers.NativeEndian.AppendUint64(nil, uint64(ahead.Microseconds()))); err != nil {
		c.t.Fatal(err)
	}
}

// OwnClock has the server go by a clock.
func OwnClock(c *Clock) Option {
	return func(s *Server) {
		s.env = append(s.env, "LD_PRELOAD="+c.library, fmt.Sprint("REDISTEST_CLOCK=", c.file))
	}
}
