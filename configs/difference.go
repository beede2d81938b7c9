package configs

import "reflect"

// liveKeys are those that a reload applies to a running server.
var liveKeys = map[string]bool{"worlds": true, "origins": true, "log.level": true}

// Difference names the keys that differ and that a running server cannot change: all but worlds,
// origins and log.level. They are in the order of the struct.
func Difference(old, changed Config) (restart []string) {
	var walk func(a, b reflect.Value, path string)
	walk = func(a, b reflect.Value, path string) {
		for _, f := range fields(a.Type()) {
			p, x, y := join(path, f.key), a.Field(f.index), b.Field(f.index)
			switch {
			case liveKeys[p]:
			case shapeOf(f.typ) == section:
				walk(x, y, p)
			case !same(x, y):
				restart = append(restart, p)
			}
		}
	}
	walk(reflect.ValueOf(old), reflect.ValueOf(changed), "")
	return restart
}

// same compares by value; an empty list is the same as none.
func same(a, b reflect.Value) bool {
	if shapeOf(a.Type()) == list && a.Len() == 0 && b.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}
