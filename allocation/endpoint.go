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
	return compact.Bytes(), nil
}
