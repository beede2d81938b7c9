package allocation

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxEndpointBytes is how long an endpoint may be, without the white space between its parts. Every player of
// the match is sent it.
const MaxEndpointBytes = 4 << 10

// checkEndpoint is an endpoint in its shortest form, if it may be one: any JSON but null.
//
// It is read as strictly as clients read it, since it goes to them, to the journal and to webhooks as it was given. With
// a name that is repeated in an object, half of a surrogate pair or bytes that are not UTF-8 each `welcome` of its players
// would fail.
func checkEndpoint(endpoint jsontext.Value) (json.RawMessage, error) {
	if endpoint.Kind() == 'n' || len(endpoint) == 0 {
		return nil, badReply("reply has no endpoint")
	}
	if !endpoint.IsValid() {
		return nil, badReply("endpoint is not valid JSON, or has a name twice in an object")
	}
	compact := bytes.Clone(endpoint)
	if err := (*jsontext.Value)(&compact).Compact(); err != nil {
		return nil, badReply("endpoint is not valid JSON: %w", err)
	}
	if len(compact) > MaxEndpointBytes {
		return nil, badReply("endpoint has more than %d bytes", MaxEndpointBytes)
	}
	if depth(compact) > maxEndpointDepth {
		return nil, badReply("endpoint is nested more than %d deep", maxEndpointDepth)
	}
	return compact, nil
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
