// Package redistest starts real Redis servers for tests: one for a test that stops, pauses or
// floods it (Start), or one for all tests of a binary, each in a realm of its own (Shared, Realm).
// It owns the processes and their directories; it must not know a key or a script of Muster.
// All functions and methods may be called concurrently.
package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"muster/internal/child"
	"muster/internal/loopback"
)

// BinaryVariable names the environment variable that chooses another server than the redis-server
// found in PATH: another version of it, or valkey-server.
const BinaryVariable = "REDIS_SERVER_BIN"

// startAttempts bounds how often another process may take the chosen port before the server does.
const startAttempts = 5

// Server is a redis-server on a port of 127.0.0.1 that stays the same over Restart. What its
// methods cannot do fails the test.
type Server struct {
	t      testing.TB // nil for the shared server
	bin    string
	dir    string
	args   []string // of the options
	env    []string // NAME=value, of the options
	node   bool     // of a Cluster
	addr   string
	bus    string // the port on which nodes speak with each other, if it is one
	client *redis.Client

	mu   sync.Mutex
	proc *child.Process // the latest run, ended or not; guarded by mu
}

// Start starts a server that belongs to t alone, waits until it answers and kills it when t ends.
// It keeps nothing on disk unless AppendOnly is given.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	s, err := start(t.TempDir(), opts...)
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

// Addr is the server's host:port.
func (s *Server) Addr() string { return s.addr }

// URL is the server's address as the setting redis.url takes it.
func (s *Server) URL() string { return "redis://" + s.addr + "/0" }

// Do runs one command, like redis-cli, and is for looking and for arranging from outside. It tries
// once; a nil reply is redis.Nil.
func (s *Server) Do(ctx context.Context, args ...any) (any, error) {
	return s.client.Do(ctx, args...).Result()
}

// FlushAll empties the server, as a Redis does that restarted without its data.
func (s *Server) FlushAll() {
	s.own("FlushAll")
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	if err := s.client.FlushAll(ctx).Err(); err != nil {
		s.t.Errorf("redistest: flush all: %v", err)
	}
}

// Kill ends the server with SIGKILL and returns when it has gone: connections break, new ones are
// refused.
func (s *Server) Kill() { s.control("Kill", (*child.Process).Kill) }

// Stop shuts the server down in order (SIGTERM) and returns when it has gone.
func (s *Server) Stop() { s.control("Stop", stop) }

// LoseData removes what the server has written to disk, so that after Kill and Restart it is empty
// even with AppendOnly.
func (s *Server) LoseData() {
	s.control("LoseData", func(*child.Process) error { return os.RemoveAll(filepath.Join(s.dir, "appendonlydir")) })
}

// Pause freezes the server (SIGSTOP): connections stay open, and new ones are even accepted by the
// kernel, but nothing is answered until Resume.
func (s *Server) Pause() {
	s.control("Pause", func(p *child.Process) error { return p.Signal(syscall.SIGSTOP) })
}

// Resume lets a paused server go on (SIGCONT). What clients sent in between is executed then, even
// if they have given up.
func (s *Server) Resume() {
	s.control("Resume", func(p *child.Process) error { return p.Signal(syscall.SIGCONT) })
}

// Restart stops the server if it runs, starts it on the same port and waits until it answers. With
// AppendOnly it has its data again, otherwise it is empty.
func (s *Server) Restart() {
	s.control("Restart", func(p *child.Process) error {
		if err := stop(p); err != nil {
			return err
		}
		return s.run()
	})
}

// control runs f on the latest process and fails the test where f fails. It is Errorf and not
// Fatalf, as faults are often injected from a goroutine of the test.
func (s *Server) control(verb string, f func(*child.Process) error) {
	s.own(verb)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := f(s.proc); err != nil {
		s.t.Errorf("redistest: %s: %v", verb, err)
	}
}

// own refuses what would disturb other tests.
func (s *Server) own(verb string) {
	if s.t == nil {
		panic("redistest: " + verb + " on the shared server would disturb other tests: use Start")
	}
}

// start is Start without a test: the caller closes the server.
func start(dir string, opts ...Option) (*Server, error) {
	s := &Server{dir: dir}
	for _, opt := range opts {
		opt(s)
	}
	var err error
	if s.bin, err = binary(); err != nil {
		return nil, err
	}
	for range startAttempts {
		if s.addr, err = freeAddr(); err != nil {
			return nil, err
		}
		if s.node {
			addr, err := freeAddr()
			if err != nil {
				return nil, err
			}
			_, s.bus, _ = net.SplitHostPort(addr) // it was just made
		}
		if err = s.run(); err == nil {
			s.client = redis.NewClient(clientOptions(s.addr))
			return s, nil
		}
		if !errors.Is(err, errEnded) {
			break
		}
	}
	return nil, err
}

// run starts the process and waits until it answers. The caller holds mu, or s is not shared yet.
func (s *Server) run() error {
	logPath := filepath.Join(s.dir, "redis.log")
	log, err := os.Create(logPath)
	if err != nil {
		return fmt.Errorf("start redis-server: %w", err)
	}
	defer func() { _ = log.Close() }() // the child has its own descriptor
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return fmt.Errorf("start redis-server: %w", err)
	}
	args := []string{"--bind", host, "--port", port, "--dir", s.dir, "--save", "", "--appendonly", "no"}
	if s.node {
		args = append(args, "--cluster-enabled", "yes", "--cluster-port", s.bus)
	}
	cmd := exec.Command(s.bin, append(args, s.args...)...) //nolint:gosec // G204: arguments are the test's own
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), s.env...)
	proc, err := child.Launch(cmd, syscall.SIGKILL)
	if err != nil {
		return fmt.Errorf("start redis-server: %w", err)
	}
	if err := awaitAnswer(s.addr, proc); err != nil {
		_ = proc.Kill() // the error that matters is err
		return fmt.Errorf("start redis-server: %w; its log ends:\n%s", err, tail(logPath))
	}
	s.proc = proc
	return nil
}

// close kills the server for good.
func (s *Server) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.client.Close(), s.proc.Kill())
}

// binary finds the server's program.
func binary() (string, error) {
	name := os.Getenv(BinaryVariable)
	if name == "" {
		name = "redis-server"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("tests need a Redis of version 7.0 or newer, install it with "+
			"`apt-get install redis-server` or name it in %s: %w", BinaryVariable, err)
	}
	return path, nil
}

func freeAddr() (string, error) {
	ln, err := loopback.Listen()
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

func clientOptions(addr string) *redis.Options {
	return &redis.Options{
		Addr:                  addr,
		MaxRetries:            -1, // a fault is what many tests want to see
		DialerRetries:         1,
		DialTimeout:           time.Second,
		ContextTimeoutEnabled: true,
	}
}
