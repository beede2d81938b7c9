package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// MarshalJSON is the canonical form of the settings: the keys of the file, sorted, with the values as
// the file has them. Instances compare it and adopt it from each other. What is zero is left out, so
// that a later version's feature does not show until it is used. Secrets are left out, too; the name of
// a secret's file is not. A URL is in it, unless a file holds it.
func (w World) MarshalJSON() ([]byte, error) {
	return json.Marshal(plain(reflect.ValueOf(w)))
}

// Settings is the canonical form as text: equal for worlds with equal settings, and only for them.
// ParseWorld reads it.
func (w World) Settings() string {
	text, err := w.MarshalJSON()
	if err != nil {
		// Only texts, numbers within a range, and maps and lists of them are marshalled.
		panic(fmt.Sprintf("settings of world %s: %v", w.Name, err))
	}
	return string(text)
}

// Hash stands for Settings where that is too long: 32 hexadecimal digits.
func (w World) Hash() string {
	sum := sha256.Sum256([]byte(w.Settings()))
	return hex.EncodeToString(sum[:16])
}

// ParseWorld reads what Settings wrote, perhaps on an instance of another version, and checks it as
// Load does. Its error is of type Problems; an unknown key is one, because a world whose rules are not
// understood must not be run.
func ParseWorld(settings string) (World, error) {
	l := newLoader()
	l.adopting = true
	p := &fileParser{loader: l, file: "world settings", root: worldType}
	values, _ := p.Unmarshal([]byte(settings)) // JSON is YAML; what is wrong is reported to l
	l.merge(values)
	var w World
	l.unmarshal(&w)
	w.setDefaults()
	l.resolveSecrets(&w)
	l.checkWorld(&w, "")
	l.checkWorldAvailable(&w, "")
	if err := l.err(); err != nil {
		return World{}, err
	}
	return w, nil
}

// plain turns settings into what encoding/json writes as the file would have it.
func plain(v reflect.Value) any {
	switch {
	case v.Type() == durationType:
		return time.Duration(v.Int()).String()
	case v.Kind() == reflect.Pointer:
		return plain(v.Elem())
	}
	switch shapeOf(v.Type()) {
	case section:
		values := make(map[string]any)
		known := fields(v.Type())
		for i, f := range known {
			switch child := v.Field(f.index); {
			case child.IsZero():
			case f.typ != secretType:
				values[f.key] = plain(child)
			case f.tag.Get("shared") == "yes" && v.Field(known[i+1].index).IsZero():
				values[f.key] = child.String()
			}
		}
		return values
	case list:
		values := make([]any, v.Len())
		for i := range values {
			values[i] = plain(v.Index(i))
		}
		return values
	default:
		return v.Interface()
	}
}
