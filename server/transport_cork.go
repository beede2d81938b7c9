package server

import (
	"net"
	"sync"
)

// corked is the connection below the library. Several frames leave it as one piece where the transport asks for
// that: the library writes each by itself, and a long one in parts. What comes may be taken in by the transport
// and handed to the library.
type corked struct {
	net.Conn
	arrived

	mu sync.Mutex
	// guarded by mu
	held    *[]byte // what is to leave as one piece; nil while nothing is held back
	closing bool    // a close frame may have been sent: no ping follows it
}

// corkBytes is room for a joined and a match_complete.
const corkBytes = 1 << 10

// corks are pieces to be used again.
var corks = sync.Pool{New: func() any { b := make([]byte, 0, corkBytes); return &b }}

// pingFrame is a ping without a payload.
var pingFrame = []byte{0x89, 0}

// Write writes p, or keeps it while the connection is corked.
func (c *corked) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != nil {
		*c.held = append(*c.held, p...)
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// cork has what is written wait for uncork, which has to follow.
func (c *corked) cork() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = corks.Get().(*[]byte) // the pool holds nothing else
}

// uncork writes what waits.
func (c *corked) uncork() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	held := c.held
	c.held = nil
	_, err := c.Conn.Write(*held)
	if cap(*held) <= 2*corkBytes {
		*held = (*held)[:0]
		corks.Put(held)
	}
	return err
}

// ping writes a ping between two frames. Every frame of the library's leaves as one piece, corked or because it
// is shorter than the library's buffer.
func (c *corked) ping() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return net.ErrClosed
	}
	_, err := c.Conn.Write(pingFrame)
	return err
}

// noMorePings has none follow the close frame that is about to be sent.
func (c *corked) noMorePings() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
}
