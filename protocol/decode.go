package protocol

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// DecodeRequest reads a frame of a client. Whatever the frame is, the error, if there is one, is an
// *Error that is the reply to it, with the request's id if that could be read: CodeBadMessage, or
// CodeUnknownType where the message is sound and of a type that this version does not know.
//
// A frame that is not UTF-8 is CodeBadMessage here; a server that closes with CloseInvalidText
// instead checks that first. The request holds no part of the frame.
func DecodeRequest(frame []byte) (Request, error) {
	members, fault := scanObject(frame)
	f := fields{members: members}
	id := f.correlation()
	if fault == loneSurrogate && strings.ContainsRune(id, '\uFFFD') {
		id = "" // better none than another
	}
	bad := func(fault string) (Request, error) {
		return nil, &Error{Envelope: Envelope{ID: id}, Code: CodeBadMessage, Message: fault}
	}
	if fault != "" {
		return bad(fault)
	}
	name := f.text("type")
	if f.raw("type") == nil {
		f.refuse("type", "is required")
	}
	if f.fault != "" {
		return bad(f.fault)
	}
	create, ok := requests[name]
	if !ok {
		e := Errorf(CodeUnknownType, "the type %.64q is unknown", name)
		e.ID = id
		return nil, e
	}
	r := create()
	r.SetMessageID(id)
	if r.read(&f); f.fault != "" {
		return bad(f.fault)
	}
	return r, nil
}

// fields reads typed fields out of an object. The first fault is kept and names its field; after it
// the values are not to be used. A field that is null counts as absent.
type fields struct {
	members []field
	within  string // prefix of the names in faults: "have."
	fault   string
}

func (f *fields) refuse(name, format string, args ...any) {
	if f.fault == "" {
		f.fault = f.within + name + ": " + fmt.Sprintf(format, args...)
	}
}

// raw is the value of a field, nil where it is absent.
func (f *fields) raw(name string) []byte {
	for _, m := range f.members {
		if m.name != name {
			continue
		}
		if string(m.raw) == "null" {
			return nil
		}
		return m.raw
	}
	return nil
}

// text is a string, "" where it is absent.
func (f *fields) text(name string) string {
	raw := f.raw(name)
	if raw == nil {
		return ""
	}
	if raw[0] != '"' {
		f.refuse(name, "must be a string")
		return ""
	}
	return unquote(raw)
}

// correlation is the id of the message itself, which may hold any character. An empty one is as if
// absent.
func (f *fields) correlation() string {
	id := f.text("id")
	if id == "" && f.raw("id") != nil {
		f.refuse("id", "must not be empty")
	}
	if utf8.RuneCountInString(id) > MaxCorrelationLength {
		f.refuse("id", "must have at most %d characters", MaxCorrelationLength)
		return ""
	}
	return id
}

// client is the name and version of a client, as one string or as an object of two.
func (f *fields) client(name string) string {
	raw := f.raw(name)
	if raw == nil {
		return ""
	}
	var client string
	switch raw[0] {
	case '"':
		client = unquote(raw)
	case '{':
		sub := f.sub(name, raw)
		client = sub.text("name")
		if version := sub.text("version"); version != "" {
			client += "/" + version
		}
		f.adopt(sub)
	default:
		f.refuse(name, "must be a string, or an object of name and version")
	}
	if runes := []rune(client); len(runes) > MaxClientLength {
		client = string(runes[:MaxClientLength])
	}
	return client
}

// object is an object as it was written, nil where it is absent.
func (f *fields) object(name string) []byte {
	raw := f.raw(name)
	if raw == nil {
		return nil
	}
	if raw[0] != '{' {
		f.refuse(name, "must be an object")
		return nil
	}
	return bytes.Clone(raw) // the frame's buffer belongs to the caller
}

func (f *fields) have(name string) *Have {
	raw := f.raw(name)
	if raw == nil {
		return nil
	}
	if raw[0] != '{' {
		f.refuse(name, "must be an object")
		return nil
	}
	sub := f.sub(name, raw)
	have := &Have{Tickets: sub.tickets("tickets"), Match: sub.optionalID("match")}
	if len(have.Tickets) > MaxHaveTickets {
		sub.refuse("tickets", "must have at most %d entries", MaxHaveTickets)
	}
	f.adopt(sub)
	return have
}

// sub reads an object within this one. It was checked with the whole, so that it has no fault.
func (f *fields) sub(name string, raw []byte) *fields {
	members, _ := scanObject(raw)
	return &fields{members: members, within: f.within + name + "."}
}

func (f *fields) adopt(sub *fields) {
	if f.fault == "" {
		f.fault = sub.fault
	}
}
