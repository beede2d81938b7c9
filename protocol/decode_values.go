package protocol

import (
	"encoding/json"
	"slices"
	"strconv"

	"muster/internal/ident"
)

const idRule = "must be 1 to 64 characters out of A-Z a-z 0-9 . _ : @ -"

// id is an id that must be there.
func (f *fields) id(name string) string {
	if f.raw(name) == nil {
		f.refuse(name, "is required")
		return ""
	}
	return f.optionalID(name)
}

// optionalID is an id, "" where it is absent.
func (f *fields) optionalID(name string) string {
	raw := f.raw(name)
	if raw == nil {
		return ""
	}
	return f.idFrom(name, raw)
}

func (f *fields) idFrom(name string, raw []byte) string {
	if raw[0] != '"' {
		f.refuse(name, "must be a string")
		return ""
	}
	id := unquote(raw)
	if !ident.Valid(id) {
		f.refuse(name, idRule)
		return ""
	}
	return id
}

// ids is a list of ids, nil where it is absent.
func (f *fields) ids(name string) List[string] { return f.list(name, f.idFrom) }

// tickets is a list of ticket ids, nil where it is absent.
func (f *fields) tickets(name string) List[string] { return f.list(name, f.ticketFrom) }

// ticketFrom is an entry that is a ticket's id: a world's name, a dot and a number, so that it may be longer
// than an id.
func (f *fields) ticketFrom(name string, raw []byte) string {
	if raw[0] == '"' {
		id := unquote(raw)
		if len(id) > MaxIDLength && len(id) <= MaxTicketIDLength && ident.Valid(id[:MaxIDLength]) && ident.Valid(id[MaxIDLength:]) {
			return id
		}
	}
	return f.idFrom(name, raw)
}

func (f *fields) list(name string, read func(name string, raw []byte) string) List[string] {
	raw := f.raw(name)
	if raw == nil {
		return nil
	}
	if raw[0] != '[' {
		f.refuse(name, "must be a list of strings")
		return nil
	}
	var entries []json.RawMessage
	_ = json.Unmarshal(raw, &entries) // the grammar was checked
	out := make(List[string], len(entries))
	for i, entry := range entries {
		out[i] = read(name+"["+strconv.Itoa(i)+"]", entry)
		if f.fault != "" {
			return nil
		}
	}
	return out
}

// distinct refuses a list in which an id stands twice.
func (f *fields) distinct(name string, ids []string) {
	sorted := slices.Sorted(slices.Values(ids))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			f.refuse(name, "names %s twice", sorted[i])
			return
		}
	}
}

// integer is a whole number up to MaxInteger either side of zero, nil where it is absent. It is
// written without fraction and exponent.
func (f *fields) integer(name string) *int64 {
	raw := f.raw(name)
	if raw == nil {
		return nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n > MaxInteger || n < -MaxInteger {
		f.refuse(name, "must be an integer between -2^53 and 2^53")
		return nil
	}
	return &n
}
