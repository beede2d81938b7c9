package main

import (
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"

	"muster/configs"
)

// setLogLevel is for the whole process: a logger's own level could not be changed later.
func setLogLevel(level configs.LogLevel) {
	parsed, err := zerolog.ParseLevel(string(level))
	if err != nil {
		parsed = zerolog.InfoLevel
	}
	zerolog.SetGlobalLevel(parsed)
}

// newLogger logs to out, which is written to stderr: for people on a terminal, JSON elsewhere.
func newLogger(c configs.Log, out io.Writer) zerolog.Logger {
	setLogLevel(c.Level)
	if c.Format == configs.LogConsole || (c.Format == configs.LogAuto && isatty.IsTerminal(os.Stderr.Fd())) {
		out = zerolog.ConsoleWriter{Out: out, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(out).With().Timestamp().Logger()
}
