package server

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"sync"
	"syscall"
)

// rawConn is the connection below the library. What comes may be taken in by the transport and handed to the library.
// Text frames and pings are written here: the library writes each frame by itself, and waits for the client. Its own
// are control frames, each as one piece, as none is longer than its buffer.
type rawConn struct {
	net.Conn
	descriptor syscall.RawConn // of Conn
	arrived

	// mu is held by who writes, for as long as the client does not take what is written.
	mu      sync.Mutex
	closing bool // a close frame may have been sent, which nothing follows; guarded by mu
}

func newRawConn(conn net.Conn) (*rawConn, error) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil, fmt.Errorf("a %T has no descriptor", conn)
	}
	descriptor, err := c.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("descriptor: %w", err)
	}
	return &rawConn{Conn: conn, descriptor: descriptor}, nil
}

// The first bytes of frames that are whole and not masked, and of a text frame that is masked.
const (
	textHead, closeHead, pingHead, pongHead = 0x81, 0x88, 0x89, 0x8a
	// maskBit is set in the second byte where a mask of so many bytes follows the length.
	maskBit, maskBytes = 0x80, 4
	// Instead of a length, the second byte says how long it is: two bytes, or eight.
	twoBytes, eightBytes = 126, 127
)

// Write writes a control frame of the library's.
func (c *rawConn) Write(frame []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if frame[0] == closeHead {
		c.closing = true
	}
	return c.Conn.Write(frame)
}

// send writes pieces of frames between two of the library's; see hub.Transport.
func (c *rawConn) send(piece *[]byte) (flush func() error, err error) {
	sent, held := 0, c.mu.TryLock()
	if held {
		sent, err = c.try(*piece)
		if err != nil || sent == len(*piece) {
			c.mu.Unlock()
			recycle(piece)
			return nil, err
		}
	}
	return func() error {
		if !held {
			c.mu.Lock()
		}
		defer c.mu.Unlock()
		defer recycle(piece)
		if !held && c.closing {
			return net.ErrClosed
		}
		_, err := c.Conn.Write((*piece)[sent:])
		return err
	}, nil
}

// try writes as much as the client takes now. mu is held.
func (c *rawConn) try(piece []byte) (sent int, err error) {
	if c.closing {
		return 0, net.ErrClosed
	}
	var failure error
	err = c.descriptor.Write(func(fd uintptr) (done bool) {
		for {
			sent, failure = writeNow(fd, piece)
			if !errors.Is(failure, syscall.EINTR) {
				return true // and do not wait
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case errors.Is(failure, syscall.EAGAIN):
		return 0, nil
	}
	return max(sent, 0), failure
}

// pieceBytes is room for a joined and a match_complete.
const pieceBytes = 1 << 10

// pieces are those to be used again.
var pieces = sync.Pool{New: func() any { b := make([]byte, 0, pieceBytes); return &b }}

func recycle(piece *[]byte) {
	if cap(*piece) <= 2*pieceBytes {
		*piece = (*piece)[:0]
		pieces.Put(piece)
	}
}

// appendText appends a text frame.
func appendText(piece, text []byte) []byte {
	switch n := len(text); {
	case n < twoBytes:
		piece = append(piece, textHead, byte(n))
	case n <= math.MaxUint16:
		piece = binary.BigEndian.AppendUint16(append(piece, textHead, twoBytes), uint16(n))
	default:
		piece = binary.BigEndian.AppendUint64(append(piece, textHead, eightBytes), uint64(n))
	}
	return append(piece, text...)
}
