package cli

import (
	"github.com/spf13/cobra"

	"muster/configs"
)

// rootHelp is what `muster --help` says first.
const rootHelp = `Muster is a WebSocket matchmaking server on Redis: players ask for a match, and all players of a match
get the rooms to go to.

Without arguments it serves on 127.0.0.1:8080 with an embedded Redis, for trying it out.

Settings come from a file (--config), which environment variables override, which flags override:
  MUSTER_LISTEN, MUSTER_REDIS_URL, …   the key of the file in capitals, with _ for each dot;
                                       lists are separated by commas
  MUSTER_REDIS_URL_FILE, …             a file that holds a secret
  GOGC, GOMEMLIMIT, AUTOMEMLIMIT       memory; what is set here is left as it is

Exit codes:
  0  done
  1  failed; of load: the server was not correct
  2  the settings or the command line are wrong
  3  load: the server was correct, but overloaded

Signals: SIGTERM and ^C stop the server without losing a ticket, a second one ends it at once.
SIGHUP reloads the settings; on a terminal, which sends it when it is closed, it stops the server.`

const serveExamples = `  muster
  muster config > muster.yaml
  muster --config muster.yaml --check
  MUSTER_REDIS_URL=redis://redis:6379/0 muster serve --config muster.yaml`

// configCommand prints the documented sample of a settings file.
func configCommand() *cobra.Command {
	return &cobra.Command{
		Use: "config", Short: "Print a settings file with every key, its default and what it does", Args: noArguments,
		Example: "  muster config > muster.yaml", SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(configs.Sample)
			return err
		},
	}
}
