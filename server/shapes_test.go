package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"muster/internal/ident"
	"muster/protocol"
)

// object is a JSON object as it was read; numbers are json.Number.
type object = map[string]any

// parseObject reads one JSON object and nothing behind it.
func parseObject(raw []byte) (object, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var o object
	if err := decoder.Decode(&o); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the object")
	}
	if o == nil {
		return nil, errors.New("null is no object")
	}
	return o, nil
}

// kind is what a value must be; "" says that it is.
type kind func(v any) (fault string)

// fields are those of an object by name, a `?` behind those that may be absent. No other may be there.
type fields map[string]kind

func (f fields) check(v any) string {
	o, ok := v.(object)
	if !ok {
		return fmt.Sprintf("is %T, not an object", v)
	}
	known := map[string]bool{}
	for key, is := range f {
		name, optional := strings.CutSuffix(key, "?")
		known[name] = true
		value, there := o[name]
		if !there && !optional {
			return "." + name + " is missing"
		}
		if !there {
			continue
		}
		if fault := is(value); fault != "" {
			return "." + name + fault
		}
	}
	for name := range o {
		if !known[name] {
			return "." + name + " is in no table of the protocol"
		}
	}
	return ""
}

func text(v any) string {
	if s, ok := v.(string); !ok || s == "" {
		return fmt.Sprintf(" is %#v, not a text", v)
	}
	return ""
}

func id(v any) string {
	if s, ok := v.(string); !ok || !ident.Valid(s) {
		return fmt.Sprintf(" is %#v, not an id", v)
	}
	return ""
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func uuidText(v any) string {
	if s, ok := v.(string); !ok || !uuidForm.MatchString(s) {
		return fmt.Sprintf(" is %#v, not a UUID of version 7", v)
	}
	return ""
}

func boolean(v any) string {
	if _, ok := v.(bool); !ok {
		return fmt.Sprintf(" is %#v, not a boolean", v)
	}
	return ""
}

// from is an integer that is at least so large, and that JavaScript can hold.
func from(least int64) kind {
	return func(v any) string {
		n, ok := v.(json.Number)
		if !ok {
			return fmt.Sprintf(" is %#v, not a number", v)
		}
		if i, err := n.Int64(); err != nil || i < least || i > protocol.MaxInteger {
			return fmt.Sprintf(" is %s, not an integer from %d", n, least)
		}
		return ""
	}
}

// moment is a time in Unix milliseconds: not seconds, not microseconds.
func moment(v any) string {
	if fault := from(1_600_000_000_000)(v); fault != "" {
		return fault
	}
	if i, _ := v.(json.Number).Int64(); i > 10_000_000_000_000 {
		return fmt.Sprintf(" is %d, not in milliseconds", i)
	}
	return ""
}

// exactly is one of some texts, or of some numbers as they are written.
func exactly[T string | json.Number](allowed ...T) kind {
	return func(v any) string {
		if got, ok := v.(T); !ok || !slices.Contains(allowed, got) {
			return fmt.Sprintf(" is %#v, not one of %v", v, allowed)
		}
		return ""
	}
}

func orNull(is kind) kind {
	return func(v any) string {
		if v == nil {
			return ""
		}
		return is(v)
	}
}

func list(is kind) kind {
	return func(v any) string {
		entries, ok := v.([]any)
		if !ok {
			return fmt.Sprintf(" is %#v, not a list", v)
		}
		for i, entry := range entries {
			if fault := is(entry); fault != "" {
				return fmt.Sprintf("[%d]%s", i, fault)
			}
		}
		return ""
	}
}

// named is an object whose names are free.
func named(is kind) kind {
	return func(v any) string {
		o, ok := v.(object)
		if !ok || len(o) == 0 {
			return fmt.Sprintf(" is %#v, not an object of names", v)
		}
		for name, value := range o {
			if fault := is(value); fault != "" {
				return "." + name + fault
			}
		}
		return ""
	}
}
