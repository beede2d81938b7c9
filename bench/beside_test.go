//go:build linux

package bench

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"muster/load"
)

// The load of the rows "1,000 joins/s": so many players join at this rate, leave their match at once and join again.
const (
	calmRate     = 1000
	calmPlayers  = 1000
	calmDuration = 20 * time.Second
	// calmDown is the pause after the idle sessions have connected: more than a heartbeat, so that the collector has
	// caught up and each session has had its first ping.
	calmDown = 12 * time.Second
)

// calm takes the CPU of a join at a rate at which few joins share a call, without other sessions.
func calm(t *testing.T, results *table) {
	p99, server, redis := besideIdle(t, "calm", 0)
	results.add(rowCalmServer, server, 0)
	results.add(rowCalmRedis, redis, 0)
	results.add(rowCalmP99, p99, 0)
}

// beside15000 takes how long a match takes beside idle sessions, whose heartbeats use the same cores.
func beside15000(t *testing.T, results *table) {
	p99, server, redis := besideIdle(t, "beside15000", 15_000)
	results.add(rowBesideP99, p99, 0)
	results.add(rowBesideServer, server, 0)
	results.add(rowBesideRedis, redis, 0)
}

// beside50000 is beside15000 with as many idle sessions as the limit of open files allows, up to 50,000. The row names
// the limit if it allows fewer.
func beside50000(t *testing.T, results *table) {
	const wanted = 50_000
	files := openFiles(t)
	idlers := min(wanted, files-files/8-calmPlayers) // the server keeps a part of its files from players
	if idlers < wanted {
		rowCrowdedP99.what = fmt.Sprintf("1,000 joins/s beside %d idle sessions, as the limit of %d open files does not allow 50,000: `match`, p99", idlers, files)
	}
	p99, _, _ := besideIdle(t, "beside50000", idlers)
	results.add(rowCrowdedP99, p99, 0)
}

// besideIdle has players join beside idle sessions. It returns the p99 of a match in milliseconds, and the CPU of the server
// and of Redis in microseconds a join.
func besideIdle(t *testing.T, name string, idlers int) (p99, serverCPU, redisCPU float64) {
	t.Helper()
	redis := startRedis(t)
	server := startInstance(t, redis.URL(), "calm")
	if idlers > 0 {
		idle(t, idlers, server)
		pause(t.Context(), calmDown)
	}
	var usedServer, usedRedis time.Duration
	report := crowd(t, load.Options{
		URLs: []string{server.url()}, Players: calmPlayers, Pattern: load.Steady, Rate: calmRate, Duration: calmDuration, Leave: true,
		Reached: func(stage load.Stage) {
			server.profile(name, stage, 15)
			usedServer, usedRedis = cpu(t, server.pid)-usedServer, cpu(t, redis.pid)-usedRedis
		},
	})
	for _, l := range report.Latencies {
		if l.Name == "match" {
			p99 = l.P99MS
		}
	}
	return p99, share(usedServer, int(report.Joins)), share(usedRedis, int(report.Joins))
}

// openFiles is how many files a process may have open. Go raises the limit to the hard one at the start.
func openFiles(tb testing.TB) int {
	tb.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		tb.Fatal(err)
	}
	return int(min(limit.Cur, 1<<30))
}
