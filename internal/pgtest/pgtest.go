// Package pgtest starts real PostgreSQL servers for tests: one for a test that stops or kills it (Start), or one
// for all tests of a binary, each in a database of its own (Database). It owns the processes and their
// directories; it must not know a table of Muster. All functions and methods may be called concurrently.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"muster/internal/child"
	"muster/internal/loopback"
)

// BinVariable names the environment variable that chooses the directory of initdb and postgres. Without it they
// are looked for where Debian has them, the newest version first, and in PATH.
const BinVariable = "POSTGRES_BIN"

// answerTimeout is how long a server may take to answer, recovery after a kill included; it needs some 100 ms on
// an idle machine.
const answerTimeout = 60 * time.Second

// answerInterval is the pause between two questions to a server that starts.
const answerInterval = 20 * time.Millisecond

// Server is a PostgreSQL on a port of 127.0.0.1 that stays the same over Restart. What its methods cannot do
// fails the test.
type Server struct {
	t    testing.TB // nil for the shared server
	dir  string
	addr string

	mu   sync.Mutex
	proc *child.Process // the latest run, ended or not; guarded by mu
}

// Start starts a server that belongs to t alone, and ends it with t. Its data outlives Kill and Restart.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := start()
	if err != nil {
		t.Fatal(err)
	}
	s.t = t
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// URL is the address of the server's first database, as the setting journal.url takes it.
func (s *Server) URL() string { return s.url("postgres") }

// Addr is the server's host:port.
func (s *Server) Addr() string { return s.addr }

func (s *Server) url(database string) string {
	return "postgres://postgres@" + s.addr + "/" + database + "?sslmode=disable"
}

// Kill ends the server at once, as SIGKILL would, but for what it leaves in shared memory: connections break, and
// what was not written is recovered at the next start.
func (s *Server) Kill() { s.control("kill", quit) }

// Restart starts a server that was killed and waits until it answers.
func (s *Server) Restart() {
	s.control("restart", func(p *child.Process) error { return errors.Join(quit(p), s.run()) })
}

// control runs f on the latest process. It is Errorf and not Fatalf, as faults are often injected from a
// goroutine of the test.
func (s *Server) control(verb string, f func(*child.Process) error) {
	if s.t == nil {
		panic("pgtest: " + verb + " on the shared server would disturb other tests: use Start")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := f(s.proc); err != nil {
		s.t.Errorf("pgtest: %s: %v", verb, err)
	}
}

// start makes a data directory and starts a server on it.
func start() (*Server, error) {
	dir, err := newDirectory()
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	if err := s.initialize(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	ln, err := loopback.Listen()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s.addr = ln.Addr().String()
	_ = ln.Close()
	if err := s.run(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// initialize makes the server's data. Nothing is synced to disk: the machine does not crash in a test.
func (s *Server) initialize() error {
	cmd, err := command(s.dir, "initdb", "--pgdata", s.data(), "--username", "postgres", "--auth", "trust",
		"--encoding", "UTF8", "--no-locale", "--no-sync", "--no-instructions")
	if err != nil {
		return err
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	proc, err := launch(cmd)
	if err != nil {
		return fmt.Errorf("initdb: %w", err)
	}
	<-proc.Exited()
	if !cmd.ProcessState.Success() {
		return fmt.Errorf("initdb: %v\n%s", cmd.ProcessState, out.Bytes())
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// run starts the process and waits until it answers. The caller holds mu, or s is not shared yet.
func (s *Server) run() error {
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return err
	}
	cmd, err := command(s.dir, "postgres", "-D", s.data(), "-h", host, "-p", port, "-k", "", "-F",
		"-c", "max_connections=200", "-c", "shared_buffers=16MB", "-c", "full_page_writes=off")
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the child has its own descriptor
	cmd.Stdout, cmd.Stderr = log, log
	proc, err := launch(cmd)
	if err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	if err := s.await(proc); err != nil {
		_ = quit(proc) // the error that matters is err
		text, _ := os.ReadFile(log.Name())
		return fmt.Errorf("start postgres: %w\n%s", err, bytes.TrimSpace(text))
	}
	s.proc = proc
	return nil
}

// await waits until the server answers.
func (s *Server) await(proc *child.Process) error {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	tick := time.NewTicker(answerInterval)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.URL())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-proc.Exited():
			return errors.New("the process ended before it answered")
		case <-ctx.Done():
			return fmt.Errorf("no answer within %v: %w", answerTimeout, err)
		case <-tick.C:
		}
	}
}

func (s *Server) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(quit(s.proc), os.RemoveAll(s.dir))
}

// binary finds one of PostgreSQL's programs.
func binary(name string) (string, error) {
	if dir := os.Getenv(BinVariable); dir != "" {
		return exec.LookPath(filepath.Join(dir, name))
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	slices.SortFunc(found, func(a, b string) int { return versionOf(b) - versionOf(a) })
	if len(found) > 0 {
		return found[0], nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("tests need PostgreSQL, install it with `apt-get install postgresql` or name the "+
			"directory of its programs in %s: %w", BinVariable, err)
	}
	return path, nil
}

func versionOf(path string) int {
	var version int
	_, _ = fmt.Sscanf(strings.TrimPrefix(path, "/usr/lib/postgresql/"), "%d/", &version) // 0 where it is none
	return version
}
