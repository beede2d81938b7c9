package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"

	"muster/configs"
)

// banner says what is on and where: in words on a terminal, as one line of the log elsewhere. It shows no address that
// may hold a secret. file is that of the settings, "" for none.
func banner(out io.Writer, log zerolog.Logger, c configs.Config, file, public string, embedded bool) {
	if !isatty.IsTerminal(os.Stderr.Fd()) && c.Log.Format != configs.LogConsole {
		log.Info().Str("version", version).Str("settings", file).Str("listen", public).Str("ops_listen", c.OpsListen).
			Str("realm", c.Realm).Str("auth", string(c.Auth.Mode)).Bool("embedded_redis", embedded).
			Int("worlds", len(c.Worlds)).Strs("allocators", allocators(c)).Bool("journal", c.Journal.URL != "").
			Int("webhooks", len(c.Webhooks)).Msg("muster serves")
		return
	}
	_, _ = fmt.Fprintln(out, strings.Join(greeting(c, file, public, embedded), "\n")) // it is only a greeting
}

// greeting are the lines of the banner.
func greeting(c configs.Config, file, public string, embedded bool) []string {
	if file == "" {
		file = "the defaults (muster config prints a file with all of them)"
	}
	auth := "dev: clients name themselves, from this machine only"
	if len(c.Limits.TrustedProxies) > 0 {
		auth = "dev: clients name themselves, and everybody who reaches the proxy can speak for everybody"
	}
	if c.Auth.AllowDev {
		auth = "dev: clients name themselves, and everybody who reaches the port can speak for everybody"
	}
	redis := "as set; realm " + c.Realm
	if embedded {
		redis = "embedded, for trying out: nothing outlives this process (set redis.url for more)"
	}
	names := make([]string, len(c.Worlds))
	for i, w := range c.Worlds {
		names[i] = fmt.Sprintf("%s (%s of %d)", w.Name, w.Mode, w.Size)
	}
	journal, hooks := none, none
	if c.Journal.URL != "" {
		journal = "PostgreSQL, as set"
	}
	if n := len(c.Webhooks); n > 0 {
		hooks = fmt.Sprintf("to %d addresses", n)
		if n == 1 {
			hooks = "to 1 address"
		}
	}
	lines := []string{
		"muster " + version,
		"  players     ws://" + public + "/v1/ws",
		"  demo        http://" + public + "/ - open it twice",
		"  settings    " + file,
		"  auth        " + auth,
		"  worlds      " + strings.Join(names, ", "),
		"  allocators  " + orNone(allocators(c)),
		"  redis       " + redis,
		"  journal     " + journal,
		"  webhooks    " + hooks,
	}
	if c.OpsListen != "" {
		lines = append(lines, "  metrics     http://"+c.OpsListen+"/metrics")
	}
	return lines
}

const none = "none"

func orNone(names []string) string {
	if len(names) == 0 {
		return none
	}
	return strings.Join(names, ", ")
}

// allocators are the worlds whose matches wait for a server, and who gives it.
func allocators(c configs.Config) []string {
	names := []string{}
	for _, w := range c.Worlds {
		switch {
		case w.Allocator == nil:
		case w.Allocator.Agones != nil:
			names = append(names, string(w.Name)+" (Agones)")
		default:
			names = append(names, string(w.Name)+" (webhook)")
		}
	}
	return names
}
