package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
)

// Message is a request or an event. Only the structs of this package are messages, by their pointers.
type Message interface {
	// Type is the value of the field `type`.
	Type() string
	// MessageID is the field `id`: what a client chose for its request and finds again in the
	// reply. It is "" in events that answer nothing, and where the request had none.
	MessageID() string
	// SetMessageID sets it.
	SetMessageID(id string)
}

// Request is a message of a client.
type Request interface {
	Message
	read(f *fields)
}

// Event is a message of the server: a reply, or something that it tells by itself.
type Event interface {
	Message
	event()
}

// Envelope is what all messages have besides their type.
type Envelope struct {
	ID string `json:"id,omitempty"`
}

// MessageID is the id of the message, "" where it has none.
func (e *Envelope) MessageID() string { return e.ID }

// SetMessageID sets the id of the message.
func (e *Envelope) SetMessageID(id string) { e.ID = id }

// List is a slice that is `[]` on the wire when it is nil: a list is never null there.
type List[T any] []T

// MarshalJSON writes the list, `[]` for nil.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}

// Encode is the frame of a message. Its type comes from the Go type, so that the two cannot differ.
//
// The one thing that cannot be encoded is a json.RawMessage (Attributes) that is not JSON, which is a
// mistake of the caller. It yields an error `internal` with the id of the message: whoever waits for
// a reply is told, and the process lives.
func Encode(m Message) []byte {
	frame, err := encode(m)
	if err != nil {
		e := NewError(CodeInternal)
		e.ID = m.MessageID()
		frame, _ = encode(e) // holds strings only
	}
	return frame
}

// encode writes the type in front of the fields. The encoder opens the object with a brace of its own,
// which becomes the comma between the two.
func encode(m Message) ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteString(`{"type":"` + m.Type() + `"`)
	brace := buf.Len()
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // frames are not put into a page; attributes stay as they were written
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("encode %s: %w", m.Type(), err)
	}
	frame := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if frame[brace+1] == '}' { // no fields
		frame[brace] = '}'
		return frame[:brace+1], nil
	}
	frame[brace] = ','
	return frame, nil
}

// ErrUnknownEvent is returned by DecodeEvent for a type that this version does not know. Clients
// ignore such events: newer servers may send them.
var ErrUnknownEvent = errors.New("unknown type of event")

// DecodeEvent reads a frame that a server sent. What it does not know is ignored; a type that it does
// not know is ErrUnknownEvent.
//
// It reads with what is to be encoding/json/v2: names are those of the protocol to the letter, a name that stands twice is
// refused as the server refuses it, and a client of many players spends two thirds of the time or less.
func DecodeEvent(frame []byte) (Event, error) {
	kind, err := typeOf(frame)
	if err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	create, ok := events[kind]
	if !ok {
		return nil, fmt.Errorf("decode event %.64q: %w", kind, ErrUnknownEvent)
	}
	e := create()
	if err := jsonv2.Unmarshal(frame, e); err != nil {
		return nil, fmt.Errorf("decode event %s: %w", kind, err)
	}
	return e, nil
}

// typeOf is a frame's type. Encode writes it in front, where it can be read without the rest; a frame of another server
// is looked through.
func typeOf(frame []byte) (string, error) {
	if rest, ok := bytes.CutPrefix(frame, []byte(`{"type":"`)); ok {
		if end := bytes.IndexAny(rest, `"\`); end >= 0 && rest[end] == '"' {
			return string(rest[:end]), nil
		}
	}
	var head struct {
		Type string `json:"type"`
	}
	err := jsonv2.Unmarshal(frame, &head)
	return head.Type, err
}
