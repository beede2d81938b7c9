package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"
)

func seed(f *testing.F) {
	f.Helper()
	for _, frame := range []string{
		`{"type":"hello","client":{"name":"c"},"have":{"tickets":["a"],"match":"m"},"id":"😀"}`,
		`{"type":"join","world":"w","party":["a"],"attributes":{"a":[1.5e-3,"\ud83d\ude00"]},"ticket":"k"}`,
		`{"type":"ping","t":-9007199254740992}`,
		`{"type":"leave","id":"1","x":[[],{},{"a":{"a":null}}]} `,
		`{"type":"leave","type":"\ud800"}{}`,
		`[true,false,null]`, `{"a":tru}`, `{"a":-}`, `{"a":01}`, `{"a":1.}`, `{"a":1e+}`, `{,}`, `{"a"}`, `{"a":}`, `{"a":[1,]}`,
	} {
		f.Add([]byte(frame))
	}
}

// FuzzDecodeRequest checks that no frame panics, that an error is one to send, and that what was
// decoded survives being encoded and decoded again.
func FuzzDecodeRequest(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, frame []byte) {
		r, err := DecodeRequest(frame)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || r != nil {
				t.Fatalf("DecodeRequest = %v, %v", r, err)
			}
			if reply := Encode(e); !utf8.Valid(reply) || !json.Valid(reply) {
				t.Fatalf("the reply is not JSON: %q", reply)
			}
			return
		}
		again, err := DecodeRequest(Encode(r))
		if err != nil {
			t.Fatalf("%s: %v", Encode(r), err)
		}
		a, b := r, again
		if j, ok := r.(*Join); ok { // spaces between attributes are not kept
			k := again.(*Join)
			if j.Fingerprint() != k.Fingerprint() {
				t.Fatalf("fingerprints differ: %s, %s", j.Attributes, k.Attributes)
			}
			j.Attributes, k.Attributes = nil, nil
		}
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%s became %s", Encode(a), Encode(b))
		}
	})
}

// FuzzScanObject holds the scanner against encoding/json: both must agree on what is JSON, and on the
// members of an object.
func FuzzScanObject(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		members, fault := scanObject(in)
		if fault != "" {
			if fine(in) {
				t.Fatalf("%q was refused: %s", in, fault)
			}
			return
		}
		want := map[string]json.RawMessage{}
		if err := json.Unmarshal(in, &want); err != nil {
			t.Fatalf("%q passed, encoding/json says %v", in, err)
		}
		if len(members) != len(want) {
			t.Fatalf("%q: %d members, want %d", in, len(members), len(want))
		}
		for _, m := range members {
			if !bytes.Equal(m.raw, want[m.name]) {
				t.Fatalf("%q: %q is %s, want %s", in, m.name, m.raw, want[m.name])
			}
		}
	})
}

// fine reports whether in must pass: JSON, an object, and free of what only this package refuses. It
// decides by other means than the scanner, by the tokens of encoding/json.
func fine(in []byte) bool {
	if !utf8.Valid(in) || !json.Valid(in) || bytes.TrimLeft(in, " \t\r\n")[0] != '{' {
		return false
	}
	if bytes.Contains(in, []byte(`\u`)) {
		return false // surrogates and names spelt apart: the table tests have them
	}
	dec := json.NewDecoder(bytes.NewReader(in))
	return !twiceOrDeep(dec, 0)
}

// twiceOrDeep reads one value and reports whether it is too deep or has a name twice.
func twiceOrDeep(dec *json.Decoder, depth int) bool {
	tok, err := dec.Token()
	if err != nil || depth > MaxDepth {
		return true
	}
	open, ok := tok.(json.Delim)
	if !ok {
		return false
	}
	if depth == MaxDepth {
		return true
	}
	seen := map[string]bool{}
	for dec.More() {
		if open == '{' {
			tok, err := dec.Token()
			name, ok := tok.(string)
			if err != nil || !ok || seen[name] {
				return true
			}
			seen[name] = true
		}
		if twiceOrDeep(dec, depth+1) {
			return true
		}
	}
	_, err = dec.Token()
	return err != nil
}
