// Package cli is the command line of Muster, one file for each command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/configs"
	"muster/internal/logqueue"
)

// version is set by the linker in releases.
var version = "dev"

// exitBadConfig is the exit code where settings, or the command line, are wrong.
const exitBadConfig = 2

// flushTimeout bounds how long the last lines of the log may keep the process from ending.
const flushTimeout = time.Second

// Main carries out the command line of the process and returns its exit code.
func Main() int {
	stderr := logqueue.New(os.Stderr, logqueue.DefaultBytes)
	code := execute(stderr)
	_ = stderr.Close(flushTimeout) // the process ends anyway
	return code
}

// execute carries out the command line and returns the exit code.
func execute(stderr *logqueue.Writer) int {
	err := command(stderr).ExecuteContext(context.Background())
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintln(stderr, err)
	var (
		problems   configs.Problems
		usage      *usageError
		overloaded *overloadedError
	)
	switch {
	case errors.As(err, &overloaded):
		return exitOverloaded
	case errors.As(err, &problems), errors.As(err, &usage):
		return exitBadConfig
	}
	return 1
}

// usageError is a command line that is wrong.
type usageError struct{ error }

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if strings.Contains(args[0], "://") { // it may hold a password
		return &usageError{errors.New("an address is no command; see muster --help")}
	}
	cmd.SuggestionsMinimumDistance = 2
	meant := ""
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		meant = "did you mean " + strings.Join(like, " or ") + "? "
	}
	return &usageError{fmt.Errorf("%q is no command; %ssee muster --help", args[0], meant)}
}

// flagError adds the flag that was probably meant and the command's help to the error of a wrong flag.
func flagError(cmd *cobra.Command, err error) error {
	meant := ""
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		meant = configs.DidYouMean("--"+unknown.GetSpecifiedName(), known)
	}
	return &usageError{fmt.Errorf("%w; %ssee %s --help", err, meant, cmd.CommandPath())}
}

// command is the command line: a bare `muster` is `muster serve`.
func command(stderr *logqueue.Writer) *cobra.Command {
	root := serveCommand(stderr)
	root.Use, root.Version = "muster", version
	root.Short = "Muster is a WebSocket matchmaking server on Redis"
	root.Long = rootHelp
	root.CompletionOptions.HiddenDefaultCmd = true
	serve := serveCommand(stderr)
	serve.Use, serve.Short = "serve", "Run the server (the default)"
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(serve, versionCommand(), configCommand(), healthCommand(), loadCommand(), matchesCommand(), journalCommand(), webhooksCommand())
	return root
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
