package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/garbage"
	"muster/load"
)

// exitOverloaded is the exit code of a load that was not carried out in full.
const exitOverloaded = 3

// overloadedError is a load of which the server, or this program, did less than was asked for.
type overloadedError struct{ error }

// loadCommand puts real clients on a server. Its exit code is 1 if the server was not correct, and exitOverloaded if it
// was, but not all that was asked for was done.
func loadCommand() *cobra.Command {
	var (
		o                  load.Options
		pattern            string
		jsonFile, htmlFile string
	)
	cmd := &cobra.Command{
		Use: "load", Short: "Connect simulated players to a server, measure it and check its answers", Args: noArguments,
		Example: `  muster load --players 1000 --world voice
  # A server takes 1,000 connections of an address (limits.connections_per_ip): 5,000 players need five. The file limit
  # (ulimit -n) must be above --players here and at the server.
  muster load --pattern steady --rate 1000 --duration 30s --leave --players 5000 \
    --sources 127.0.0.1,127.0.0.2,127.0.0.3,127.0.0.4,127.0.0.5 --html load.html`,
		SilenceUsage: true, SilenceErrors: true,
	}
	loadFlags(cmd.Flags(), &o)
	cmd.Flags().StringVar(&pattern, "pattern", string(load.Burst), "burst (all join at once), steady, churn or idle (connect only)")
	cmd.Flags().StringVar(&jsonFile, "json", "", "write the report as JSON to this file")
	cmd.Flags().StringVar(&htmlFile, "html", "", "write the report as a page to this file")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o.Pattern = load.Pattern(pattern)
		if err := o.Validate(); err != nil {
			return &usageError{err}
		}
		if isatty.IsTerminal(os.Stderr.Fd()) {
			o.Progress = func(p load.Progress) { _, _ = fmt.Fprintln(os.Stderr, p) } // it is only for the eye
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		context.AfterFunc(ctx, stop) // a second signal ends the process at once
		o.Reached = func(s load.Stage) {
			if s == load.Connected && os.Getenv("GOGC") == "" {
				garbage.Postpone(loadGarbage)
			}
		}
		report, err := load.Run(ctx, o)
		if err != nil {
			return err
		}
		err = errors.Join(report.WriteText(cmd.OutOrStdout()),
			writeFile(jsonFile, report.WriteJSON), writeFile(htmlFile, report.WriteHTML))
		switch {
		case err != nil:
			return err
		case !report.Correct:
			return errors.New(report.Verdict())
		case len(report.Shortfall) > 0:
			return &overloadedError{errors.New(report.Verdict())}
		}
		return nil
	}
	return cmd
}

// loadGarbage is how much garbage piles up while players join, in bytes.
const loadGarbage = 512 << 20

func loadFlags(flags *pflag.FlagSet, o *load.Options) {
	flags.StringSliceVar(&o.URLs, "url", []string{"ws://127.0.0.1:8080/v1/ws"}, "address of the server; players are spread over several")
	flags.IntVar(&o.Players, "players", 1000, "number of players")
	flags.StringSliceVar(&o.Worlds, "world", []string{"voice"}, "world to join; players are spread over several")
	flags.BoolVar(&o.EveryWorld, "every-world", false, "each player joins all worlds at once")
	flags.Float64Var(&o.Rate, "rate", 1000, "joins a second (steady, churn)")
	flags.DurationVar(&o.Duration, "duration", 10*time.Second, "how long players join (steady, churn) or stay connected (idle)")
	flags.BoolVar(&o.Leave, "leave", false, "each player leaves its match at once and comes again (steady, churn)")
	flags.Float64Var(&o.ConnectRate, "connect-rate", 0, "connections a second; 0 for no limit")
	flags.StringSliceVar(&o.Sources, "sources", nil, "local addresses to connect from, in turn")
	flags.StringVar(&o.IDPrefix, "id-prefix", "load", "prefix of the players' ids")
	flags.DurationVar(&o.Timeout, "timeout", 10*time.Minute, "end the run after this time, even if it is not complete")
	flags.DurationVar(&o.Settle, "settle", 3*time.Second, "idle time after which players that still wait count as lost")
}

// writeFile writes a file, none where the name is "".
func writeFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
