//go:build linux

package bench

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var (
	tableFlag    = flag.Bool("table", false, "run TestTable")
	scaleFlag    = flag.Bool("scale", false, "run TestScale")
	runsFlag     = flag.Int("runs", 5, "how many runs a figure is the median of")
	rowsFlag     = flag.String("rows", "", "part of the names of the experiments that TestTable takes; empty takes all")
	binaryFlag   = flag.String("binary", "", "the server to measure; empty builds it")
	profilesFlag = flag.String("profiles", "", "directory into which CPU profiles of the server are written")
	outFlag      = flag.String("out", "", "file into which the table is written as well")
)

// program is the built server, echoer the server of plain echoes.
var program, echoer string

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// buildAndRun builds what is measured, if anything is, for the time of the tests.
func buildAndRun(m *testing.M) (code int, err error) {
	if !*tableFlag && !*scaleFlag {
		return m.Run(), nil
	}
	dir, err := os.MkdirTemp("", "muster-bench")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it lies among temporary files
	program, echoer = *binaryFlag, filepath.Join(dir, "echo.test")
	builds := [][]string{{"test", "-c", "-o", echoer, "../server"}}
	if program == "" {
		program = filepath.Join(dir, "muster")
		builds = append(builds, []string{"build", "-buildvcs=false", "-o", program, ".."})
	}
	for _, args := range builds {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return 1, fmt.Errorf("go %v: %w\n%s", args, err, out)
		}
	}
	return m.Run(), nil
}
