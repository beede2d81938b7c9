package configs

// What the contract of the settings has and this version does not do. It is known and checked like the
// rest, and then refused, so that nobody believes in a setting that does nothing. Whoever builds a
// feature deletes its line.

var unavailable = []struct {
	key   string
	what  string // the value that is refused, where others of the key are not
	asked func(*Config) bool
}{
	{"auth.mode", "token ", func(c *Config) bool { return c.Auth.Mode == AuthToken }},
}

var unavailableInWorld = []struct {
	key   string
	what  string // the value that is refused, where others of the key are not
	asked func(*World) bool
}{
	{"mode", "rules ", func(w *World) bool { return w.Mode == ModeRules }},
	{"party_max", "", func(w *World) bool { return w.PartyMax > 1 }},
}

const notAvailable = "is not available in this version"

func (l *loader) checkAvailable(c *Config) {
	for _, u := range unavailable {
		if u.asked(c) {
			l.report(u.what+notAvailable, u.key)
		}
	}
	for i := range c.Worlds {
		l.checkWorldAvailable(&c.Worlds[i], element("worlds", i))
	}
}

func (l *loader) checkWorldAvailable(w *World, path string) {
	for _, u := range unavailableInWorld {
		if u.asked(w) {
			l.report(u.what+notAvailable, join(path, u.key))
		}
	}
}
