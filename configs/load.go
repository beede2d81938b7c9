package configs

import (
	"fmt"
	"iter"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// Options says where settings are read from. What is left out is not read.
type Options struct {
	// File is the path of the YAML file.
	File string
	// Environ is the environment as os.Environ gives it.
	Environ []string
	// Flags are those that AddFlags declared, after parsing; only the ones that were given count.
	Flags *pflag.FlagSet
	// CheckRedisURL and CheckJournalURL are those of the packages that connect there: they let the library that will
	// use a URL parse it. Their errors must not show the URL. A function that is nil takes everything.
	CheckRedisURL, CheckJournalURL func(string) error
}

// Load reads the settings and checks them. Its error is always of type Problems and names everything
// that is wrong.
func Load(o Options) (Config, error) {
	l := newLoader()
	if o.File != "" {
		p := &fileParser{loader: l, file: o.File, root: configType}
		if err := l.merged.Load(file.Provider(o.File), p); err != nil {
			l.reportAt(origin{layer: layerFile, source: o.File}, "", "cannot be read: "+reason(err))
		}
	}
	l.loadEnvironment(o.Environ)
	l.loadFlags(o.Flags)

	c := defaultServer()
	l.unmarshal(&c)
	l.finish(&c)
	l.checkURL("redis.url", c.Redis.URL, c.Redis.URLFile, o.CheckRedisURL)
	l.checkURL("journal.url", c.Journal.URL, c.Journal.URLFile, o.CheckJournalURL)
	l.checkServer(&c)
	l.checkWorlds(c.Worlds)
	l.checkAvailable(&c)
	if err := l.err(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// layer is a source of settings; a higher one overrides a lower.
type layer int

const (
	layerDefault layer = iota
	layerFile
	layerEnvironment
	layerFlags
)

// origin is where a setting stands.
type origin struct {
	layer  layer
	source string
	line   int
}

// loader collects the layers and what is wrong with them. Each layer gives values that are parsed and
// within the range of their key; what is not is reported and left out, so that the checks of how
// settings go together still have something to look at.
type loader struct {
	merged   *koanf.Koanf
	origins  map[string]origin // by path; sections and elements of lists have theirs, too
	broken   map[string]bool   // paths whose value was reported and left out
	problems Problems
	// adopting is set for the settings of a world that another instance has declared. What it may have declared by
	// older rules is taken.
	adopting bool
}

func newLoader() *loader {
	return &loader{
		merged:  koanf.New("."),
		origins: make(map[string]origin),
		broken:  make(map[string]bool),
	}
}

// unmarshal writes the merged layers into target. The values have the types of their keys by now, so
// that an error here is a defect of this package; it is reported all the same.
func (l *loader) unmarshal(target any) {
	if err := l.merged.Unmarshal("", target); err != nil {
		l.reportAt(origin{source: "settings"}, "", err.Error())
	}
}

// merge puts values on top of the layers so far.
func (l *loader) merge(values map[string]any) {
	// A provider that holds its values cannot fail; were that to change, the values would be missed.
	if err := l.merged.Load(confmap.Provider(values, "."), nil); err != nil {
		l.reportAt(origin{source: "settings"}, "", err.Error())
	}
}

// finish fills in what depends on other settings.
func (l *loader) finish(c *Config) {
	if !l.known("worlds") {
		c.Worlds = defaultWorlds()
	}
	for i := range c.Worlds {
		c.Worlds[i].setDefaults()
	}
	for i := range c.Webhooks {
		fill(&c.Webhooks[i].Attempts, defaultAttempts)
	}
	l.resolveSecrets(c)
}

// known reports whether some layer named the path, be its value good or bad.
func (l *loader) known(path string) bool {
	_, ok := l.origins[path]
	return ok
}

// report blames the first of the paths that was set for a problem between them. It keeps silent where
// one of them has been reported already: with its true value the problem may not be there.
func (l *loader) report(message string, paths ...string) {
	blamed := paths[0]
	for i := len(paths) - 1; i >= 0; i-- {
		if l.isBroken(paths[i]) {
			return
		}
		if l.known(paths[i]) {
			blamed = paths[i]
		}
	}
	l.reportAt(l.origin(blamed), blamed, message)
}

// reject reports the value of a path, which is then left out.
func (l *loader) reject(path, message string) {
	l.broken[path] = true
	l.reportAt(l.origin(path), path, message)
}

func (l *loader) reportAt(o origin, path, message string) {
	l.problems = append(l.problems, Problem{
		Source: o.source, Line: o.line, Key: path, Message: message, layer: o.layer,
	})
}

// origin is where the path stands, or the nearest section around it that does.
func (l *loader) origin(path string) origin {
	for p := range around(path) {
		if o, ok := l.origins[p]; ok {
			return o
		}
	}
	return origin{source: "defaults"}
}

// isBroken reports whether the value of the path, or of a section around it, was left out.
func (l *loader) isBroken(path string) bool {
	for p := range around(path) {
		if l.broken[p] {
			return true
		}
	}
	return false
}

// around yields the path and those of the sections and lists that it lies in, the outermost last.
func around(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for yield(path) && path != "" {
			path = path[:max(0, strings.LastIndexAny(path, ".["))]
		}
	}
}

func (l *loader) err() error {
	if len(l.problems) == 0 {
		return nil
	}
	l.problems.sort()
	return l.problems
}

// join is the path of a key within a section; the outermost section has no path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func element(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
