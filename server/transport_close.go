package server

import (
	"errors"
	"os"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// closing is the end of a transport: asked for by whoever likes, and carried out by who reads, since the close
// handshake reads too.
type closing struct {
	mu sync.Mutex
	// guarded by mu
	asked  *closeFrame   // nil until somebody asks
	ended  chan struct{} // closed at the end; nil while nobody waits for it
	isOver bool
}

type closeFrame struct {
	code   int
	reason string
}

// Close has a close frame sent, waits for the client's, and ends the connection; all within a second. What is
// too long of the reason is cut off. If the connection is being closed already, it waits for the end.
func (t *transport) Close(code int, reason string) {
	ended, first := t.ask(&closeFrame{code, reason})
	if first {
		_ = t.raw.SetReadDeadline(time.Unix(1, 0)) // wakes who reads; fails where the connection is gone
	}
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		t.Abort()
	}
}

// ask asks for the end, and reports whether nobody had.
func (t *transport) ask(frame *closeFrame) (ended <-chan struct{}, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended == nil {
		t.ended = make(chan struct{})
		if t.isOver {
			close(t.ended)
		}
	}
	first = t.asked == nil && !t.isOver
	if first {
		t.asked = frame
	}
	return t.ended, first
}

// end is Close for who reads, or where nobody does. A frame that was asked for is sent in place of the one that is
// given.
func (t *transport) end(code int, reason string) {
	cut := time.AfterFunc(closeTimeout, func() { _ = t.raw.Close() })
	defer cut.Stop()
	defer t.finish()
	t.mu.Lock()
	if t.asked != nil {
		code, reason = t.asked.code, t.asked.reason
	} else {
		t.asked = &closeFrame{code, reason} // whoever asks now is too late
	}
	t.mu.Unlock()
	_ = t.raw.SetReadDeadline(time.Time{}) // or the connection is gone
	if errors.Is(t.raw.err, os.ErrDeadlineExceeded) {
		t.raw.err = nil // somebody woke us; the client's close frame is still to come
	}
	t.yields, t.raw.between = false, false
	_ = t.conn.Close(websocket.StatusCode(code), cutReason(reason)) // it is over either way
}

// finish tells those who wait that the connection is over.
func (t *transport) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended != nil && !t.isOver {
		close(t.ended)
	}
	t.isOver = true
}

// Abort ends the connection at once.
func (t *transport) Abort() {
	_ = t.raw.Close()
	_ = t.conn.CloseNow()
	t.finish()
}
