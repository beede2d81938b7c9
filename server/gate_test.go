package server

import (
	"bytes"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"muster/configs"
	"muster/internal/race"
	"muster/internal/redistest"
	"muster/protocol"
)

// bareClient is a socket that sends and finds frames without allocating.
type bareClient struct {
	tb     testing.TB
	conn   net.Conn
	buffer [4096]byte
}

func (c *bareClient) ask(frame []byte, reply []byte) {
	c.tb.Helper()
	if _, err := c.conn.Write(frame); err != nil {
		c.tb.Fatal(err)
	}
	for filled := 0; !bytes.Contains(c.buffer[:filled], reply); {
		n, err := c.conn.Read(c.buffer[filled:])
		if err != nil {
			c.tb.Fatal(err)
		}
		filled += n
	}
}

// TestGateOfAJoin holds what a join and a leave take, all in all from frame to reply, to a number of allocations
// and of calls of Redis.
func TestGateOfAJoin(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates; make gate runs it without")
	}
	const (
		rounds      = 500
		allocations = 270 // for both, with the library's that speaks to Redis
		calls       = 3   // of scripts: one joins, one matches, one leaves
	)
	redis := redistest.Start(t)
	address := strings.TrimSuffix(strings.TrimPrefix(start(t, func(c *configs.Config) {
		c.Redis.URL = configs.Secret(redis.URL())
	}), "ws://"), protocol.Path)
	c := &bareClient{tb: t, conn: greetBare(t, address, "lone")}
	defer func() { _ = c.conn.Close() }()
	if err := c.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	join, leave := frameOf(`{"type":"join","world":"world1"}`), frameOf(`{"type":"leave"}`)
	joined, left := []byte(`"type":"joined"`), []byte(`"type":"left"`)
	c.ask(join, joined)
	c.ask(leave, left)
	var before, after runtime.MemStats
	if _, err := redis.Do(t.Context(), "CONFIG", "RESETSTAT"); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&before)
	for range rounds {
		c.ask(join, joined)
		c.ask(leave, left)
	}
	runtime.ReadMemStats(&after)
	if got := (after.Mallocs - before.Mallocs) / rounds; got > allocations {
		t.Errorf("%d allocations a join with its leave, at most %d", got, allocations)
	} else {
		t.Logf("%d allocations a join with its leave, at most %d", got, allocations)
	}
	// What goes on beside it, such as the lease and the sweep, is a few calls a second.
	got := float64(evalshas(t, redis)) / rounds
	if got > calls*1.2 {
		t.Errorf("%.2f calls of scripts a join with its leave, at most %d", got, calls)
	} else {
		t.Logf("%.2f calls of scripts a join with its leave, at most %d", got, calls)
	}
}

// evalshas is how many scripts Redis was called for.
func evalshas(tb testing.TB, redis *redistest.Server) (n int) {
	tb.Helper()
	info, err := redis.Do(tb.Context(), "INFO", "commandstats")
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(fmt.Sprint(info), "cmdstat_evalsha:calls=")
	if _, err := fmt.Sscanf(rest, "%d", &n); err != nil {
		tb.Fatal(err)
	}
	return n
}
