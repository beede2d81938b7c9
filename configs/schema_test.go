package configs

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// sections calls visit for every struct of the schema, once for each place where it is used.
func sections(t reflect.Type, visit func(reflect.Type)) {
	for t.Kind() == reflect.Pointer || shapeOf(t) == list || shapeOf(t) == table {
		t = t.Elem()
	}
	if shapeOf(t) != section {
		return
	}
	visit(t)
	for _, f := range fields(t) {
		sections(f.typ, visit)
	}
}

var keyName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// The tags are read at run time; a misspelt one must be found here.
func TestTags(t *testing.T) {
	t.Parallel()
	check := func(s reflect.Type) {
		for i, f := range fields(s) {
			name := s.Name() + "." + f.key
			if !keyName.MatchString(f.key) {
				t.Errorf("%s.%s: tag koanf %q", s.Name(), s.Field(i).Name, f.key)
			}
			if form, ok := f.tag.Lookup("form"); ok && forms[form] == nil {
				t.Errorf("%s: no form %q", name, form)
			}
			value := f.typ
			for value.Kind() == reflect.Slice || value.Kind() == reflect.Map {
				value = value.Elem()
			}
			least, most := f.bounds()
			switch {
			case value == durationType:
				if mustDuration(least) >= mustDuration(most) {
					t.Errorf("%s: range", name)
				}
			case value.Kind() == reflect.Int || value.Kind() == reflect.Float64:
				if mustNumber(least) >= mustNumber(most) {
					t.Errorf("%s: range", name)
				}
			case least != "":
				t.Errorf("%s: range of a %s", name, value)
			}
			if f.typ == secretType && (i+1 == s.NumField() || fields(s)[i+1].key != f.key+"_file") {
				t.Errorf("%s: the next key must be its twin %s_file", name, f.key)
			}
		}
	}
	sections(configType, check)
	check(reflect.TypeFor[evenTeams]())
}

func TestVariablesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for path := range settable() {
		name := variable(path)
		if other, ok := seen[name]; ok {
			t.Errorf("%s sets %s and %s", name, path, other)
		}
		if serviceLink.MatchString(name) {
			t.Errorf("%s looks like a Kubernetes service link", name)
		}
		seen[name] = path
	}
	for _, want := range []string{"MUSTER_LISTEN", "MUSTER_REDIS_URL", "MUSTER_REDIS_URL_FILE", "MUSTER_PRESENCE_TTL", "MUSTER_ORIGINS", "MUSTER_LIMITS_TRUSTED_PROXIES"} {
		if seen[want] == "" {
			t.Errorf("no variable %s", want)
		}
	}
}

// An operator finds every key in the sample, be it behind a #.
func TestSampleNamesEveryKey(t *testing.T) {
	t.Parallel()
	text := string(Sample)
	sections(configType, func(s reflect.Type) {
		for _, f := range fields(s) {
			if !regexp.MustCompile(`\b` + f.key + `\b`).MatchString(text) {
				t.Errorf("%s.%s is not in muster.yaml", s.Name(), f.key)
			}
		}
	})
	for i, line := range strings.Split(text, "\n") {
		if len(line) > 120 {
			t.Errorf("muster.yaml:%d is longer than 120 characters", i+1)
		}
	}
}

// Each key that the sample sets stands below a line that explains it, but for sections and for worlds
// that repeat what the first one explains.
func TestSampleExplainsEveryKey(t *testing.T) {
	t.Parallel()
	lines := strings.Split(string(Sample), "\n")
	explained := map[string]bool{}
	key := regexp.MustCompile(`^ *(?:- )?([a-z0-9_]+): (.*)$`)
	for i, line := range lines {
		m := key.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		above := strings.HasPrefix(strings.TrimSpace(lines[i-1]), "#")
		if !above && !explained[m[1]] {
			t.Errorf("muster.yaml:%d: %s is not explained", i+1, m[1])
		}
		explained[m[1]] = explained[m[1]] || above
	}
}
