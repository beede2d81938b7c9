package faultproxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"muster/internal/loopback"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	// patience bounds a wait for what must come.
	patience = 60 * time.Second
	// silence is how long nothing must come. Too short it could miss a fault, not invent one.
	silence = 100 * time.Millisecond
)

// echo is a server that answers each line with itself.
type echo struct {
	addr  string
	lines chan string // what it got
}

func startEcho(t *testing.T) *echo {
	t.Helper()
	ln, err := loopback.Listen()
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{addr: ln.Addr().String(), lines: make(chan string, 100)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go e.serve(conn)
		}
	}()
	t.Cleanup(func() { _ = ln.Close(); <-done })
	return e
}

func (e *echo) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		e.lines <- lines.Text()
		if _, err := io.WriteString(conn, lines.Text()+"\n"); err != nil {
			return
		}
	}
	_, _ = io.WriteString(conn, "bye\n")
}

// setup starts an echo server and a proxy to it; its cleanups run in the reverse order.
func setup(t *testing.T) (*echo, *Proxy) {
	t.Helper()
	t.Parallel()
	e := startEcho(t)
	return e, Start(t, e.addr)
}

// caller is a client that speaks in lines.
type caller struct {
	t *testing.T
	*net.TCPConn
	in *bufio.Reader
}

func dial(t *testing.T, p *Proxy) *caller {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &caller{t: t, TCPConn: conn.(*net.TCPConn), in: bufio.NewReader(conn)}
}

func (c *caller) say(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// hear waits for a line for at most d.
func (c *caller) hear(d time.Duration) (string, error) {
	c.t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(d)); err != nil {
		c.t.Fatal(err)
	}
	line, err := c.in.ReadString('\n')
	return strings.TrimSuffix(line, "\n"), err
}

func (c *caller) expect(want string) {
	c.t.Helper()
	if got, err := c.hear(patience); err != nil || got != want {
		c.t.Fatalf("heard %q, %v, want %q", got, err, want)
	}
}

func (c *caller) expectSilence() {
	c.t.Helper()
	if got, err := c.hear(silence); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("heard %q, %v, want nothing", got, err)
	}
}

func (c *caller) expectReset() {
	c.t.Helper()
	if got, err := c.hear(patience); !errors.Is(err, syscall.ECONNRESET) {
		c.t.Fatalf("heard %q, %v, want a reset", got, err)
	}
}

func TestWithoutFaultsBytesAndOrderlyEndsPass(t *testing.T) {
	_, p := setup(t)
	c := dial(t, p)
	long := strings.Repeat("x", 10_000)
	for _, line := range []string{"a", "b", long} {
		c.say(line)
		c.expect(line)
	}
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	c.expect("bye")
	if got, err := c.hear(patience); !errors.Is(err, io.EOF) {
		t.Errorf("heard %q, %v, want the end", got, err)
	}
}

func TestCutResetsOpenConnectionsOnly(t *testing.T) {
	_, p := setup(t)
	a, b := dial(t, p), dial(t, p)
	for _, c := range []*caller{a, b} {
		c.say("hello")
		c.expect("hello") // it is surely forwarded now
	}
	p.Cut()
	a.expectReset()
	b.expectReset()
	c := dial(t, p)
	c.say("again")
	c.expect("again")
}

func TestRefuseConcernsNewConnectionsOnly(t *testing.T) {
	_, p := setup(t)
	c := dial(t, p)
	c.say("before")
	c.expect("before")
	p.Refuse(true)
	p.Refuse(true)
	if conn, err := net.Dial("tcp", p.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial: %v, %v, want a refusal", conn, err)
	}
	c.say("within")
	c.expect("within")
	p.Refuse(false)
	p.Refuse(false)
	d := dial(t, p)
	d.say("after")
	d.expect("after")
}

// What is accepted and has no other end yet is as open as any: it must not be what goes on through an outage.
func TestNoConnectionOutlivesARefusalWithACut(t *testing.T) {
	_, p := setup(t)
	for range 20 {
		const clients = 50
		opened := make(chan net.Conn, clients)
		for range clients {
			go func() {
				conn, err := net.Dial("tcp", p.Addr())
				if err != nil {
					conn = nil // it came too late
				}
				opened <- conn
			}()
		}
		first := <-opened
		p.Refuse(true)
		p.Cut()
		for n := range clients {
			conn := first
			if n > 0 {
				conn = <-opened
			}
			if conn == nil {
				continue
			}
			c := &caller{t: t, TCPConn: conn.(*net.TCPConn), in: bufio.NewReader(conn)}
			_, _ = io.WriteString(c, "hello\n") // where it fails the connection has ended, as it should
			if got, err := c.hear(patience); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("a connection outlived the cut: heard %q, %v", got, err)
			}
			_ = conn.Close()
		}
		p.Refuse(false)
	}
}

func TestDelayCountsForEachDirection(t *testing.T) {
	_, p := setup(t)
	c := dial(t, p)
	const delay = 40 * time.Millisecond
	p.Delay(delay)
	begun := time.Now()
	c.say("slow")
	c.expect("slow")
	if took := time.Since(begun); took < 2*delay {
		t.Errorf("round trip took %v, want at least %v", took, 2*delay)
	}
	p.Delay(time.Hour)
	c.say("hurry")
	c.expectSilence()
	p.Delay(0) // also frees what waits already
	c.expect("hurry")
}

