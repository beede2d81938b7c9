package cli

import (
	"net/url"
	"os"

	"github.com/spf13/pflag"

	"muster/configs"
	"muster/journal"
	"muster/store"
)

// loadSettings reads the settings of a command: from its file, the environment and its flags. The URLs are parsed by
// the libraries that will use them.
func loadSettings(file string, flags *pflag.FlagSet) (configs.Config, error) {
	return configs.Load(configs.Options{
		File: file, Environ: os.Environ(), Flags: flags, CheckRedisURL: store.CheckURL, CheckJournalURL: journal.CheckURL,
	})
}

// passwordOnCommandLine is a warning.
const passwordOnCommandLine = "the password in --redis-url is visible in the list of processes; " +
	"give redis.url_file, MUSTER_REDIS_URL or the settings file instead"

// showsPassword reports whether the command line has a password.
func showsPassword(flags *pflag.FlagSet) bool {
	given := flags.Lookup("redis-url")
	if given == nil || !given.Changed {
		return false
	}
	u, err := url.Parse(given.Value.String())
	if err != nil {
		return false // the settings are refused
	}
	_, hasPassword := u.User.Password()
	return hasPassword || u.Query().Has("password")
}
