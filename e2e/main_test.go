package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/musterhq/muster/internal/race"
)

// program is the path of the built server.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// buildAndRun builds the server for the time of the tests.
func buildAndRun(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "muster-e2e")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it lies among temporary files
	program = filepath.Join(dir, "muster")
	if err := build(program, race.Enabled); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// build builds the server, with further arguments for the go command.
func build(path string, race bool, args ...string) error {
	args = append([]string{"build", "-buildvcs=false", "-o", path}, args...)
	if race {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, "..")...).CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return nil
}
