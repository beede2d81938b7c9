package lua

import (
	"crypto/sha1" //nolint:gosec // G505: Redis names scripts by their SHA-1
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed *.lua include/*.lua
var files embed.FS

// script is one script as it is sent to Redis.
type script struct {
	name, text, sha string
}

// loadScripts assembles every script: includes expanded, what is behind an @inner made a function within, codes put in.
// The embedded Redis knows neither the shebang nor its own history, so both are replaced for it.
func loadScripts(embedded bool) (map[string]*script, error) {
	names, err := fs.Glob(files, "*.lua")
	if err != nil {
		return nil, err
	}
	codes := make([]string, 0, 2*len(codeNames))
	for name, code := range codeNames {
		codes = append(codes, name, strconv.Itoa(code))
	}
	replacer := strings.NewReplacer(codes...)
	scripts := make(map[string]*script, len(names))
	for _, file := range names {
		a := assembler{embedded: embedded, included: map[string]bool{}}
		text, err := a.assemble(file)
		if err != nil {
			return nil, err
		}
		text = replacer.Replace(text + strings.Repeat("end)()\n", a.inner))
		sum := sha1.Sum([]byte(text)) //nolint:gosec // G401: Redis names scripts by their SHA-1
		name := strings.TrimSuffix(file, ".lua")
		scripts[name] = &script{name: name, text: text, sha: hex.EncodeToString(sum[:])}
	}
	return scripts, nil
}

// ScriptNames returns the names of all scripts, sorted.
func (s *Store) ScriptNames() []string { return slices.Sorted(maps.Keys(s.scripts)) }

// assembler expands the includes of one script, each once.
type assembler struct {
	embedded bool
	included map[string]bool
	// inner counts the functions that are still open: see -- @inner in the includes.
	inner int
}

func (a *assembler) assemble(file string) (string, error) {
	source, err := files.ReadFile(file)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for line := range strings.Lines(string(source)) {
		trimmed := strings.TrimSpace(line)
		name, isInclude := strings.CutPrefix(trimmed, "-- @include ")
		switch {
		case strings.HasPrefix(line, "#!") && a.embedded:
		case strings.HasPrefix(line, "#!"):
			b.WriteString(line)
		case isInclude:
			if a.included[name] {
				continue
			}
			a.included[name] = true
			text, err := a.assemble(path.Join("include", a.variant(name)+".lua"))
			if err != nil {
				return "", fmt.Errorf("%s: %w", file, err)
			}
			b.WriteString(text)
		case trimmed == "-- @inner":
			b.WriteString("return (function()\n")
			a.inner++
		case trimmed == "", strings.HasPrefix(trimmed, "--"):
			// Comments are for readers of the source; Redis need not hash and keep them.
		default:
			b.WriteString(line)
		}
	}
	return b.String(), nil
}

func (a *assembler) variant(include string) string {
	if include == "history" && a.embedded {
		return "history_embedded"
	}
	return include
}
