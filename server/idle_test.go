package server

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"muster/configs"
	"muster/protocol"
)

// idleBytes is the most that an idle, greeted session may cost: heap and stack in use, the client's bare socket
// in the same process included.
const idleBytes = 8 << 10

// BenchmarkIdleSession tells what an idle session costs after its welcome, and fails above the bound. It is no
// test since the race detector has memory of its own.
func BenchmarkIdleSession(b *testing.B) {
	const sessions = 2000
	address := strings.TrimSuffix(strings.TrimPrefix(start(b, func(c *configs.Config) {
		// The bare sockets answer no pings.
		c.Presence.Heartbeat, c.Presence.TTL = 10*time.Minute, time.Hour
	}), "ws://"), protocol.Path)
	// What is kept for good is paid for by a few: pools, connections to Redis, grown maps.
	idleSessions(b, address, 100, func() {})
	// What a round leaves behind is no part of what the next one needs: the baseline is the least that was ever in use.
	baseline, least := int64(math.MaxInt64), int64(math.MaxInt64)
	for b.Loop() {
		goroutines := runtime.NumGoroutine()
		baseline = min(baseline, memoryInUse())
		idleSessions(b, address, sessions, func() {
			if got := goroutinesAt(goroutines + sessions); got > goroutines+sessions {
				b.Errorf("%d goroutines for %d sessions", got-goroutines, sessions)
			}
			least = min(least, (memoryInUse()-baseline)/sessions)
		})
	}
	b.ReportMetric(float64(least), "B/session")
	if least > idleBytes {
		b.Errorf("%d bytes a session, want at most %d", least, idleBytes)
	}
}

// idleSessions has n sessions idle, looks, and ends them.
func idleSessions(b *testing.B, address string, n int, look func()) {
	b.Helper()
	before := runtime.NumGoroutine()
	clients := make([]net.Conn, n)
	for i := range clients {
		clients[i] = greetBare(b, address, fmt.Sprintf("idle%d", i))
	}
	look()
	for _, c := range clients {
		_ = c.Close()
	}
	goroutinesAt(before)
}

// greetBare is a client that is nothing but a socket: upgraded, and welcomed.
func greetBare(b testing.TB, address, player string) net.Conn {
	b.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		b.Fatal(err)
	}
	if _, err := io.WriteString(c, strings.Replace(handshake(), "GET / ", "GET "+protocol.Path+" ", 1)); err != nil {
		b.Fatal(err)
	}
	readUntil(b, c, "\r\n\r\n")
	if _, err := c.Write(frameOf(fmt.Sprintf(`{"type":"hello","player_id":%q}`, player))); err != nil {
		b.Fatal(err)
	}
	readUntil(b, c, `"type":"welcome"`)
	return c
}

// frameOf is a client's frame of a short text, masked with zeros.
func frameOf(text string) []byte {
	return append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...)
}

func readUntil(b testing.TB, c net.Conn, what string) {
	b.Helper()
	var seen bytes.Buffer
	chunk := make([]byte, 2048)
	for !strings.Contains(seen.String(), what) {
		n, err := c.Read(chunk)
		if err != nil {
			b.Fatalf("read until %q: %v", what, err)
		}
		seen.Write(chunk[:n])
	}
}
