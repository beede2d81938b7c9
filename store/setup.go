package store

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"
)

// SetupError is an ErrUnavailable that lasts until an operator changes something. Sentence says what is wrong and, where
// that is known, the remedy.
type SetupError struct {
	Sentence string
	cause    error
}

func (e *SetupError) Error() string { return e.Sentence }

// Unwrap makes it an ErrUnavailable.
func (e *SetupError) Unwrap() []error { return []error{ErrUnavailable, e.cause} }

var (
	// deniedCommand finds the command that the user may not run in Redis' error.
	deniedCommand = regexp.MustCompile(`permissions to run the '([^']+)'`)
	// deniedInScript finds that a script was denied a command, key or channel. Its wording differs between versions.
	deniedInScript = regexp.MustCompile(`ACL failure in script|The user executing the script can't|can't (publish|access)`)
	unknownCommand = regexp.MustCompile(`(?i)^ERR unknown command [^a-z]*(eval|evalsha|sentinel)\b`)
)

// explained returns what an error of Redis means to an operator, or "" if it is no matter of settings.
func (s *Store) explained(err error) string {
	text := err.Error()
	if rest, ok := strings.CutPrefix(text, "redis: all sentinels specified in configuration are unreachable: "); ok {
		return s.explainedSentinel(rest)
	}
	_, single := s.rdb.(*redis.Client)
	command := deniedCommand.FindStringSubmatch(text)
	switch {
	case command != nil:
		return s.mayNot("run "+strings.ToUpper(strings.ReplaceAll(command[1], "|", " ")), "+"+command[1])
	case strings.HasPrefix(text, "NOPERM") && strings.Contains(text, "key"):
		pattern := keyPrefix(s.opts.Realm) + "*"
		return s.mayNot("read and write all keys "+pattern, "~"+pattern)
	case strings.HasPrefix(text, "NOPERM"), deniedInScript.MatchString(text):
		return fmt.Sprintf("redis user %q lacks a right that Muster needs: %s", s.connection.user, text)
	case strings.HasPrefix(text, "WRONGPASS"):
		return fmt.Sprintf("redis user %q does not exist, is off, or has another password: check redis.url", s.connection.user)
	case strings.HasPrefix(text, "NOAUTH"), strings.HasPrefix(text, "ERR Protocol error: unauthenticated"):
		return "redis wants a password: set it in redis.url"
	case strings.HasPrefix(text, "ERR DB index is out of range"):
		return fmt.Sprintf("redis has no database number %d: choose a lower one in redis.url, or raise \"databases\" in redis.conf", s.connection.database)
	case strings.HasPrefix(text, "MOVED") && single:
		return "redis.url names one node of a Cluster: name another one too, as ?addr=host:port"
	case strings.HasPrefix(text, "ERR This instance has cluster support disabled"):
		return "redis.url names several hosts as of a Cluster (?addr=), but redis is none: remove ?addr=, or add &master_name= for Sentinels"
	case unknownCommand.MatchString(text):
		return "redis.url names a Sentinel as if it were redis: add ?master_name= with the name of its master"
	}
	return ""
}

// explainedSentinel is explained for what the library says of Sentinels: that all of them are unreachable, whatever
// they answered.
func (s *Store) explainedSentinel(answer string) string {
	switch {
	case answer == redis.Nil.Error():
		return fmt.Sprintf("the Sentinels of redis.url know no master %q: check master_name", s.connection.master)
	case unknownCommand.MatchString(answer):
		return "redis.url has a master_name, but its hosts are no Sentinels: name theirs, or remove master_name"
	case strings.HasPrefix(answer, "WRONGPASS"), strings.HasPrefix(answer, "NOAUTH"), strings.HasPrefix(answer, "NOPERM"):
		return "the Sentinels of redis.url refuse the user or password in front of their host: " + answer
	}
	return ""
}

// connection is what redis.url says of the connections to Redis.
type connection struct {
	user, master string // master is the name under which Sentinels know it
	database     int
}

func connectionOf(rawURL string) (c connection) {
	options, err := parseURL(rawURL)
	if err != nil {
		return connection{user: "default"} // as of an embedded Redis
	}
	switch o := options.(type) {
	case *redis.FailoverOptions:
		c = connection{user: o.Username, master: o.MasterName, database: o.DB}
	case *redis.ClusterOptions:
		c = connection{user: o.Username}
	case *redis.Options:
		c = connection{user: o.Username, database: o.DB}
	}
	c.user = cmp.Or(c.user, "default")
	return c
}

// unavailable names the script or command, and says ErrUnavailable where that is what the error comes to.
func (s *Store) unavailable(name string, err error) error {
	var setup *SetupError
	if errors.As(err, &setup) {
		return err
	}
	s.access.doubt()
	if sentence := s.explained(err); sentence != "" {
		return fmt.Errorf("%s: %w", name, &SetupError{Sentence: sentence, cause: err})
	}
	var answered redis.Error
	if errors.As(err, &answered) && !errors.Is(err, redis.Nil) {
		for _, prefix := range refusals {
			if strings.HasPrefix(answered.Error(), prefix) {
				return fmt.Errorf("script %s: %w: %w", name, ErrUnavailable, err)
			}
		}
		return fmt.Errorf("script %s: %w", name, err)
	}
	return fmt.Errorf("script %s: %w: %w", name, ErrUnavailable, err)
}
