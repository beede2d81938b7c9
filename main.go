// Muster is a WebSocket matchmaking server: players ask for a match in a world, and everybody in a match is
// told the rooms to go to. This is its command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/musterhq/muster/configs"
	"github.com/musterhq/muster/internal/garbage"
	"github.com/musterhq/muster/server"
)

// version is set by the linker in releases.
var version = "dev"

// exitBadConfig is the exit code where settings, or the command line, are wrong.
const exitBadConfig = 2

func main() {
	if err := command().ExecuteContext(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		var (
			problems configs.Problems
			usage    *usageError
		)
		if errors.As(err, &problems) || errors.As(err, &usage) {
			os.Exit(exitBadConfig)
		}
		os.Exit(1)
	}
}

// usageError is a command line that is wrong.
type usageError struct{ error }

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{fmt.Errorf("%q is no command; see muster --help", args[0])}
	}
	return nil
}

// command is the command line: a bare `muster` is `muster serve`.
func command() *cobra.Command {
	root := serveCommand()
	root.Use, root.Version = "muster", version
	root.Short = "Muster is a WebSocket matchmaking server on Redis"
	root.CompletionOptions.HiddenDefaultCmd = true
	serve := serveCommand()
	serve.Use, serve.Short = "serve", "Serve players (the default)"
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	root.AddCommand(serve, versionCommand(), healthCommand(), loadCommand(), matchesCommand(), journalCommand(), webhooksCommand())
	return root
}

func serveCommand() *cobra.Command {
	var (
		file  string
		check bool
	)
	cmd := &cobra.Command{Args: noArguments, SilenceUsage: true, SilenceErrors: true}
	cmd.Flags().StringVar(&file, "config", "", "file with the settings (YAML)")
	cmd.Flags().BoolVar(&check, "check", false, "check the settings and exit")
	configs.AddFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		load := func() (configs.Config, error) {
			return configs.Load(configs.Options{File: file, Environ: os.Environ(), Flags: cmd.Flags()})
		}
		config, err := load()
		if err != nil {
			return err
		}
		if check {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "settings are in order")
			return err
		}
		return serve(cmd.Context(), config, load)
	}
	return cmd
}

// serve runs an instance until it is told to stop. SIGHUP has the settings read again.
func serve(ctx context.Context, config configs.Config, load func() (configs.Config, error)) error {
	if os.Getenv("GOGC") == "" {
		go garbage.Pace(ctx)
	}
	log := newLogger(config.Log)
	switch limit, err := garbage.Bound(); {
	case err != nil:
		log.Warn().Err(err).Msg("memory is not bounded")
	case limit > 0:
		log.Info().Int64("bytes", limit).Msg("memory is bounded")
	}
	instance, err := server.New(ctx, server.Options{Config: config, Reload: load, SetLogLevel: setLogLevel, Version: version, Log: log})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	go func() {
		for {
			select {
			case <-ctx.Done():
				stop() // a second signal ends the process at once
				return
			case <-hangup:
				if err := instance.Reload(); err != nil {
					log.Error().Err(err).Msg("settings not read again")
				}
			}
		}
	}()
	return instance.Run(ctx, func(public string) { banner(os.Stderr, log, config, public, instance.Embedded()) })
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "muster", version)
			return err
		},
	}
}
