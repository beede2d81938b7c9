// Package faultproxy stands between a client and a TCP server in a test and breaks the network on
// command: it cuts, refuses, delays, holds back and loses. It knows nothing of what the bytes mean.
// All methods may be called concurrently, also from a goroutine of the test.
package faultproxy

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"

	"muster/internal/loopback"
)

// Direction tells which way bytes go. Directions can be joined with |.
type Direction uint8

// The directions; Neither heals a black hole.
const (
	Neither  Direction = 0
	ToServer Direction = 1 << iota
	ToClient
	Both = ToServer | ToClient
)

// Proxy forwards connections to one target. It starts without faults.
type Proxy struct {
	t      testing.TB
	target string
	addr   string
	wg     sync.WaitGroup

	mu      sync.Mutex
	closed  bool               // guarded by mu, as all below
	ln      net.Listener       // nil while connections are refused
	ended   chan struct{}      // closed when nothing more comes from ln
	links   map[*link]struct{} // all open ones
	served  int                // connections so far
	faults  faults
	changed chan struct{} // closed, and made anew, when faults change
}

// faults is what the proxy does to the bytes that pass.
type faults struct {
	delay   time.Duration
	uneven  time.Duration // a connection is delayed by its pace of it, beyond delay
	late    time.Duration // delays beyond that the connections that began with lateTo
	lateTo  []byte
	hole    Direction
	swallow int    // chunks towards the client still to be lost, with the connection
	word    []byte // only after a request that contains it; empty = any
	lose    int    // chunks towards the client still to be lost, without the connection
	of      []byte // only of connections that began with it
	spared  []byte // all is held back but for connections whose client said it; empty = nothing is
}

// Start starts a proxy to target (host:port) on a port of 127.0.0.1 that stays the same until t
// ends, which closes the proxy.
func Start(t testing.TB, target string) *Proxy {
	t.Helper()
	ln, err := loopback.Listen()
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{
		t: t, target: target, addr: ln.Addr().String(),
		links: map[*link]struct{}{}, changed: make(chan struct{}),
	}
	p.serveFrom(ln)
	t.Cleanup(p.Close)
	return p
}

// Addr is the host:port at which clients find the proxy.
func (p *Proxy) Addr() string { return p.addr }

// Cut resets all connections now; new ones are served.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.cut()
	}
}

// Refuse lets the kernel refuse new connections, as where nothing listens, or ends that. Open
// connections stay; a Cut that follows resets all there are.
func (p *Proxy) Refuse(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed || on == (p.ln == nil):
	case on:
		p.refuse()
	default:
		ln, err := net.Listen("tcp", p.addr)
		if err != nil {
			p.t.Errorf("faultproxy: listen again: %v", err)
			return
		}
		p.serveFrom(ln)
	}
}

// serveFrom accepts connections; to be called with mu.
func (p *Proxy) serveFrom(ln net.Listener) {
	ended := make(chan struct{})
	p.ln, p.ended = ln, ended
	p.wg.Go(func() { p.accept(ln, ended) })
}

// refuse accepts no more, and returns when all that was accepted is known; to be called with mu, which it gives
// up for that.
func (p *Proxy) refuse() {
	ended := p.ended
	_ = p.ln.Close()
	p.ln = nil
	p.mu.Unlock()
	<-ended
	p.mu.Lock()
}

// Delay holds each chunk back for d, in both directions: a round trip takes 2*d longer. Zero ends
// that.
func (p *Proxy) Delay(d time.Duration) { p.change(func(f *faults) { f.delay = d }) }

// DelayUnevenly is Delay by a time of each connection's own, below d: what is said over one overtakes what was
// said before over another. Zero ends that.
func (p *Proxy) DelayUnevenly(d time.Duration) { p.change(func(f *faults) { f.uneven = d }) }

// DelayOf is Delay for those connections only whose client said word in its first few kilobytes, beyond what
// delays all. Zero ends that.
func (p *Proxy) DelayOf(word string, d time.Duration) {
	p.change(func(f *faults) { f.lateTo, f.late = []byte(word), d })
}

