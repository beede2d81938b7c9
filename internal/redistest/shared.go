package redistest

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"muster/internal/ident"
)

// shared is the server of the test binary.
var shared struct {
	running atomic.Bool // Main is there to end the server
	once    sync.Once
	server  *Server // set by once, read after it
	err     error   // set by once, read after it
}

// Main runs the tests of a package and ends the process; it stands alone in TestMain of a package
// that uses Shared. When the shared server is gone it runs the checks, as for goroutines left behind,
// which count where the tests have passed:
//
//	func TestMain(m *testing.M) {
//		redistest.Main(m, func() error { return goleak.Find() })
//	}
func Main(m *testing.M, checks ...func() error) {
	shared.running.Store(true)
	code := m.Run()
	if err := closeShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	passed := code == 0
	for _, check := range checks {
		// A check may also clear up, so that it is made in any case; what failed tests leave behind only hides
		// why they failed.
		if err := check(); err != nil && passed {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// Shared returns the server that all tests of the binary share; the first call starts it. A test
// keeps to its own Realm there and neither stops nor empties it: those methods panic. TestMain of
// the package must call Main.
func Shared(t testing.TB) *Server {
	t.Helper()
	if !shared.running.Load() {
		t.Fatal("redistest: Shared needs `func TestMain(m *testing.M) { redistest.Main(m) }` in the package")
	}
	shared.once.Do(startShared)
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// startShared uses a directory of its own as t.TempDir would go with the first test.
func startShared() {
	dir, err := os.MkdirTemp("", "redistest")
	if err != nil {
		shared.err = err
		return
	}
	if shared.server, shared.err = start(dir); shared.err != nil {
		shared.err = errors.Join(shared.err, os.RemoveAll(dir))
	}
}

func closeShared() error {
	if shared.server == nil {
		return nil
	}
	return errors.Join(shared.server.close(), os.RemoveAll(shared.server.dir))
}

// realms numbers the realms of this test binary.
var realms atomic.Int64

// Realm returns the name of a realm that no other test of the binary has. It begins with the name
// of the test, so that a key found in Redis says where it comes from.
func Realm(t testing.TB) string {
	t.Helper()
	suffix := "-" + strconv.FormatInt(realms.Add(1), 10)
	name := strings.Map(func(r rune) rune {
		if ident.Valid(string(r)) {
			return r
		}
		return '_'
	}, t.Name())
	return name[:min(len(name), ident.MaxLength-len(suffix))] + suffix
}
