package store

import (
	"context"
	"sync"
	"testing"
	"time"

	"muster/internal/redistest"
	"muster/lua"
)

// testCallTimeout is long: under the race detector, on a busy machine, the embedded Redis takes its time.
const testCallTimeout = 30 * time.Second

// backend is a kind of Redis that all suites run on, with a server that they share.
type backend struct {
	name     string
	url      func(testing.TB) string
	embedded bool
}

var backends = []backend{
	{name: "redis", url: func(t testing.TB) string { return redistest.Shared(t).URL() }},
	{name: "embedded", url: sharedEmbedded, embedded: true},
}

// only is a backend on a server of the test's own.
func only(server *redistest.Server) backend {
	return backend{url: func(testing.TB) string { return server.URL() }}
}

// onBackends runs a test on each kind of Redis.
func onBackends(t *testing.T, test func(t *testing.T, b backend)) {
	t.Helper()
	t.Parallel()
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			test(t, b)
		})
	}
}

// embeddedServer is the embedded Redis of the test binary.
var embeddedServer struct {
	once sync.Once
	e    *embedded
	err  error
}

// embeddedURL stands for the embedded Redis of the test binary.
const embeddedURL = "embedded:"

// sharedEmbedded starts the embedded Redis once and loads the scripts into it, which takes it long.
func sharedEmbedded(t testing.TB) string {
	t.Helper()
	embeddedServer.once.Do(func() {
		embeddedServer.e = startEmbedded()
		s, err := Open(Options{within: embeddedServer.e, CallTimeout: testCallTimeout})
		if err != nil {
			embeddedServer.err = err
			return
		}
		defer func() { _ = s.Close() }()
		if s.scripts, err = lua.Load(true, codeNames); err == nil {
			err = loadAll(s)
		}
		embeddedServer.err = err
	})
	if embeddedServer.err != nil {
		t.Fatal(embeddedServer.err)
	}
	return embeddedURL
}

func stopEmbedded() error {
	if embeddedServer.e != nil {
		embeddedServer.e.stop()
	}
	return nil
}

// loadAll has Redis know all scripts.
func loadAll(s *Store) error {
	for _, script := range s.scripts {
		if err := s.rdb.ScriptLoad(context.Background(), script.Text).Err(); err != nil {
			return err
		}
	}
	return nil
}
