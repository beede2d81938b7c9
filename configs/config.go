// Package configs owns what can be set: the settings of a server and of its worlds, their defaults, and
// how they are read. A setting comes from the file (YAML), is overridden by the environment, and that by
// flags. Whatever is wrong is found before anything starts, and all of it is told at once, each with the
// place where it stands.
//
// The package knows nothing of what the settings do; other packages get their own small options, built
// in main. Its functions may be called concurrently; a Config is not changed after Load returned it.
package configs

import (
	"net/netip"
	"time"

	"muster/internal/ident"
)

// Config is everything that can be set. The tag koanf names the key in the file; the tags range, oneof
// and form say what is allowed (see schema.go). The comments in muster.yaml explain each key.
type Config struct {
	Listen    string        `koanf:"listen" form:"address"`
	OpsListen string        `koanf:"ops_listen" form:"address_or_empty"`
	Realm     string        `koanf:"realm" form:"id"`
	Redis     Redis         `koanf:"redis"`
	Auth      Auth          `koanf:"auth"`
	Origins   []string      `koanf:"origins" form:"origin"`
	Limits    Limits        `koanf:"limits"`
	Presence  Presence      `koanf:"presence"`
	Drain     time.Duration `koanf:"drain" range:"0s..10m"`
	Log       Log           `koanf:"log"`
	Worlds    []World       `koanf:"worlds" empty:"no"`
	Journal   Journal       `koanf:"journal"`
	Webhooks  []Webhook     `koanf:"webhooks"`
}

// Redis says where the state lives. An empty URL is the embedded Redis.
type Redis struct {
	URL      Secret        `koanf:"url"`
	URLFile  string        `koanf:"url_file"`
	Recovery time.Duration `koanf:"recovery" range:"100ms..1m"`
}

// Auth says how a client proves who it is.
type Auth struct {
	Mode             AuthMode `koanf:"mode" oneof:"dev token"`
	AllowDev         bool     `koanf:"allow_dev"`
	HS256Secret      Secret   `koanf:"hs256_secret" form:"hs256_secret"`
	HS256SecretFile  string   `koanf:"hs256_secret_file"`
	PublicKeyFile    string   `koanf:"public_key_file"`
	JWKSFile         string   `koanf:"jwks_file"`
	Issuer           string   `koanf:"issuer"`
	Audience         string   `koanf:"audience"`
	ClientAttributes []string `koanf:"client_attributes" form:"id"`
}

// AuthMode is how clients are told apart.
type AuthMode string

// The modes of authentication.
const (
	AuthDev   AuthMode = "dev"   // no token: a client names itself
	AuthToken AuthMode = "token" // a signed JWT
)

// Limits are bounds of one instance, but for WorldsPerPlayer, which holds in the realm.
type Limits struct {
	Connections       int            `koanf:"connections" range:"1..10000000"`
	ConnectionsPerIP  int            `koanf:"connections_per_ip" range:"1..10000000"`
	MessagesPerSecond int            `koanf:"messages_per_second" range:"1..100000"`
	WorldsPerPlayer   int            `koanf:"worlds_per_player" range:"1..8"`
	MessageBytes      int            `koanf:"message_bytes" range:"1024..1048576"`
	TrustedProxies    []netip.Prefix `koanf:"trusted_proxies"`
}

// Presence says how long a player counts as being there.
type Presence struct {
	Heartbeat      time.Duration `koanf:"heartbeat" range:"10ms..10m"`
	TTL            time.Duration `koanf:"ttl" range:"20ms..1h"`
	ReconnectGrace time.Duration `koanf:"reconnect_grace" range:"0s..1h"`
}

// Log says what is logged and how it looks.
type Log struct {
	Level  LogLevel  `koanf:"level" oneof:"trace debug info warn error"`
	Format LogFormat `koanf:"format" oneof:"auto console json"`
}

// LogLevel is the least severe level that is logged, in the words of zerolog.
type LogLevel string

// The levels of logging.
const (
	LogTrace LogLevel = "trace"
	LogDebug LogLevel = "debug"
	LogInfo  LogLevel = "info"
	LogWarn  LogLevel = "warn"
	LogError LogLevel = "error"
)

// LogFormat is how a line of the log looks.
type LogFormat string

// The formats of the log.
const (
	LogAuto    LogFormat = "auto" // console on a terminal, JSON elsewhere
	LogConsole LogFormat = "console"
	LogJSON    LogFormat = "json"
)

// Journal is a Postgres database to which matches are written. An empty URL is none.
type Journal struct {
	URL      Secret `koanf:"url"`
	URLFile  string `koanf:"url_file"`
	Attempts int    `koanf:"attempts" range:"1..100"`
}

// Webhook is an address that is called when something happened.
type Webhook struct {
	URL        Secret   `koanf:"url" form:"http_url" need:"yes"`
	URLFile    string   `koanf:"url_file"`
	Secret     Secret   `koanf:"secret"`
	SecretFile string   `koanf:"secret_file"`
	Events     []string `koanf:"events" oneof:"match.completed match.cancelled match.ended player.dequeued" need:"yes" empty:"no"`
	Attempts   int      `koanf:"attempts" range:"1..100"`
}

// World returns the settings of the world of that name.
func (c Config) World(name ident.World) (World, bool) {
	for _, w := range c.Worlds {
		if w.Name == name {
			return w, true
		}
	}
	return World{}, false
}
