package configs

import "github.com/spf13/pflag"

// flagPaths are the flags that override a setting.
var flagPaths = []struct{ flag, path, usage string }{
	{"listen", "listen", "address for clients"},
	{"ops-listen", "ops_listen", "address for metrics, profiles and operators; empty is off"},
	{"redis-url", "redis.url", "redis://, rediss:// or unix://; empty is the embedded Redis"},
	{"realm", "realm", "pool of players that may meet"},
	{"log-level", "log.level", "trace, debug, info, warn or error"},
	{"log-format", "log.format", "auto, console or json"},
}

// AddFlags declares the flags that Load reads. Their defaults are shown only; what is not given on the
// command line does not override anything.
func AddFlags(flags *pflag.FlagSet) {
	c := Default()
	defaults := map[string]string{
		"listen": c.Listen, "ops_listen": c.OpsListen, "realm": c.Realm,
		"log.level": string(c.Log.Level), "log.format": string(c.Log.Format),
	}
	for _, f := range flagPaths {
		flags.String(f.flag, defaults[f.path], f.usage)
	}
}

// loadFlags merges the flags that were given.
func (l *loader) loadFlags(flags *pflag.FlagSet) {
	if flags == nil {
		return
	}
	known := settable()
	values := make(map[string]any)
	for _, f := range flagPaths {
		given := flags.Lookup(f.flag)
		if given == nil || !given.Changed {
			continue
		}
		at := origin{layer: layerFlags, source: "--" + f.flag}
		if path, value := l.override(f.path, known[f.path], given.Value.String(), at); path != "" {
			values[path] = value
		}
	}
	l.merge(values)
}
