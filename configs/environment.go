package configs

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/env/v2"
)

const variablePrefix = "MUSTER_"

// serviceLink matches the variables that Kubernetes puts into a pod for a service whose name begins
// with "muster". Nobody set them as settings, so they must not be taken for misspelt ones.
var serviceLink = regexp.MustCompile(
	`_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$`)

// loadEnvironment merges the variables MUSTER_…, named as the path in capitals.
func (l *loader) loadEnvironment(environ []string) {
	paths := make(map[string]string)
	known := settable()
	for path := range known {
		paths[variable(path)] = path
	}
	read := func(name, text string) (string, any) {
		at := origin{layer: layerEnvironment, source: printable(name)}
		path, ok := paths[name]
		switch {
		case ok:
			return l.override(path, known[path], text, at)
		case name == variable("worlds"), name == variable("webhooks"):
			l.reportAt(at, strings.ToLower(strings.TrimPrefix(name, variablePrefix)), "can be set in the file only")
		case !serviceLink.MatchString(name):
			l.reportAt(at, "", "is not a known variable; "+
				DidYouMean(name[:min(len(name), maxQuoted)], slices.Sorted(maps.Keys(paths)))+
				"they are named as the keys of the file, such as "+variable("redis.url")+" for redis.url")
		}
		return "", nil
	}
	provider := env.Provider(".", env.Opt{
		Prefix:        variablePrefix,
		TransformFunc: read,
		EnvironFunc:   func() []string { return environ },
	})
	if err := l.merged.Load(provider, nil); err != nil {
		l.reportAt(origin{layer: layerEnvironment, source: "environment"}, "", err.Error())
	}
}

// override reads the text of a higher layer. The path is empty where there is nothing to merge. Lists
// are separated by commas.
func (l *loader) override(path string, f field, text string, at origin) (string, any) {
	l.origins[path] = at
	delete(l.broken, path) // of a lower layer, whose value does not count any more
	if shapeOf(f.typ) == scalar {
		if value, ok := l.scalar(text, f, path); ok {
			return path, value
		}
		return "", nil
	}
	values := []any{}
	if strings.TrimSpace(text) == "" {
		return path, values
	}
	for i, part := range strings.Split(text, ",") {
		l.origins[element(path, i)] = at
		if value, ok := l.scalar(strings.TrimSpace(part), f.element(), element(path, i)); ok {
			values = append(values, value)
		}
	}
	return path, values
}