// BlackHole passes nothing more in the given directions, not even the end of a connection, as a
// network that lost its route. Nothing is lost: as TCP sends again, what was held back passes when
// the hole is healed with Neither. New connections open, as their handshake is with the proxy.
func (p *Proxy) BlackHole(d Direction) { p.change(func(f *faults) { f.hole = d }) }

// Isolate holds all back, both ways, as BlackHole(Both) does, but for the connections whose client said word in
// the first or in the last few kilobytes that it sent: the server is cut off from everybody else. The empty word
// ends that.
func (p *Proxy) Isolate(word string) { p.change(func(f *faults) { f.spared = []byte(word) }) }

// SwallowReplies loses the next n chunks from the server, counted over all connections, and then
// resets the connections that lost any: the server did what it was asked to, and nobody learns of
// it. A chunk is what the server wrote at once, in general; a handshake's reply or a pushed
// message counts too, see SwallowRepliesTo.
func (p *Proxy) SwallowReplies(n int) { p.SwallowRepliesTo("", n) }

// SwallowRepliesTo is SwallowReplies for those chunks only that follow a request which contains
// word, such as EVALSHA. It replaces what is left of an earlier call.
func (p *Proxy) SwallowRepliesTo(word string, n int) {
	p.change(func(f *faults) { f.word, f.swallow = []byte(word), n })
}

// ToSwallow is how many replies are still to be lost.
func (p *Proxy) ToSwallow() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults.swallow
}

// LoseChunks loses the next n chunks from the server, counted over all connections whose client said
// word in its first few kilobytes, such as subscribe. The connections stay, so that nobody notices: what
// is lost should be whole messages that nobody waits for. It replaces what is left of an earlier call.
func (p *Proxy) LoseChunks(word string, n int) {
	p.change(func(f *faults) { f.of, f.lose = []byte(word), n })
}

// Close resets all connections, refuses new ones and waits until the proxy's goroutines have
// ended. It may be called twice.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	if p.ln != nil {
		p.refuse()
	}
	p.mu.Unlock()
	p.Cut()
	p.wg.Wait()
}

// change changes the faults and wakes who waits because of the old ones.
func (p *Proxy) change(f func(*faults)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.faults)
	close(p.changed)
	p.changed = make(chan struct{})
}

// current returns the faults as they concern l, and a channel that is closed when they change.
func (p *Proxy) current(l *link) (faults, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.faults
	f.delay += time.Duration(l.pace * float64(f.uneven))
	if f.late > 0 && bytes.Contains(l.head, f.lateTo) {
		f.delay += f.late
	}
	if !bytes.Contains(l.head, f.spared) && !bytes.Contains(l.tail, f.spared) {
		f.hole = Both
	}
	return f, p.changed
}

// said remembers a chunk of what the client of l says, which may be held back yet.
func (p *Proxy) said(l *link, chunk []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.head = append(l.head, chunk[:min(len(chunk), headBytes-len(l.head))]...)
	l.tail = append(l.tail, chunk...)
	l.tail = append([]byte(nil), l.tail[max(0, len(l.tail)-headBytes):]...)
}

// asked notes that a request chunk of l passes.
func (p *Proxy) asked(l *link, chunk []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.asked = l.asked || bytes.Contains(chunk, p.faults.word)
}

// loses reports whether a chunk for the client of l is to be lost without a trace.
func (p *Proxy) loses(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.faults.lose <= 0 || !bytes.Contains(l.head, p.faults.of) {
		return false
	}
	p.faults.lose--
	return true
}

// swallows reports whether a chunk for the client of l is to be lost, and cuts the connections
// that lost one with the last.
func (p *Proxy) swallows(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := l.asked || len(p.faults.word) == 0
	l.asked = false
	if p.faults.swallow <= 0 || !asked {
		return false
	}
	l.lost = true
	if p.faults.swallow--; p.faults.swallow == 0 {
		for l := range p.links {
			if l.lost {
				l.cut()
			}
		}
	}
	return true
}
