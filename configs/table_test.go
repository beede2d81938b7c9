package configs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write docs/settings.md anew")

// The table of the documentation has every setting, and what a reload applies.
func TestSettingsTable_IsDocumented(t *testing.T) {
	t.Parallel()
	name := filepath.Join("..", "docs", "settings.md")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const heading = "\n| key |"
	text, _, ok := strings.Cut(string(page), heading)
	if !ok {
		t.Fatal("the page has no table")
	}
	want := text + "\n" + settingsTable()
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := diff(want, string(page)); d != "" {
		t.Errorf("go test ./configs -run TestSettingsTable -update (-want +got)\n%s", d)
	}
}

// What a setting is of.
const (
	ofRealm    = "realm"    // shared through Redis: the value that was declared last holds for all instances
	ofAlike    = "alike"    // of an instance, but all instances of a realm need the same
	ofInstance = "instance" // of one instance
)

// scopes say what settings are of, by the beginning of their path. The longest that fits holds.
var scopes = map[string]string{
	"":                         ofInstance,
	"realm":                    ofAlike,
	"redis":                    ofAlike,
	"limits.worlds_per_player": ofAlike,
	"presence":                 ofAlike,
	"drain":                    ofAlike,
	"worlds":                   ofRealm,
	"journal":                  ofAlike,
	"webhooks":                 ofAlike,
}

func scopeOf(path string) string {
	longest := ""
	for prefix := range scopes {
		if len(prefix) > len(longest) && (path == prefix || strings.HasPrefix(path, prefix+".") || strings.HasPrefix(path, prefix+"[")) {
			longest = prefix
		}
	}
	return scopes[longest]
}

// settingsTable is the table of all settings in Markdown: key, default, what it is of, and whether a reload applies it.
func settingsTable() string {
	var b strings.Builder
	b.WriteString("| key | default | of | changes with |\n| --- | --- | --- | --- |\n")
	c := Default()
	world := World{SeatHold: defaultSeatHold, Allocator: &Allocator{Agones: new(Agones)}}
	world.setDefaults()
	elements := map[string]reflect.Value{
		"worlds": reflect.ValueOf(world), "webhooks": reflect.ValueOf(Webhook{Attempts: defaultAttempts}),
	}
	row := func(path string, value any) {
		change := "restart"
		if liveKeys[path] || strings.HasPrefix(path, "worlds") {
			change = "reload"
		}
		fmt.Fprintf(&b, "| `%s` | %v | %s | %s |\n", path, shownDefault(value), scopeOf(path), change)
	}
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		for _, f := range fields(v.Type()) {
			at, child := join(path, f.key), v.Field(f.index)
			switch {
			case shapeOf(f.typ) == list && shapeOf(f.typ.Elem()) == section:
				element, ok := elements[at]
				if !ok {
					element = reflect.Zero(f.typ.Elem())
				}
				walk(element, at+"[]")
			case shapeOf(f.typ) == section:
				walk(reflect.Indirect(child), at)
			default:
				row(at, child.Interface())
			}
		}
	}
	walk(reflect.ValueOf(c), "")
	return b.String()
}

// shownDefault is a default as the file would have it, "" for none.
func shownDefault(value any) string {
	switch v := reflect.ValueOf(value); {
	case v.Type() == durationType:
		text := value.(time.Duration).String()
		if strings.HasSuffix(text, "m0s") {
			text = strings.TrimSuffix(text, "0s")
		}
		if strings.HasSuffix(text, "h0m") {
			text = strings.TrimSuffix(text, "0m")
		}
		return "`" + text + "`"
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Map || v.Kind() == reflect.String:
		if v.Len() == 0 {
			return ""
		}
	}
	return fmt.Sprintf("`%v`", value)
}
