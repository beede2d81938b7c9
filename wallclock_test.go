package main_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// wallClock are the files that may turn a clock's time of day into a number, and why. Everything else counts from Redis' clock or by the
// monotonic one, so that an instance whose clock is off serves like any other. The same with real instances: make soak.
var wallClock = map[string]string{
	"allocation/webhook.go": "timestamp of a signature",
	"webhooks/sign.go":      "timestamp of a signature",
	"load/run.go":           "time between two moments of one process",
}

var readsWallClock = regexp.MustCompile(`\b(time\.Now\(\)|now)\.(Unix|UnixMilli|UnixMicro|UnixNano|Format|Hour|Weekday)\(`)

func TestWallClock_DecidesNothing(t *testing.T) {
	t.Parallel()
	read := map[string]bool{}
	for _, p := range list(t) {
		pkg := path.Clean("./" + strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/"))
		if strings.HasPrefix(pkg, "internal/") { // what only tests use is there
			continue
		}
		for _, file := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			if at := readsWallClock.Find(text); at != nil {
				name := path.Join(pkg, file)
				read[name] = true
				if wallClock[name] == "" {
					t.Errorf("%s reads the time of day: %s", name, at)
				}
			}
		}
	}
	for name := range wallClock {
		if !read[name] {
			t.Errorf("%s is listed and does not read the time of day", name)
		}
	}
}
