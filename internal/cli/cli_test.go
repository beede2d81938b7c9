package cli

import (
	"bytes"
	"errors"
	"io"
	"log"
	"testing"

	"github.com/rs/zerolog"
)

func TestAWrongCommandLineIsAUsageError(t *testing.T) {
	for name, args := range map[string][]string{
		"flag":            {"--nope"},
		"flag of serve":   {"serve", "--nope"},
		"command":         {"nope"},
		"argument":        {"serve", "nope"},
		"value of a flag": {"--check=nope"},
		"two matches":     {"matches", "m1", "m2"},
		"no id":           {"matches", "a b"},
		"time":            {"matches", "--since", "yesterday"},
		"time to come":    {"matches", "--since", "-1h"},
		"state":           {"matches", "--state", "open"},
		"limit":           {"matches", "--limit", "0"},
		"limit of dead":   {"webhooks", "dead", "--limit", "0"},
		"replay what":     {"journal", "replay"},
		"replay both":     {"webhooks", "replay", "--all", "e1"},
		"what of journal": {"journal", "alive"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := command(nil)
			cmd.SetArgs(args)
			cmd.SetOut(io.Discard)
			cmd.SetErr(io.Discard)
			var usage *usageError
			if err := cmd.ExecuteContext(t.Context()); !errors.As(err, &usage) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestLogLibraries_WritesJSON(t *testing.T) {
	previous := log.Writer()
	t.Cleanup(func() { log.SetOutput(previous) })
	var out bytes.Buffer
	logLibraries(zerolog.New(&out))
	log.Printf("Unsolicited response")
	if got, want := out.String(), `{"level":"debug","text":"Unsolicited response","message":"library"}`+"\n"; got != want {
		t.Errorf("logged %s, want %s", got, want)
	}
}
