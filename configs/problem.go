package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with the settings.
type Problem struct {
	// Source is the file, the environment variable or the flag in which it stands.
	Source string
	// Line is that in the file, counted from 1; 0 where there is none.
	Line int
	// Key is the path of the setting, such as worlds[0].size, where the first world has the number 0.
	Key string
	// Message says what is wrong and what is allowed. It never contains a secret.
	Message string

	layer layer
}

// String is the problem in one line: source, line, key, message.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Source)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	if p.Key != "" {
		b.WriteString(": " + p.Key)
	}
	b.WriteString(": " + p.Message)
	return b.String()
}

// Problems are all that is wrong, in the order of the sources (file, environment, flags) and of the
// lines. It is the only error of Load and ParseWorld.
type Problems []Problem

// Error is one problem a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

func (ps Problems) sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.layer, b.layer),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Source, b.Source))
	})
}
