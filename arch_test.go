package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the import path of this module; packages of it are named below by the rest, "." is the
// root.
const module = "muster"

// arrows are the packages of the module that a package may import, besides internal/ident and, in
// tests, the helpers for tests. Where a package is missing here, so is the thought where it belongs.
var arrows = map[string][]string{
	".":        {"internal/cli"},
	"server":   {"hub", "matching", "presence", "allocation", "journal", "webhooks", "store", "protocol", "configs", "web"},
	"hub":      {"store", "protocol", "configs"},
	"matching": {"store", "protocol", "configs"},
	"presence": {"store", "protocol", "configs"},
	"journal":  {"store"},
	"webhooks": {"store"},
	"store":    {"lua"},
	"lua":      {},
	"protocol": {},
	"configs":  {},
	"client":   {"protocol"},
	"load":     {"client", "protocol"},
	"sim":      {"matching", "configs"},
	"bench":    {"load", "client", "protocol"},
	"web":      {},

	"allocation": {"store"},
}

// testArrows are what tests of a package may import in addition.
var testArrows = map[string][]string{
	"server": {"client"},
}

// testHelpers may be imported by tests, by e2e and by each other only.
var testHelpers = []string{"internal/child", "internal/redistest", "internal/pgtest", "internal/faultproxy", "internal/loopback", "internal/race"}

// foreign are the packages in which a module from outside may be imported.
var foreign = map[string][]string{
	"github.com/redis/go-redis":     {"store", "internal/redistest", "e2e"},
	"github.com/alicebob/miniredis": {"store", "internal/redistest"},
	"github.com/jackc/pgx":          {"journal", "internal/pgtest"},
	"github.com/gin-gonic/gin":      {"server"},
	"github.com/coder/websocket":    {"server", "client", "e2e"},
}

// violation says what is wrong with a file of the package pkg that imports imp, or "".
func violation(pkg, file, imp string) string {
	if imp == module || strings.HasPrefix(imp, module+"/") {
		return ownViolation(pkg, file, strings.TrimPrefix(strings.TrimPrefix(imp, module), "/"))
	}
	for prefix, allowed := range foreign {
		if imp != prefix && !strings.HasPrefix(imp, prefix+"/") || within(pkg, allowed) {
			continue
		}
		return fmt.Sprintf("%s may be imported only in %s", prefix, strings.Join(allowed, ", "))
	}
	return ""
}

// ownViolation is violation for an import of the package imp of this module.
func ownViolation(pkg, file, imp string) string {
	test := strings.HasSuffix(file, "_test.go")
	top, _, _ := strings.Cut(pkg, "/")
	switch {
	case imp == pkg, imp == "internal/ident", test && slices.Contains(testHelpers, imp):
		return ""
	case top == "e2e": // sees the whole
		return ""
	case slices.Contains(testHelpers, imp) && !slices.Contains(testHelpers, pkg):
		return imp + " is for tests only"
	case imp == "internal/cli" && pkg != ".":
		return imp + " is for main only"
	case pkg == "internal/cli": // wires everything
		return ""
	case top == "internal":
		if strings.HasPrefix(imp, "internal/") {
			return ""
		}
		return "packages below internal are leaves"
	}
	allowed, known := arrows[top]
	switch {
	case !known:
		return "the package has no line in arrows: decide where it belongs"
	case within(imp, allowed), within(imp, []string{top}), test && within(imp, testArrows[top]):
		return ""
	case strings.HasPrefix(imp, "internal/") && !slices.Contains([]string{"protocol", "configs", "client"}, top):
		return ""
	}
	return fmt.Sprintf("%s may import %v", top, allowed)
}

// within reports whether pkg is one of the packages or below one.
func within(pkg string, packages []string) bool {
	return slices.ContainsFunc(packages, func(p string) bool {
		return pkg == p || strings.HasPrefix(pkg, p+"/")
	})
}

