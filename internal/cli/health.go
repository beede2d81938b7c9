package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// healthCommand asks a running instance how it is, for containers that have no other program.
func healthCommand() *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use: "health", Short: "Check that a running server is ready", Args: noArguments, SilenceUsage: true, SilenceErrors: true,
		Long:    "Check that a running server is ready. The exit code is 0 if it is, else 1.",
		Example: "  muster health\n  muster health --url http://127.0.0.1:9090/readyz",
	}
	cmd.Flags().StringVar(&url, "url", "http://127.0.0.1:8080/readyz", "address of the check, /readyz or /healthz")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), 3*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }() // the status is all that counts
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, response.Status)
		}
		var answer struct{ Status string }
		if err := json.NewDecoder(io.LimitReader(response.Body, 1<<10)).Decode(&answer); err != nil || answer.Status == "" {
			answer.Status = "ok" // not from Muster, but it is well
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), answer.Status)
		return err
	}
	return cmd
}
