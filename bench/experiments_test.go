//go:build linux

package bench

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"muster/client"
	"muster/load"
	"muster/protocol"
)

// experiments are what one run does. Each starts what it measures anew, and measures its references in
// between.
var experiments = []struct {
	name string
	run  func(*testing.T, *table)
}{
	{"burst", burst},
	{"burst, server", burstServer},
	{"burst, Redis", burstRedis},
	{"idle join", idleJoin},
	{"steady", steady},
	{"calm", calm},
	{"beside 15000", beside15000},
	{"beside 50000", beside50000},
	{"idle players", idlePlayers},
	{"embedded", embedded},
}

// share is what a player costs of something that n had.
func share(used time.Duration, n int) float64 { return microseconds(used) / float64(n) }

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// burstPlayers join in pairs at one moment.
const burstPlayers = 10_000

// burst takes how long it is from the first join to the last player told, where all share the cores.
func burst(t *testing.T, results *table) {
	server := startInstance(t, startRedis(t).URL(), "burst")
	report := crowd(t, load.Options{
		URLs: []string{server.url()}, Players: burstPlayers, Pattern: load.Burst,
		Reached: func(stage load.Stage) { server.profile("burst", stage, 2) },
	})
	if report.Told < burstPlayers {
		results.discard()
		return // a burst that was served in part is none
	}
	results.add(rowBurst, report.SpanMS/1000, 0)
}

// burstServer takes what CPU the server needs in a burst, on a core of its own.
func burstServer(t *testing.T, results *table) {
	pin(t, os.Getpid(), otherCores)
	redis, echo := startRedis(t), startEcho(t)
	pin(t, redis.pid, otherCores)
	server := startInstance(t, redis.URL(), "burst", ownCore)
	plain := []time.Duration{echo.cost(burstPlayers)}
	used, ok := burstCPU(t, results, server, server.pid)
	plain = append(plain, echo.cost(burstPlayers))
	if ok {
		results.add(rowServerCPU, used, microseconds(mean(plain)))
	}
}

// burstRedis takes what CPU Redis needs in a burst, on a core of its own. Its reference has all cores: where Redis sleeps
// between two SETs on one of its own, each of them costs more than twice as much, which would flatter the burst.
func burstRedis(t *testing.T, results *table) {
	redis := startRedis(t)
	sets := []time.Duration{redis.setCost(t)}
	pin(t, os.Getpid(), otherCores)
	pin(t, redis.pid, ownCore)
	server := startInstance(t, redis.URL(), "burst", otherCores)
	used, ok := burstCPU(t, results, server, redis.pid)
	for _, pid := range []int{os.Getpid(), redis.pid} {
		pin(t, pid, allCores)
	}
	sets = append(sets, redis.setCost(t))
	if ok {
		results.add(rowRedisCPU, used, microseconds(mean(sets)))
	}
}

// burstCPU is the CPU, in microseconds a player, that a process needs in a burst, which is not ok where it was served in
// part.
func burstCPU(t *testing.T, results *table, server *instance, pid int) (used float64, ok bool) {
	t.Helper()
	var total time.Duration
	report := crowd(t, load.Options{
		URLs: []string{server.url()}, Players: burstPlayers, Pattern: load.Burst,
		Reached: func(load.Stage) { total = cpu(t, pid) - total }, // once before and once after
	})
	if report.Told < burstPlayers {
		results.discard()
		return 0, false
	}
	return share(total, burstPlayers), true
}

func mean(list []time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range list {
		sum += d
	}
	return sum / time.Duration(len(list))
}

