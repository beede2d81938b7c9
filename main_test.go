package main

import (
	"errors"
	"io"
	"testing"
)

func TestAWrongCommandLineIsAUsageError(t *testing.T) {
	for name, args := range map[string][]string{
		"flag":            {"--nope"},
		"flag of serve":   {"serve", "--nope"},
		"command":         {"nope"},
		"argument":        {"serve", "nope"},
		"value of a flag": {"--check=nope"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := command()
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
