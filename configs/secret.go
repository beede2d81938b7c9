package configs

import (
	"fmt"
	"io"
)

const redacted = "[redacted]"

// Secret is a text that is never shown: however it is printed, logged or marshalled, it reads
// "[redacted]", and "" where it is not set.
type Secret string

// Reveal is the secret itself, for those who must use it.
func (s Secret) Reveal() string { return string(s) }

// String is the redacted form.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// Format prints the redacted form for every verb, also for those that do not ask String, such as %d.
func (s Secret) Format(f fmt.State, verb rune) {
	if verb == 'q' || (verb == 'v' && f.Flag('#')) {
		_, _ = fmt.Fprintf(f, "%q", s.String())
		return
	}
	_, _ = io.WriteString(f, s.String())
}

// MarshalText is the redacted form; JSON and YAML use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
