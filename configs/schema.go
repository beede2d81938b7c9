package configs

import (
	"encoding"
	"reflect"
	"strings"
	"time"
)

// The structs are the schema. Their tags are:
//
//	koanf   the key
//	range   least and most, of numbers and durations: "2..100", "10ms..1m"
//	oneof   the words allowed, separated by spaces
//	form    the name of a check in forms.go
//	need    "yes" where the key must be given; a secret may be given by its twin
//	shared  "yes" where a secret of a world is shared with other instances unless it is in a file
//	empty   "no" where a list must have an element
//
// For a list and a map range, oneof and form hold for the elements.

// field is one key of a section.
type field struct {
	key   string
	index int // in the struct
	typ   reflect.Type
	tag   reflect.StructTag
}

var (
	configType   = reflect.TypeFor[Config]()
	worldType    = reflect.TypeFor[World]()
	teamsType    = reflect.TypeFor[Teams]()
	secretType   = reflect.TypeFor[Secret]()
	durationType = reflect.TypeFor[time.Duration]()

	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// fields are the keys of a section in the order of the struct.
func fields(t reflect.Type) []field {
	fs := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		fs = append(fs, field{key: f.Tag.Get("koanf"), index: i, typ: f.Type, tag: f.Tag})
	}
	return fs
}

// element is the field that describes what is in a list or a map.
func (f field) element() field {
	return field{key: f.key, typ: f.typ.Elem(), tag: f.tag}
}

func (f field) needed() bool { return f.tag.Get("need") == "yes" }

// shape is how a key is written in the file.
type shape int

const (
	scalar  shape = iota
	section       // fixed keys
	list
	table // free keys
)

func shapeOf(t reflect.Type) shape {
	switch {
	case isText(t):
		return scalar
	case t.Kind() == reflect.Pointer:
		return shapeOf(t.Elem())
	case t.Kind() == reflect.Struct:
		return section
	case t.Kind() == reflect.Slice:
		return list
	case t.Kind() == reflect.Map:
		return table
	default:
		return scalar
	}
}

// isText reports whether a type of another package reads itself from text, such as netip.Prefix.
func isText(t reflect.Type) bool { return reflect.PointerTo(t).Implements(textUnmarshaler) }

// settable lists by path the keys that the environment can set: every scalar and every list of scalars
// that is not within a list.
func settable() map[string]field {
	found := make(map[string]field)
	var walk func(t reflect.Type, path string)
	walk = func(t reflect.Type, path string) {
		for _, f := range fields(t) {
			p := join(path, f.key)
			switch shapeOf(f.typ) {
			case section:
				walk(f.typ, p)
			case list:
				if shapeOf(f.typ.Elem()) == scalar {
					found[p] = f
				}
			case scalar:
				found[p] = f
			}
		}
	}
	walk(configType, "")
	return found
}

// variable is the name of the environment variable that sets a path.
func variable(path string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}
