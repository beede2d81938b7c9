package faultproxy

import (
	"errors"
	"io"
	"math"
	"net"
	"sync"
	"time"
)

// chunkBytes is the most that is forwarded at once; ordinary requests and replies are one chunk.
const chunkBytes = 64 << 10

// headBytes is how much of what a client says first is remembered, and how much of what it said last.
const headBytes = 4 << 10

// dialTimeout bounds how long Close waits for a connection that is still being made.
const dialTimeout = 5 * time.Second

// link is one forwarded connection.
type link struct {
	client *net.TCPConn
	done   chan struct{} // closed by cut
	pace   float64       // its share of an uneven delay, from 0 to 1; set by add

	server *net.TCPConn // nil until it is dialed; guarded by mu until then
	isCut  bool         // guarded by mu
	mu     sync.Mutex

	head  []byte // the first headBytes of what the client said; guarded by Proxy.mu
	tail  []byte // the last headBytes of it; guarded by Proxy.mu
	asked bool   // a request with faults.word has passed since the last reply; guarded by Proxy.mu
	lost  bool   // a reply was swallowed; guarded by Proxy.mu
}

// cut resets both connections: a closed one would look like an orderly end.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isCut {
		return
	}
	l.isCut = true
	close(l.done)
	reset(l.client)
	if l.server != nil {
		reset(l.server)
	}
}

// dialed gives l its other end, and reports false where it was cut meanwhile.
func (l *link) dialed(server *net.TCPConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isCut {
		reset(server)
		return false
	}
	l.server = server
	return true
}

func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}

// accept serves the connections of one listener until it is closed. What it has accepted is known from then on,
// so that it does not outlive a cut while its other end is being dialed.
func (p *Proxy) accept(ln net.Listener, ended chan<- struct{}) {
	defer close(ended)
	for {
		conn, err := ln.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				p.t.Errorf("faultproxy: accept: %v", err)
			}
			return
		}
		l := &link{client: conn.(*net.TCPConn), done: make(chan struct{})} // it comes from a TCP listener
		p.add(l)
		p.wg.Go(func() { p.serve(l) })
	}
}

// serve forwards one connection until both its ends are done or it is cut.
func (p *Proxy) serve(l *link) {
	defer p.remove(l)
	conn, err := net.DialTimeout("tcp", p.target, dialTimeout)
	if err != nil {
		l.cut() // the client learns only that it does not work
		return
	}
	if !l.dialed(conn.(*net.TCPConn)) { // it was dialed as TCP
		return
	}
	var pumps sync.WaitGroup
	pumps.Go(func() { p.pump(l, ToServer, l.client, l.server) })
	pumps.Go(func() { p.pump(l, ToClient, l.server, l.client) })
	pumps.Wait()
	_ = l.client.Close()
	_ = l.server.Close()
}

func (p *Proxy) add(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.links[l] = struct{}{}
	p.served++
	_, l.pace = math.Modf(float64(p.served) * math.Phi) // well spread, and the same in each run
}

func (p *Proxy) remove(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// pump forwards one direction until src ends, and passes an orderly end on.
func (p *Proxy) pump(l *link, d Direction, src, dst *net.TCPConn) {
	buf := make([]byte, chunkBytes)
	for {
		n, err := src.Read(buf)
		if n > 0 && !p.forward(l, d, dst, buf[:n]) {
			l.cut()
			return
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF) && p.pass(l, d):
			_ = dst.CloseWrite()
			return
		default:
			l.cut()
			return
		}
	}
}

// forward takes one chunk through the faults and reports whether the link goes on.
func (p *Proxy) forward(l *link, d Direction, dst *net.TCPConn, chunk []byte) bool {
	if d == ToServer {
		p.said(l, chunk)
	}
	if !p.pass(l, d) {
		return false
	}
	if d == ToServer {
		p.asked(l, chunk)
	} else if p.loses(l) || p.swallows(l) {
		return true // if it was cut with that, the next read finds out
	}
	_, err := dst.Write(chunk)
	return err == nil
}

// pass waits for as long as the faults hold direction d back, and reports false where the link was
// cut meanwhile.
func (p *Proxy) pass(l *link, d Direction) bool {
	arrived := time.Now()
	for {
		f, changed := p.current(l)
		var due <-chan time.Time // never, in a black hole
		if f.hole&d == 0 {
			wait := f.delay - time.Since(arrived)
			if wait <= 0 {
				return true
			}
			due = time.After(wait)
		}
		select {
		case <-due:
		case <-changed:
		case <-l.done:
			return false
		}
	}
}
