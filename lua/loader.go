// Package lua holds the Redis scripts, grouped by subject, and assembles them. The package store calls them.
//
// A script is one file in a folder of its subject; its name is the file's. Scripts share code by includes: a line
// "-- @include NAME" is replaced by include/NAME.lua, once a script. The header of each script says its guarantee, keys,
// arguments, reply, the kinds of keys it touches and its cost.
package lua

import (
	"crypto/sha1" //nolint:gosec // G505: Redis names scripts by their SHA-1
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Files are the sources: SUBJECT/NAME.lua and include/NAME.lua.
//
//go:embed */*.lua
var Files embed.FS

// includes is the folder of the files that are no scripts.
const includes = "include"

// Script is one script as it is sent to Redis.
type Script struct {
	Name, Text string
	SHA        string // SHA-1 of Text in hexadecimal digits, as EVALSHA wants it
}

// Paths returns the path of each script in Files, by the script's name.
func Paths() (map[string]string, error) {
	files, err := fs.Glob(Files, "*/*.lua")
	if err != nil {
		return nil, err
	}
	paths := make(map[string]string, len(files))
	for _, file := range files {
		if path.Dir(file) != includes {
			paths[strings.TrimSuffix(path.Base(file), ".lua")] = file
		}
	}
	return paths, nil
}

// Load assembles every script: it expands the includes, turns the text after an "-- @inner" into a function within the script,
// and replaces the names of codes by their numbers. The embedded Redis knows neither the shebang nor its own replication
// id, so both are replaced for it.
func Load(embedded bool, codes map[string]int) (map[string]*Script, error) {
	paths, err := Paths()
	if err != nil {
		return nil, err
	}
	pairs := make([]string, 0, 2*len(codes))
	for name, code := range codes {
		pairs = append(pairs, name, strconv.Itoa(code))
	}
	replacer := strings.NewReplacer(pairs...)
	scripts := make(map[string]*Script, len(paths))
	for name, file := range paths {
		a := assembler{embedded: embedded, included: map[string]bool{}}
		text, err := a.assemble(file)
		if err != nil {
			return nil, err
		}
		text = replacer.Replace(text + strings.Repeat("end)()\n", a.inner))
		sum := sha1.Sum([]byte(text)) //nolint:gosec // G401: Redis names scripts by their SHA-1
		scripts[name] = &Script{Name: name, Text: text, SHA: hex.EncodeToString(sum[:])}
	}
	return scripts, nil
}

// assembler expands the includes of one script, each once.
type assembler struct {
	embedded bool
	included map[string]bool
	// inner counts the functions that an "-- @inner" opened.
	inner int
}

func (a *assembler) assemble(file string) (string, error) {
	source, err := Files.ReadFile(file)
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
			text, err := a.assemble(path.Join(includes, a.variant(name)+".lua"))
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
	if include == "replication_id" && a.embedded {
		return "replication_id_embedded"
	}
	return include
}
