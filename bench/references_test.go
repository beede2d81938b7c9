//go:build linux

package bench

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/client"
	"muster/protocol"
)

// echoServer is a server of plain echoes, with the engine and the transport of the real one.
type echoServer struct {
	*process
	addr string
}

// startEcho starts one on a core of its own.
func startEcho(tb testing.TB) *echoServer {
	tb.Helper()
	e := &echoServer{addr: freeAddr(tb)}
	e.process = spawn(tb, []string{"MUSTER_ECHO=" + e.addr, "GOMAXPROCS=1"}, echoer,
		"-test.run", "^TestServeEcho$", "-test.timeout", "0")
	pin(tb, e.pid, ownCore)
	e.await("listening", func() bool { return listens(e.addr) })
	return e
}

// senders send for all clients, as those of package load do.
const senders = 8

// cost is the CPU of the server for one message that comes back, where each of n clients sends one at one
// moment.
func (e *echoServer) cost(n int) time.Duration {
	e.tb.Helper()
	var (
		echoed  atomic.Int64
		all     = make(chan struct{})
		clients = make([]*client.Client, n)
	)
	heard := func([]byte) {
		if echoed.Add(1) == int64(n) {
			close(all)
		}
	}
	inParallel(n, 128, func(i int) {
		c, err := client.Open(e.tb.Context(), "ws://"+e.addr+protocol.Path, client.Options{OnFrame: heard, OnEvent: func(protocol.Event) {}})
		if err != nil {
			e.tb.Error(err)
			return
		}
		clients[i] = c
	})
	if e.tb.Failed() {
		e.tb.FailNow()
	}
	before := cpu(e.tb, e.pid)
	frame := protocol.Encode(&protocol.Join{Envelope: protocol.Envelope{ID: "join"}, World: "pairs"}) // no event: it is passed over
	inParallel(n, senders, func(i int) {
		if err := clients[i].SendText(context.Background(), frame); err != nil {
			e.tb.Error(err)
		}
	})
	e.await("all echoed", func() bool {
		select {
		case <-all:
			return true
		default:
			return false
		}
	})
	used := cpu(e.tb, e.pid) - before
	inParallel(n, 128, func(i int) { clients[i].CloseNow() })
	return used / time.Duration(n)
}

// inParallel calls f for 0 to n-1, so many at once.
func inParallel(n, atOnce int, f func(int)) {
	var (
		next atomic.Int64
		wg   sync.WaitGroup
	)
	for range atOnce {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	wg.Wait()
}

// setCost is the CPU of Redis for one SET that is a round trip of its own: nothing shares its system calls.
func (r *redisServer) setCost(tb testing.TB) time.Duration {
	tb.Helper()
	const n = 5000
	set := func(int) {
		if _, err := r.Do(tb.Context(), "SET", "plain", "a value as long as a record of a player, one match"); err != nil {
			tb.Error(err)
		}
	}
	set(0) // connects
	before := cpu(tb, r.pid)
	inParallel(n, 1, set)
	return (cpu(tb, r.pid) - before) / n
}

// durations are how long something took, each time.
type durations []time.Duration

// time takes how long f takes.
func (d *durations) time(f func()) {
	begin := time.Now()
	f()
	*d = append(*d, time.Since(begin))
}

func (d durations) median() time.Duration { return d.percentile(50) }

func (d durations) percentile(p int) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}
