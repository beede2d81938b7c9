package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"

	"github.com/musterhq/muster/configs"
)

// banner says what is on and where: in words on a terminal, as one line of the log elsewhere.
func banner(out io.Writer, log zerolog.Logger, c configs.Config, public string, embedded bool) {
	if !isatty.IsTerminal(os.Stderr.Fd()) && c.Log.Format != configs.LogConsole {
		log.Info().Str("version", version).Str("listen", public).Str("ops_listen", c.OpsListen).Str("realm", c.Realm).
			Bool("embedded_redis", embedded).Int("worlds", len(c.Worlds)).Msg("muster serves")
		return
	}
	names := make([]string, len(c.Worlds))
	for i, w := range c.Worlds {
		names[i] = fmt.Sprintf("%s (%s of %d)", w.Name, w.Mode, w.Size)
	}
	lines := []string{
		"muster " + version,
		"  players  ws://" + public + "/v1/ws",
		"  demo     http://" + public + "/ - open it twice",
		"  worlds   " + strings.Join(names, ", "),
	}
	if c.OpsListen != "" {
		lines = append(lines, "  metrics  http://"+c.OpsListen+"/metrics")
	}
	if embedded {
		lines = append(lines, "  redis    embedded, for trying out: nothing outlives this process (set redis.url for more)")
	} else {
		lines = append(lines, "  redis    as set; realm "+c.Realm)
	}
	_, _ = fmt.Fprintln(out, strings.Join(lines, "\n")) // it is only a greeting
}