// listed is what the test needs of `go list -json`.
type listed struct {
	ImportPath, Dir                                              string
	GoFiles, CgoFiles, IgnoredGoFiles, TestGoFiles, XTestGoFiles []string
}

func list(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list",
		"-json=ImportPath,Dir,GoFiles,CgoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles", "./...")
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("go list: %v\n%s", err, exit.Stderr)
	} else if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages = append(packages, p)
	}
}

func imports(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range parsed.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, imp)
	}
	return paths
}

func TestImportsPointDownward(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, p := range list(t) {
		pkg := path.Clean("./" + strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/"))
		for _, file := range slices.Concat(p.GoFiles, p.CgoFiles, p.IgnoredGoFiles, p.TestGoFiles, p.XTestGoFiles) {
			for _, imp := range imports(t, filepath.Join(p.Dir, file)) {
				seen++
				if wrong := violation(pkg, file, imp); wrong != "" {
					t.Errorf("%s imports %s: %s", path.Join(pkg, file), imp, wrong)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no import was looked at")
	}
}

func TestViolationsOfTheArrows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pkg, file, imp string
		allowed        bool
	}{
		{".", "main.go", module + "/internal/cli", true},
		{".", "main.go", module + "/server", false},
		{"internal/cli", "serve.go", module + "/server", true},
		{"server", "server.go", module + "/internal/cli", false},
		{".", "main.go", "github.com/redis/go-redis/v9", false},
		{"server", "server.go", module + "/hub", true},
		{"server", "server.go", "github.com/gin-gonic/gin/binding", true},
		{"server", "server.go", module, false},
		{"server", "server.go", module + "/client", false},
		{"server", "server_test.go", module + "/client", true},
		{"hub", "hub.go", module + "/store", true},
		{"hub", "hub.go", module + "/matching", false},
		{"hub", "hub_test.go", module + "/presence", false},
		{"hub", "hub.go", module + "/server", false},
		{"hub", "transport.go", "github.com/coder/websocket", false},
		{"hub", "hub.go", "github.com/gin-gonic/gin", false},
		{"hub", "hub.go", "github.com/redis/go-redis/v9", false},
		{"hub", "redis_test.go", "github.com/redis/go-redis/v9", false},
		{"store", "store.go", module + "/lua", true},
		{"lua", "loader.go", module + "/store", false},
		{"hub", "redis.go", "github.com/alicebob/miniredis/v2", false},
		{"matching/rules", "rules.go", module + "/matching", true},
		{"matching/rules", "rules.go", module + "/presence", false},
		{"matching", "loop.go", module + "/internal/clock", true},
		{"matching", "loop.go", module + "/internal/redistest", false},
		{"matching", "loop_test.go", module + "/internal/redistest", true},
		{"store", "client.go", "github.com/redis/go-redis/v9", true},
		{"store", "embedded.go", "github.com/alicebob/miniredis/v2", true},
		{"store", "client.go", module + "/protocol", false},
		{"protocol", "decode.go", module + "/internal/ident", true},
		{"protocol", "decode.go", module + "/internal/clock", false},
		{"configs", "load.go", module + "/protocol", false},
		{"client", "client.go", module + "/protocol", true},
		{"client", "client.go", module + "/internal/clock", false},
		{"client", "client.go", module + "/hub", false},
		{"internal/clock", "clock.go", module + "/hub", false},
		{"internal/redistest", "server.go", module + "/internal/loopback", true},
		{"e2e", "e2e_test.go", module + "/server", true},
		{"e2e", "e2e_test.go", "github.com/gin-gonic/gin", false},
		{"util", "util.go", module + "/store", false},
	} {
		if wrong := violation(c.pkg, c.file, c.imp); (wrong == "") != c.allowed {
			t.Errorf("%s/%s imports %s: %q, want allowed %v", c.pkg, c.file, c.imp, wrong, c.allowed)
		}
	}
}
