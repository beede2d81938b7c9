package store

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// embedded is a Redis within the process, for trying out and for tests. It listens nowhere: it has no password, and one
// malformed request would end the process. miniredis does not let keys end by itself: its clock is driven.
type embedded struct {
	mini *miniredis.Miniredis
	done chan struct{}
	once sync.Once
	wg   sync.WaitGroup
}

const embeddedTick = 100 * time.Millisecond

func startEmbedded() *embedded {
	e := &embedded{mini: miniredis.NewMiniRedis(), done: make(chan struct{})}
	e.wg.Add(1)
	go e.drive()
	return e
}

// dial connects a client within the process.
func (e *embedded) dial(context.Context, string, string) (net.Conn, error) {
	conn, err := e.mini.Dial()
	if err != nil {
		return nil, err
	}
	return newQueuedConn(conn), nil
}

func (e *embedded) drive() {
	defer e.wg.Done()
	ticker := time.NewTicker(embeddedTick)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-e.done:
			return
		case now := <-ticker.C:
			e.mini.FastForward(now.Sub(last))
			last = now
		}
	}
}

func (e *embedded) stop() {
	e.once.Do(func() {
		close(e.done)
		e.wg.Wait()
		e.mini.Close()
	})
}

// queuedConn is a net.Pipe whose Write does not wait for the other end, as little as that of a socket with room in its
// buffer. A client writes a whole pipeline before it reads; the server writes its first reply before it reads the rest.
// What is queued is at most what the client writes before it waits for a reply.
type queuedConn struct {
	net.Conn
	wake   chan struct{} // holds one signal: something is queued
	closed chan struct{}
	once   sync.Once

	mu     sync.Mutex
	queued []byte // guarded by mu
}

func newQueuedConn(conn net.Conn) *queuedConn {
	c := &queuedConn{Conn: conn, wake: make(chan struct{}, 1), closed: make(chan struct{})}
	go c.run()
	return c
}

// Write queues p. What is queued when the connection closes is dropped.
func (c *queuedConn) Write(p []byte) (int, error) {
	select {
	case <-c.closed:
		return 0, net.ErrClosed
	default:
	}
	c.mu.Lock()
	c.queued = append(c.queued, p...)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return len(p), nil
}

// SetDeadline bounds reads only: writes do not wait.
func (c *queuedConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetWriteDeadline does nothing: writes do not wait.
func (c *queuedConn) SetWriteDeadline(time.Time) error { return nil }

// Close ends the connection and its goroutine.
func (c *queuedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// run passes on what is queued until the connection is closed.
func (c *queuedConn) run() {
	for {
		select {
		case <-c.closed:
			return
		case <-c.wake:
		}
		c.mu.Lock()
		queued := c.queued
		c.queued = nil
		c.mu.Unlock()
		if _, err := c.Conn.Write(queued); err != nil {
			_ = c.Close() // whoever reads finds out
			return
		}
	}
}
