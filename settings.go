package main

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/musterhq/muster/configs"
	"github.com/musterhq/muster/journal"
	"github.com/musterhq/muster/lua"
)

// loadSettings reads the settings of a command: from its file, the environment and its flags. The URLs are parsed by
// the libraries that will use them.
func loadSettings(file string, flags *pflag.FlagSet) (configs.Config, error) {
	return configs.Load(configs.Options{
		File: file, Environ: os.Environ(), Flags: flags, CheckRedisURL: lua.CheckURL, CheckJournalURL: journal.CheckURL,
	})
}
