package cli

import (
	"io"
	"log"
	"os"
	"strings"
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

// libraryLog takes the lines that libraries write by the standard logger, such as net/http of a receiver that answers twice.
// They may hold a part of an answer, so they are logged at debug only.
type libraryLog struct{ log zerolog.Logger }

func (l libraryLog) Write(line []byte) (int, error) {
	l.log.Debug().Str("text", strings.TrimSuffix(string(line), "\n")).Msg("library")
	return len(line), nil
}

// logLibraries has the standard logger write to log.
func logLibraries(to zerolog.Logger) {
	log.SetFlags(0)
	log.SetOutput(libraryLog{to})
}
