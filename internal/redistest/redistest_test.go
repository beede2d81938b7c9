package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"muster/internal/ident"
)

func TestMain(m *testing.M) {
	Main(m, sharedIsGone, func() error { return goleak.Find() })
}

// sharedIsGone checks what no test can see: that Main ended the shared server.
func sharedIsGone() error {
	if shared.server == nil {
		return nil // -run chose no test that needs it
	}
	if _, err := os.Stat(shared.server.dir); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("directory of the shared server is still there: %w", err)
	}
	conn, err := net.Dial("tcp", shared.server.addr)
	if err == nil {
		_ = conn.Close()
		return errors.New("shared server still listens")
	}
	return nil
}

func set(t *testing.T, s *Server, key, value string) {
	t.Helper()
	if _, err := s.Do(t.Context(), "SET", key, value); err != nil {
		t.Fatal(err)
	}
}

func TestServerHasItsOptions(t *testing.T) {
	t.Parallel()
	s := Start(t, AppendOnly(), Args("--maxmemory", "12345678"))
	for name, want := range map[string]string{
		"save": "", "appendonly": "yes", "maxmemory": "12345678", "bind": "127.0.0.1",
	} {
		got, err := s.Do(t.Context(), "CONFIG", "GET", name)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(map[any]any{name: want}) {
			t.Errorf("config %v, want %s %q", got, name, want)
		}
	}
	if opts, err := redis.ParseURL(s.URL()); err != nil || opts.Addr != s.Addr() {
		t.Errorf("URL %s does not lead to %s: %v", s.URL(), s.Addr(), err)
	}
}

func TestDataAfterRestart(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*Server){
		"a running server":  func(*Server) {},
		"a stopped server":  (*Server).Stop,
		"a killed server":   (*Server).Kill,
		"a paused server":   (*Server).Pause,
		"an emptied server": (*Server).FlushAll,
		"a lost disk":       func(s *Server) { s.Kill(); s.LoseData() },
	}
	for name, end := range ends {
		for _, kept := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, append-only %v", name, kept), func(t *testing.T) {
				t.Parallel()
				var opts []Option
				if kept {
					opts = append(opts, AppendOnly())
				}
				s := Start(t, opts...)
				addr := s.Addr()
				set(t, s, "key", "value")
				end(s)
				s.Restart()
				if s.Addr() != addr {
					t.Errorf("address %s after the restart, %s before", s.Addr(), addr)
				}
				got, err := s.Do(t.Context(), "GET", "key")
				if kept && name != "an emptied server" && name != "a lost disk" {
					if got != "value" {
						t.Errorf("GET = %v, %v, want the value", got, err)
					}
				} else if !errors.Is(err, redis.Nil) {
					t.Errorf("GET = %v, %v, want nil", got, err)
				}
			})
		}
	}
}

func TestServerThatEndedRefusesConnections(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*Server){"Kill": (*Server).Kill, "Stop": (*Server).Stop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Start(t)
			end(s)
			end(s) // again is no error
			if _, err := s.Do(t.Context(), "PING"); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("PING: %v, want a refused connection", err)
			}
		})
	}
}

func TestPausedServerAnswersAfterResume(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if got, err := s.Do(ctx, "PING"); err == nil {
		t.Errorf("PING of a paused server: %v, want a time-out", got)
	}
	s.Resume()
	if got, err := s.Do(t.Context(), "PING"); got != "PONG" {
		t.Errorf("PING = %v, %v, want PONG", got, err)
	}
}

func TestSharedServerIsOneAndCannotBeDisturbed(t *testing.T) {
	t.Parallel()
	s := Shared(t)
	if again := Shared(t); again != s {
		t.Error("a second server was started")
	}
	if got, err := s.Do(t.Context(), "PING"); got != "PONG" {
		t.Errorf("PING = %v, %v, want PONG", got, err)
	}
	for name, verb := range map[string]func(*Server){
		"Kill": (*Server).Kill, "Stop": (*Server).Stop, "Pause": (*Server).Pause,
		"Resume": (*Server).Resume, "Restart": (*Server).Restart, "FlushAll": (*Server).FlushAll,
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			verb(s)
		}()
	}
}

func TestRealmIsAValidUniqueID(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, name := range []string{"short", "with /{}ä", strings.Repeat("long", 30)} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				realm := Realm(t)
				if !ident.Valid(realm) || seen[realm] {
					t.Errorf("realm %q is no id or not unique", realm)
				}
				seen[realm] = true
			}
		})
	}
}

func TestStartTellsWhatIsWrong(t *testing.T) {
	t.Run("a missing binary", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		t.Setenv(BinaryVariable, "")
		_, err := start(t.TempDir())
		if !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "apt-get install redis-server") {
			t.Errorf("error %v, want how to install Redis", err)
		}
	})
	t.Run("an option that Redis does not know", func(t *testing.T) {
		_, err := start(t.TempDir(), Args("--no-such-option", "1"))
		if !errors.Is(err, errEnded) || !strings.Contains(err.Error(), "no-such-option") {
			t.Errorf("error %v, want the server's own words", err)
		}
	})
}

func TestReadyKnowsItsOwnServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		info string
		want bool
	}{
		{"process_id:7\r\nloading:0\r\n", true},
		{"process_id:8\r\nloading:0\r\n", false},
		{"process_id:7\r\nloading:1\r\n", false},
		{"", false},
	} {
		if got := ready(c.info, 7); got != c.want {
			t.Errorf("ready(%q) = %v, want %v", c.info, got, c.want)
		}
	}
}
