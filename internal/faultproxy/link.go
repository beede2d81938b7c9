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
	client, server *net.TCPConn
	done           chan struct{} // closed by cut
	once           sync.Once
	pace           float64 // its share of an uneven delay, from 0 to 1; set by add

	head  []byte // the first headBytes of what the client said; guarded by Proxy.mu
	tail  []byte // the last headBytes of it; guarded by Proxy.mu
	asked bool   // a request with faults.word has passed since the last reply; guarded by Proxy.mu
	lost  bool   // a reply was swallowed; guarded by Proxy.mu
}

// cut resets both connections: a closed one would look like an orderly end.
func (l *link) cut() {
	l.once.Do(func() {
		close(l.done)
		reset(l.client)
		reset(l.server)
	})
}

func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}

// accept serves the connections of one listener until it is closed.
func (p *Proxy) accept(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				p.t.Errorf("faultproxy: accept: %v", err)
			}
			return
		}
		client := conn.(*net.TCPConn) // it comes from a TCP listener
		p.wg.Go(func() { p.serve(client) })
	}
}

// serve forwards one connection until both its ends are done or it is cut.
func (p *Proxy) serve(client *net.TCPConn) {
	conn, err := net.DialTimeout("tcp", p.target, dialTimeout)
	if err != nil {
		reset(client) // the client learns only that it does not work
		return
	}
	server := conn.(*net.TCPConn) // it was dialed as TCP
	l := &link{client: client, server: server, done: make(chan struct{})}
	if !p.add(l) {
		l.cut()
		return
	}
	var pumps sync.WaitGroup
	pumps.Go(func() { p.pump(l, ToServer, l.client, l.server) })
	pumps.Go(func() { p.pump(l, ToClient, l.server, l.client) })
	pumps.Wait()
	_ = l.client.Close()
	_ = l.server.Close()
	p.remove(l)
}

// add reports whether l may be served: not when the proxy closed meanwhile.
func (p *Proxy) add(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.links[l] = struct{}{}
	}
	p.served++
	_, l.pace = math.Modf(float64(p.served) * math.Phi) // well spread, and the same in each run
	return !p.closed
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