// idleJoin has one player join and leave on a server that does nothing else.
func idleJoin(t *testing.T, results *table) {
	const rounds = 2000
	redis := startRedis(t)
	server := startInstance(t, redis.URL(), "idle")
	player, err := client.Dial(t.Context(), server.url(), client.Options{PlayerID: "lone", OnEvent: func(protocol.Event) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer player.Close(protocol.CloseNormal)
	script, err := redis.Do(t.Context(), "SCRIPT", "LOAD", "return 1")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(args ...any) func() {
		return func() {
			if _, err := redis.Do(t.Context(), args...); err != nil {
				t.Fatal(err)
			}
		}
	}
	request := func(r protocol.Request) {
		if _, err := player.Do(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	var joins, pings, evals, echoes durations
	for range rounds {
		joins.time(func() { request(&protocol.Join{World: "lone"}) })
		request(&protocol.Leave{})
		pings.time(ask("PING"))
		evals.time(ask("EVALSHA", script, 0))
		echoes.time(func() { request(&protocol.Ping{}) })
	}
	results.add(rowIdleJoin, microseconds(joins.median()), microseconds(pings.median()))
	results.add(rowBareScript, microseconds(evals.median()), microseconds(pings.median()))
	results.add(rowPong, microseconds(echoes.median()), microseconds(pings.median()))
}

// steady has players join 5,000 times a second, leave their match at once and come again.
func steady(t *testing.T, results *table) {
	const rate, duration, players = 5000, 30 * time.Second, 5000
	redis := startRedis(t)
	server := startInstance(t, redis.URL(), "steady")
	var serverCPU, redisCPU time.Duration
	report := crowd(t, load.Options{
		URLs: []string{server.url()}, Players: players, Pattern: load.Steady, Rate: rate, Duration: duration, Leave: true,
		Reached: func(stage load.Stage) {
			server.profile("steady", stage, 10)
			serverCPU, redisCPU = cpu(t, server.pid)-serverCPU, cpu(t, redis.pid)-redisCPU
		},
	})
	for _, l := range report.Latencies {
		if l.Name == "match" {
			results.add(rowSteadyP99, l.P99MS, 0)
		}
	}
	results.add(rowSteadyLost, float64(rate*duration.Seconds())-float64(report.Told), 0)
	results.add(rowSteadyServer, share(serverCPU, int(report.Joins)), 0)
	results.add(rowSteadyRedis, share(redisCPU, int(report.Joins)), 0)
}

// idlePlayers has 20,000 players connected, on two servers, who do nothing.
func idlePlayers(t *testing.T, results *table) {
	const players, span = 20_000, 20 * time.Second
	redis := startRedis(t)
	servers := []*instance{startInstance(t, redis.URL(), "idle"), startInstance(t, redis.URL(), "idle")}
	var memory, goroutines []float64
	for _, s := range servers {
		memory, goroutines = append(memory, -float64(rss(t, s.pid))), append(goroutines, -s.metric("go_goroutines"))
	}
	idle(t, players, servers...)
	pause(t.Context(), span) // two heartbeats, in which the collector catches up
	before, began := cpu(t, redis.pid), time.Now()
	pause(t.Context(), span)
	results.add(rowPresence, 100*(cpu(t, redis.pid)-before).Seconds()/time.Since(began).Seconds(), 0)
	for i, s := range servers {
		each := float64(players / len(servers))
		results.add(rowMemory, (memory[i]+float64(rss(t, s.pid)))/each/1000, 0)
		// To hundredths: a few of the process's own come and go.
		results.add(rowGoroutines, math.Round(100*(goroutines[i]+s.metric("go_goroutines"))/each)/100, 0)
	}
}

// embedded has 1,000 players join in pairs at one moment, on a server without a Redis.
func embedded(t *testing.T, results *table) {
	server := startInstance(t, "", "embedded")
	report := crowd(t, load.Options{URLs: []string{server.url()}, Players: 1000, Pattern: load.Burst})
	results.add(rowEmbedded, report.SpanMS/1000, 0)
}

// TestTable measures everything, in runs that are spread over the whole time, and writes the table. It fails
// where a server was wrong, not where one was slow: the table says that.
func TestTable(t *testing.T) {
	if !*tableFlag {
		t.Skip("measures for minutes: make bench")
	}
	results := newTable()
	for run := range *runsFlag {
		for _, e := range experiments {
			if !taken(e.name) {
				continue
			}
			t.Run(fmt.Sprintf("%s %d", e.name, run+1), func(t *testing.T) { e.run(t, results) })
		}
	}
	results.write(t)
}
