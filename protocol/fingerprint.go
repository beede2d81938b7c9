package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync"
)

// Fingerprint is 16 hexadecimal digits that are the same for joins of the same content: the same
// members of the party in whatever order, and attributes that differ in nothing but spaces, the order
// of names and the spelling of strings. World and ticket are not part of it, as it is kept per player,
// world and ticket. No attributes are the same as `{}`.
func (r *Join) Fingerprint() string {
	if len(r.Party) == 0 && len(r.Attributes) == 0 {
		return plainFingerprint() // of most joins, and it is dear
	}
	return r.fingerprint()
}

// plainFingerprint is that of a join with neither a party nor attributes.
var plainFingerprint = sync.OnceValue((&Join{}).fingerprint)

func (r *Join) fingerprint() string {
	party := slices.Sorted(slices.Values(r.Party))
	attributes := map[string]any{}
	if len(r.Attributes) > 0 {
		dec := json.NewDecoder(bytes.NewReader(r.Attributes))
		dec.UseNumber() // as written: 1.0 and 1 differ, and no digit is lost
		// What DecodeRequest let pass is an object of bounded depth; a caller's own mistake counts as
		// no attributes.
		_ = dec.Decode(&attributes)
	}
	// Marshal sorts the names of a map at every level. It cannot fail on what a decoder made.
	canonical, _ := json.Marshal([]any{party, attributes})
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:8])
}
