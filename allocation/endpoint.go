package allocation

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// MaxEndpointBytes is how long an endpoint may be, without the white space between its parts. Every player of
// the match is sent it.
const MaxEndpointBytes = 4 << 10

// checkEndpoint is an endpoint in its shortest form, if it may be one: any JSON but null.
func checkEndpoint(endpoint json.RawMessage) (json.RawMessage, error) {
	if len(endpoint) == 0 || string(endpoint) == "null" {
		return nil, badReply("reply has no endpoint")
	}
	// encoding/json lets bytes pass that are no text, and a browser closes the connection that brings them.
	if !utf8.Valid(endpoint) {
		return nil, badReply("endpoint is not UTF-8")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, endpoint); err != nil {
		return nil, badReply("endpoint is no JSON: %w", err)
	}
	if compact.Len() > MaxEndpointBytes {
		return nil, badReply("endpoint has more than %d bytes", MaxEndpointBytes)
	}
	if depth(compact.Bytes()) > maxEndpointDepth {
		return nil, badReply("endpoint is nested more than %d deep", maxEndpointDepth)
	}
	return compact.Bytes(), nil
}

// maxEndpointDepth is how deep an endpoint may be nested: as deep as a message of the protocol.
const maxEndpointDepth = 16

// depth is how deep JSON is nested, which is sound.
func depth(text []byte) int {
	deep, deepest, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			deep++
			deepest = max(deepest, deep)
		case c == '}' || c == ']':
			deep--
		}
	}
	return deepest
}
