package protocol

import (
	"strconv"
	"unicode/utf16"
)

const loneSurrogate = "half of a surrogate pair in a string"

// text reads a string with its quotes. Half of a surrogate pair is noted: it has no UTF-8, so that
// what a client sent could not be sent on as it was.
func (s *scanner) text() (raw []byte, ok bool) {
	from := s.pos
	if !s.accept(`"`) {
		return nil, false
	}
	for s.pos < len(s.in) {
		c := s.in[s.pos]
		switch {
		case c == '"':
			s.pos++
			return s.in[from:s.pos], true
		case c == '\\':
			if !s.escape() {
				return nil, false
			}
		case c < ' ':
			return nil, false
		default:
			s.pos++
		}
	}
	return nil, false
}

// escape reads a backslash and what belongs to it, both halves of a surrogate pair included.
func (s *scanner) escape() bool {
	s.pos++
	if s.accept(`"\/bfnrt`) {
		return true
	}
	if !s.accept("u") {
		return false
	}
	first, ok := s.hex4()
	if !ok || !utf16.IsSurrogate(first) {
		return ok
	}
	if !s.word(`\u`) {
		s.note(loneSurrogate)
		return true
	}
	second, ok := s.hex4()
	if ok && utf16.DecodeRune(first, second) == '\uFFFD' {
		s.note(loneSurrogate)
	}
	return ok
}

// hex4 reads the four digits after \u.
func (s *scanner) hex4() (rune, bool) {
	if len(s.in)-s.pos < 4 {
		return 0, false
	}
	digits := s.in[s.pos : s.pos+4]
	for _, d := range digits {
		if !isHex(d) {
			return 0, false
		}
	}
	s.pos += 4
	n, err := strconv.ParseUint(string(digits), 16, 16)
	return rune(n), err == nil
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
