package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"muster/internal/race"
)

// program is the path of the built server.
var program string

// parallelism is how many tests run at once, unless -parallel says otherwise: most of the time they wait for other processes.
const parallelism = "4"

func TestMain(m *testing.M) {
	if os.Getenv(asWebsocat) != "" {
		os.Exit(websocat(os.Args[1:], os.Stdin, os.Stdout))
	}
	if err := flag.Set("test.parallel", parallelism); err != nil {
		panic(err)
	}
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
	args = append([]string{"build", "-buildvcs=false", "-ldflags", "-s -w", "-o", path}, args...)
	if race {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, "..")...).CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return nil
}
