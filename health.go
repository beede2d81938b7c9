package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// healthCommand asks a running instance how it is, for containers that have no other program.
func healthCommand() *cobra.Command {
	var url string
	cmd := &cobra.Command{Use: "health", Short: "Ask a running instance whether it is well", Args: noArguments, SilenceUsage: true, SilenceErrors: true}
	cmd.Flags().StringVar(&url, "url", "http://127.0.0.1:8080/readyz", "what to ask")
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
		return nil
	}
	return cmd
}
