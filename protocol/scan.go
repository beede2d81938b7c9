package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// field is one member of an object: its name, decoded, and its value as it was written.
type field struct {
	name string
	raw  []byte
}

// scanner reads one JSON object and yields the members of its outermost level. It is here because
// encoding/json takes names of any case and the last of two, and says neither. It does not recurse,
// and its memory is a small multiple of the input, whatever the input.
//
// A fault of grammar stops it. A fault of meaning (a name twice, too deep, half a surrogate pair,
// something after the object) is kept and the reading goes on, so that the id of the message is found
// wherever it stands.
type scanner struct {
	in     []byte
	pos    int
	open   []byte            // '{' or '[' of each container that is open, outermost first
	names  [MaxDepth]nameSet // of the open objects, by their depth
	fields []field
	start  int    // where the value of the current outermost member begins
	fault  string // the first fault of meaning, "" if none
}

// What the scanner expects next.
type expectation int

const (
	expectValue expectation = iota
	expectValueOrEnd
	expectName
	expectNameOrEnd
	expectCommaOrEnd
)

// scanObject reads the one object that in must be. The members that could be read are returned even
// with a fault, which is a phrase for the client and "" if there is none.
func scanObject(in []byte) (members []field, fault string) {
	if !utf8.Valid(in) {
		return nil, "not valid UTF-8"
	}
	s := scanner{in: in}
	s.skipSpace()
	if s.peek() != '{' {
		return nil, "not a JSON object"
	}
	if fault := s.run(); fault != "" {
		return s.fields, fault
	}
	s.skipSpace()
	if s.pos < len(s.in) {
		s.note("something follows the object")
	}
	return s.fields, s.fault
}

// run reads from the outermost brace to its end and returns a fault of grammar.
func (s *scanner) run() string {
	next := s.push('{')
	for len(s.open) > 0 {
		s.skipSpace()
		c := s.peek()
		ok := true
		switch {
		case c == '}' && (next == expectNameOrEnd || next == expectCommaOrEnd && s.top() == '{'),
			c == ']' && (next == expectValueOrEnd || next == expectCommaOrEnd && s.top() == '['):
			next = s.pop()
		case next == expectCommaOrEnd:
			ok = c == ','
			s.pos++
			next = expectValue
			if s.top() == '{' {
				next = expectName
			}
		case next == expectName, next == expectNameOrEnd:
			ok = s.name()
			next = expectValue
		default:
			next, ok = s.value(c)
		}
		if !ok {
			return fmt.Sprintf("not valid JSON near byte %d", min(s.pos, len(s.in)))
		}
	}
	return ""
}

// value reads a scalar, or enters a list or an object.
func (s *scanner) value(c byte) (next expectation, ok bool) {
	if len(s.open) == 1 {
		s.start = s.pos
	}
	switch {
	case c == '{', c == '[':
		return s.push(c), true
	case c == '"':
		_, ok = s.text()
	case c == '-', '0' <= c && c <= '9':
		ok = s.number()
	default:
		ok = s.word("true") || s.word("false") || s.word("null")
	}
	if ok {
		s.ended()
	}
	return expectCommaOrEnd, ok
}

// name reads a member's name and the colon.
func (s *scanner) name() bool {
	raw, ok := s.text()
	if !ok {
		return false
	}
	name := unquote(raw)
	depth := len(s.open)
	if depth <= MaxDepth && !s.names[depth-1].add(name) {
		s.note(fmt.Sprintf("the name %.64q stands twice in an object", name))
	}
	if depth == 1 {
		s.fields = append(s.fields, field{name: name})
	}
	s.skipSpace()
	ok = s.peek() == ':'
	s.pos++
	return ok
}

func (s *scanner) push(c byte) expectation {
	s.pos++
	s.open = append(s.open, c)
	depth := len(s.open)
	if depth > MaxDepth {
		s.note(fmt.Sprintf("nested more than %d deep", MaxDepth))
	} else {
		s.names[depth-1].clear()
	}
	if c == '{' {
		return expectNameOrEnd
	}
	return expectValueOrEnd
}

func (s *scanner) pop() expectation {
	s.pos++
	s.open = s.open[:len(s.open)-1]
	s.ended()
	return expectCommaOrEnd
}

// ended keeps the value that was just read if it is one of the outermost level.
func (s *scanner) ended() {
	if len(s.open) == 1 {
		s.fields[len(s.fields)-1].raw = s.in[s.start:s.pos]
	}
}

func (s *scanner) top() byte { return s.open[len(s.open)-1] }

func (s *scanner) note(fault string) {
	if s.fault == "" {
		s.fault = fault
	}
}

// peek is the next byte, 0 at the end: no JSON has a bare 0.
func (s *scanner) peek() byte {
	if s.pos < len(s.in) {
		return s.in[s.pos]
	}
	return 0
}

func (s *scanner) skipSpace() {
	for s.pos < len(s.in) {
		switch s.in[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) word(w string) bool {
	if !bytes.HasPrefix(s.in[s.pos:], []byte(w)) {
		return false
	}
	s.pos += len(w)
	return true
}

// number reads -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
func (s *scanner) number() bool {
	s.accept("-")
	if !s.accept("0") && !s.digits() {
		return false
	}
	if s.accept(".") && !s.digits() {
		return false
	}
	if s.accept("eE") {
		s.accept("+-")
		return s.digits()
	}
	return true
}

// accept reads the next byte if it is one of set.
func (s *scanner) accept(set string) bool {
	if s.pos < len(s.in) && bytes.IndexByte([]byte(set), s.in[s.pos]) >= 0 {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) digits() bool {
	from := s.pos
	for s.accept("0123456789") {
	}
	return s.pos > from
}

// unquote is the text of a string that text has read.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var out string
	_ = json.Unmarshal(raw, &out) // the grammar was checked
	return out
}

// nameSet finds a name that comes twice. Most objects are small and need no map; a large one needs it,
// or the search would be quadratic in the frame.
type nameSet struct {
	few  []string
	many map[string]struct{}
}

const fewNames = 16

// add reports whether the name is new.
func (n *nameSet) add(name string) bool {
	if n.many == nil && len(n.few) < fewNames {
		for _, have := range n.few {
			if have == name {
				return false
			}
		}
		n.few = append(n.few, name)
		return true
	}
	if n.many == nil {
		n.many = make(map[string]struct{}, 2*fewNames)
		for _, have := range n.few {
			n.many[have] = struct{}{}
		}
	}
	_, have := n.many[name]
	n.many[name] = struct{}{}
	return !have
}

func (n *nameSet) clear() { n.few, n.many = n.few[:0], nil }
