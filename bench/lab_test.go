//go:build linux

package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/internal/garbage"
	"muster/internal/redistest"
	"muster/load"
	"muster/protocol"
)

// settingsFile has what is measured with everything on: presence, records of matches, the stream.
const settingsFile = `
realm: %s
log: {level: warn, format: json}
limits: {messages_per_second: 100000, connections_per_ip: 1000000}
drain: 0s
worlds:
  - {name: pairs, mode: duel}
  - {name: lone, mode: duel}
`

// opening is how long a new epoch stays closed, with something to spare: redis.recovery.
const opening = 2 * time.Second

// redisServer is a Redis and its process.
type redisServer struct {
	*redistest.Server
	pid int
}

func startRedis(tb testing.TB) *redisServer {
	tb.Helper()
	return measured(tb, redistest.Start(tb))
}

// measured finds the process of a Redis.
func measured(tb testing.TB, s *redistest.Server) *redisServer {
	tb.Helper()
	info, err := s.Do(tb.Context(), "INFO", "server")
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(fmt.Sprint(info)) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "process_id:"); ok {
			pid, err := strconv.Atoi(id)
			if err != nil {
				tb.Fatal(err)
			}
			return &redisServer{s, pid}
		}
	}
	tb.Fatal("redis does not say what process it is")
	return nil
}

// instance is one server under measurement.
type instance struct {
	*process
	addr, ops string
}

// startInstance starts the built server on a Redis, "" for the embedded one, and waits until it matches. It may be kept
// to some cores.
func startInstance(tb testing.TB, redisURL, realm string, on ...cores) *instance {
	tb.Helper()
	config := filepath.Join(tb.TempDir(), "muster.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, settingsFile, realm), 0o600); err != nil {
		tb.Fatal(err)
	}
	i := &instance{addr: freeAddr(tb), ops: freeAddr(tb)}
	environ := []string{"MUSTER_REDIS_URL=" + redisURL}
	if slices.ContainsFunc(on, cores.single) {
		environ = append(environ, "GOMAXPROCS=1")
	}
	i.process = spawn(tb, environ, program,
		"serve", "--config", config, "--listen", i.addr, "--ops-listen", i.ops)
	for _, c := range on {
		pin(tb, i.pid, c)
	}
	i.await("ready", func() bool { return answers("http://" + i.addr + "/readyz") })
	pause(tb.Context(), opening)
	return i
}

func (i *instance) url() string { return "ws://" + i.addr + protocol.Path }

// metric is a metric of the instance without labels.
func (i *instance) metric(name string) float64 {
	i.tb.Helper()
	response, err := http.Get("http://" + i.ops + "/metrics")
	if err != nil {
		i.tb.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }() // it was read
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				i.tb.Fatal(err)
			}
			return value
		}
	}
	i.tb.Fatalf("no metric %s", name)
	return 0
}

// profile takes a CPU profile of the server, of so many seconds from the stage at which all are connected, where
// the command line asks for profiles. What is measured meanwhile is a little slower.
func (i *instance) profile(name string, stage load.Stage, seconds int) {
	if *profilesFlag == "" || stage != load.Connected {
		return
	}
	url := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", i.ops, seconds)
	go func() {
		response, err := http.Get(url)
		if err != nil {
			i.tb.Error(err)
			return
		}
		defer func() { _ = response.Body.Close() }() // it was read
		file, err := os.Create(filepath.Join(*profilesFlag, name+".prof"))
		if err != nil {
			i.tb.Error(err)
			return
		}
		_, err = io.Copy(file, response.Body)
		if err = errors.Join(err, file.Close()); err != nil {
			i.tb.Error(err)
		}
	}()
}

// sources spread clients over addresses: each has some 28,000 ports.
var sources = []string{"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"}

// crowd runs players of this process against servers, and fails where a server was not correct. Where the machine is
// too busy some joins may be refused: then figures are of less than they say, which the log tells.
func crowd(tb testing.TB, o load.Options) *load.Report {
	tb.Helper()
	o.Sources, o.IDPrefix, o.Timeout, o.Settle = sources, "bench", 5*time.Minute, 4*time.Second
	if o.Worlds == nil {
		o.Worlds = []string{"pairs"}
	}
	reached := o.Reached
	o.Reached = func(stage load.Stage) {
		if stage == load.Connected {
			garbage.Postpone(512 << 20) // as `muster load` does
		}
		if reached != nil {
			reached(stage)
		}
	}
	report, err := load.Run(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	var text strings.Builder
	_ = report.WriteText(&text) // into memory
	switch {
	case !report.Correct || report.Connected < int64(o.Players):
		tb.Fatalf("the server was not correct:\n%s", text.String())
	case len(report.Errors)+len(report.Closes) > 0:
		tb.Logf("some were refused:\n%s", text.String())
	}
	return report
}

// idle has players connect to each server, from processes of their own, and stay until the test ends.
func idle(tb testing.TB, players int, servers ...*instance) {
	tb.Helper()
	each := players / len(servers)
	for _, i := range servers {
		for left := each; left > 0; left -= idleEach {
			spawn(tb, nil, program, "load", "--url", i.url(), "--players", strconv.Itoa(min(left, idleEach)), "--pattern", "idle",
				"--duration", "1h", "--timeout", "2h", "--sources", strings.Join(sources, ","))
		}
	}
	for _, i := range servers {
		i.await("connected", func() bool { return i.metric("muster_connections") >= float64(each) })
	}
}

// idleEach is how many players one process has at most: the usual limit of open files lies above it.
const idleEach = 15_000

// pause lets something go on undisturbed for the time that it is measured over.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