func TestBlackHoleHoldsBackUntilHealed(t *testing.T) {
	for name, c := range map[string]struct {
		hole    Direction
		reaches bool // the line comes to the server
	}{
		"to the server": {ToServer, false},
		"to the client": {ToClient, true},
		"both":          {Both, false},
	} {
		t.Run(name, func(t *testing.T) {
			e, p := setup(t)
			caller := dial(t, p)
			p.BlackHole(c.hole)
			caller.say("lost?")
			caller.expectSilence()
			if c.reaches {
				select {
				case <-e.lines:
				case <-time.After(patience):
					t.Fatal("the line did not come to the server")
				}
			} else if len(e.lines) != 0 {
				t.Errorf("%q came to the server", <-e.lines)
			}
			if err := caller.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			caller.expectSilence()
			p.BlackHole(Neither)
			caller.expect("lost?")
			caller.expect("bye")
		})
	}
}

func TestSwallowedRepliesCutWhoLostThem(t *testing.T) {
	e, p := setup(t)
	a, b, bystander := dial(t, p), dial(t, p), dial(t, p)
	bystander.say("warm")
	bystander.expect("warm")
	p.SwallowReplies(2)
	a.say("one")
	a.expectSilence()
	if got := p.ToSwallow(); got != 1 {
		t.Errorf("%d replies are still to be lost, want 1", got)
	}
	b.say("two")
	a.expectReset()
	b.expectReset()
	bystander.say("three")
	bystander.expect("three")
	if got := len(e.lines); got != 4 {
		t.Errorf("the server saw %d lines, want 4", got)
	}
}

func TestSwallowedRepliesToOneKindOfRequest(t *testing.T) {
	_, p := setup(t)
	c := dial(t, p)
	p.SwallowRepliesTo("EVALSHA", 1)
	c.say("PING")
	c.expect("PING")
	c.say("EVALSHA 1")
	c.expectReset()
	d := dial(t, p)
	d.say("EVALSHA 2")
	d.expect("EVALSHA 2")
}

func TestConnectionIsResetWhereTheTargetIsDown(t *testing.T) {
	t.Parallel()
	ln, err := loopback.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	p := Start(t, ln.Addr().String())
	conn, err := net.Dial("tcp", p.Addr())
	if err == nil { // else the reset was faster than the client
		defer func() { _ = conn.Close() }()
		_, err = conn.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("connection: %v, want a reset", err)
	}
}

// TestCloseEndsEverything leaves it to the leak check of TestMain to see that no goroutine stays
// with what waits here: for a peer, in a delay, in a black hole.
func TestCloseEndsEverything(t *testing.T) {
	_, p := setup(t)
	for _, fault := range []func(){func() {}, func() { p.Delay(time.Hour) }, func() { p.BlackHole(Both) }} {
		c := dial(t, p)
		c.say("warm")
		fault()
		c.say("held")
	}
	p.Close()
	p.Close()
	p.Refuse(false) // does not open it again
	if conn, err := net.Dial("tcp", p.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial: %v, %v, want a refusal", conn, err)
	}
}

// awaitToLose waits until n chunks are still to be lost.
func (p *Proxy) awaitToLose(t *testing.T, n int) {
	t.Helper()
	deadline, tick := time.After(10*time.Second), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		p.mu.Lock()
		left := p.faults.lose
		p.mu.Unlock()
		if left == n {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%d chunks are still to be lost, want %d", left, n)
		case <-tick.C:
		}
	}
}

func TestLostChunksLeaveTheConnection(t *testing.T) {
	e, p := setup(t)
	marked, other := dial(t, p), dial(t, p)
	for _, c := range []struct {
		*caller
		line string
	}{{marked, "subscribe"}, {other, "else"}} {
		c.say(c.line)
		c.expect(c.line)
		<-e.lines
	}
	p.LoseChunks("subscribe", 2)
	for left := 1; left >= 0; left-- {
		marked.say("lost")
		<-e.lines              // the server has it; its answer is lost
		p.awaitToLose(t, left) // or the next answer may come with it, as one chunk
	}
	other.say("kept")
	other.expect("kept")
	<-e.lines
	marked.expectSilence()
	marked.say("again")
	marked.expect("again")
}

func TestIsolatedFromAllButOne(t *testing.T) {
	_, p := setup(t)
	spared, other := dial(t, p), dial(t, p)
	for c, line := range map[*caller]string{spared: "I am one", other: "I am two"} {
		c.say(line)
		c.expect(line)
	}
	p.Isolate("one")
	other.say("held")
	other.expectSilence()
	late := dial(t, p)
	late.say("held too")
	late.expectSilence()
	spared.say("on")
	spared.expect("on")
	p.Isolate("")
	other.expect("held")
	late.expect("held too")
}

func TestUnevenDelaysLetOneOvertakeTheOther(t *testing.T) {
	e, p := setup(t)
	warm := func() *caller {
		c := dial(t, p)
		c.say("warm")
		c.expect("warm") // else the next might be served before it
		<-e.lines
		return c
	}
	slow, fast := warm(), warm() // 0.62 and 0.24 of the delay
	p.DelayUnevenly(500 * time.Millisecond)
	slow.say("first")
	fast.say("second")
	if line := <-e.lines; line != "second" {
		t.Errorf("%q came first", line)
	}
	fast.expect("second")
	slow.expect("first")
}

func TestDelayOfOneKindOfConnection(t *testing.T) {
	e, p := setup(t)
	late, other := dial(t, p), dial(t, p)
	for _, c := range []*caller{late, other} {
		c.say(map[*caller]string{late: "subscribe", other: "else"}[c])
		<-e.lines
	}
	late.expect("subscribe")
	other.expect("else")
	p.DelayOf("subscribe", 500*time.Millisecond)
	late.say("first")
	other.say("second")
	if line := <-e.lines; line != "second" {
		t.Errorf("%q came first", line)
	}
	other.expect("second")
	late.expect("first")
}
