package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"muster/configs"
	"muster/internal/garbage"
	"muster/internal/logqueue"
	"muster/server"
)

func serveCommand(stderr *logqueue.Writer) *cobra.Command {
	var (
		file  string
		check bool
	)
	cmd := &cobra.Command{Args: noArguments, Example: serveExamples, SilenceUsage: true, SilenceErrors: true}
	cmd.Flags().StringVar(&file, "config", "", "file with the settings (YAML)")
	cmd.Flags().BoolVar(&check, "check", false, "check the settings and exit")
	configs.AddFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		load := func() (configs.Config, error) {
			return loadSettings(file, cmd.Flags())
		}
		config, err := load()
		if err != nil {
			return err
		}
		warning := ""
		if showsPassword(cmd.Flags()) {
			warning = passwordOnCommandLine
		}
		if check {
			if warning != "" {
				cmd.PrintErrln("warning: " + warning)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "settings are in order")
			return err
		}
		return serve(cmd.Context(), stderr, startup{config: config, load: load, file: file, warning: warning})
	}
	return cmd
}

// startup is what an instance starts with.
type startup struct {
	config  configs.Config
	load    func() (configs.Config, error) // reads the settings again
	file    string                         // of the settings; "" is none
	warning string                         // of the command line; "" is none
}

// serve runs an instance until a signal ends it. SIGHUP reloads the settings, or ends it like SIGTERM when it runs on
// a terminal, which sends that signal when it is closed.
func serve(ctx context.Context, stderr *logqueue.Writer, with startup) error {
	// Without this the first line after the reader of stderr or stdout has gone would end the process.
	signal.Ignore(syscall.SIGPIPE)
	if os.Getenv("GOGC") == "" {
		go garbage.Pace(ctx)
	}
	config := with.config
	log := newLogger(config.Log, stderr)
	logLibraries(log)
	if with.warning != "" {
		log.Warn().Msg(with.warning)
	}
	switch limit, err := garbage.Bound(); {
	case err != nil:
		log.Warn().Err(err).Msg("memory is not bounded")
	case limit > 0:
		log.Info().Int64("bytes", limit).Msg("memory is bounded")
	}
	instance, err := server.New(ctx, server.Options{
		Config: config, Reload: with.load, SetLogLevel: setLogLevel, Version: version, Log: log, LogLinesLost: stderr.Lost,
	})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	endsOnHangup := hangupEnds()
	hangup := make(chan os.Signal, 1)
	// Never stopped: a terminal and its shell may each send one, and the second must not kill a process that is done.
	signal.Notify(hangup, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-ctx.Done():
				stop() // a second signal ends the process at once
				return
			case <-hangup:
				if endsOnHangup {
					stop()
				} else if _, err := instance.Reload(); err != nil {
					log.Error().Err(err).Msg("config reload failed; keeping the running settings")
				}
			}
		}
	}()
	return instance.Run(ctx, func(public string) { banner(stderr, log, config, with.file, public, instance.Embedded()) })
}

// hangupEnds reports whether SIGHUP means that the terminal was closed: the process runs on one, and was not started
// to outlive it (nohup). It asks before the terminal is gone.
func hangupEnds() bool {
	if signal.Ignored(syscall.SIGHUP) {
		return false
	}
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		if isatty.IsTerminal(f.Fd()) {
			return true
		}
	}
	return false
}
