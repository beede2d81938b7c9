package server

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"muster/configs"
	"muster/internal/ident"
	"muster/internal/redistest"
	"muster/protocol"
)

// instance is one that runs in this process.
type instance struct {
	tb      testing.TB
	server  *Server
	address string // of the public listener, host:port
	log     *logged
	// stop begins the drain and returns when it is over. It may be called twice.
	stop func()

	mu     sync.Mutex
	config configs.Config // what a reload reads; guarded by mu
}

// start runs an instance in this process until the test ends and returns the address of its WebSocket.
func start(tb testing.TB, change func(*configs.Config)) string {
	tb.Helper()
	return launch(tb, settings(tb, change)).ws()
}

// settings are those of the tests: a realm of the test's own on the Redis that all share, no limit in the way,
// and an epoch that opens soon.
func settings(tb testing.TB, change func(*configs.Config)) configs.Config {
	tb.Helper()
	config := configs.Default()
	config.Listen, config.OpsListen, config.Drain = "127.0.0.1:0", "", 0
	config.Realm = redistest.Realm(tb)
	config.Redis.Recovery = 100 * time.Millisecond
	config.Limits.ConnectionsPerIP, config.Limits.MessagesPerSecond = 100_000, 100_000
	change(&config)
	if config.Redis.URL == "" {
		config.Redis.URL = configs.Secret(redistest.Shared(tb).URL())
	}
	return config
}

// launch runs an instance until the test ends, or is stopped, and waits until it is ready.
func launch(tb testing.TB, config configs.Config) *instance {
	tb.Helper()
	i := launchUnready(tb, config)
	eventually(tb, "the instance is ready", i.server.Ready)
	return i
}

// launchUnready is launch without the wait.
func launchUnready(tb testing.TB, config configs.Config) *instance {
	tb.Helper()
	i := &instance{tb: tb, config: config, log: new(logged)}
	var err error
	i.server, err = New(tb.Context(), Options{Config: config, Log: zerolog.New(i.log), Reload: i.read})
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	address, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		if err := i.server.Run(ctx, func(public string) { address <- public }); err != nil {
			tb.Errorf("run: %v", err)
		}
	}()
	i.stop = func() {
		stop()
		<-ended
	}
	tb.Cleanup(i.stop)
	select {
	case i.address = <-address:
	case <-ended:
		tb.FailNow()
	}
	return i
}

// run is launch with the settings of the tests.
func run(tb testing.TB, change func(*configs.Config)) *instance {
	tb.Helper()
	return launch(tb, settings(tb, change))
}

// read is what a reload does.
func (i *instance) read() (configs.Config, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.config, nil
}

// reload changes the settings as if in the file, and reads them again.
func (i *instance) reload(change func(*configs.Config)) {
	i.tb.Helper()
	i.mu.Lock()
	change(&i.config)
	i.mu.Unlock()
	if _, err := i.server.Reload(); err != nil {
		i.tb.Fatal(err)
	}
}

func (i *instance) ws() string { return "ws://" + i.address + protocol.Path }

// counted waits until the metrics have a line.
func (i *instance) counted(line string) {
	i.tb.Helper()
	eventually(i.tb, line, func() bool { return strings.Contains(page(i.tb, i.server.metrics), line+"\n") })
}

// handshake is a raw upgrade request to the instance.
func (i *instance) handshake(lines ...string) string {
	return strings.Replace(handshake(lines...), "GET / ", "GET "+protocol.Path+" ", 1)
}

// group and duel are worlds with the defaults of the file.
func group(name ident.World, size int) configs.World {
	w := configs.Default().Worlds[0]
	w.Name, w.Size, w.Scan, w.Rooms = name, size, 32, []string{"game", "chat"}
	return w
}

func duel(name ident.World) configs.World {
	w := configs.Default().Worlds[3]
	w.Name = name
	return w
}

func serving(worlds ...configs.World) func(*configs.Config) {
	return func(c *configs.Config) { c.Worlds = worlds }
}

// eventually waits until something has come to be.
func eventually(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			tb.Fatalf("waited in vain: %s", what)
		case <-ticker.C:
		}
	}
}

// stranger is an HTTP client that keeps no connection.
var stranger = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
