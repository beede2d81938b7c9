package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/musterhq/muster/hub"
	"github.com/musterhq/muster/protocol"
)

// closeTimeout bounds a close: of the frame that is sent, and of the client's, which ends the handshake.
const closeTimeout = time.Second

// untilAborted is the context of reads and writes. They end with the connection, which Abort ends from outside.
// The library closes a connection whose context ends, and pays for each one that could end with an entry
// in it for every frame.
var untilAborted = context.Background()

var _ hub.Transport = (*transport)(nil)

// transport is one accepted WebSocket. Read, or Await and ReadArrived, are for one goroutine at a time, and there
// must be one that reads until it gets an error: pings, pongs and close frames are handled there. All else is safe
// for concurrent use.
type transport struct {
	conn *websocket.Conn
	// raw is the connection below. To close it is the one way to cut short a close handshake or a write
	// that waits for the client: conn.CloseNow waits for a Close that is under way.
	raw      *corked
	buffered *bufio.Reader // the library's
	maxBytes int64
	onLife   atomic.Pointer[func()]
	// yields says that a read does not wait for another frame, inMessage that it is not over. Both are the
	// reader's own.
	yields, inMessage bool

	closing
}

// heard has f called from now on for every ping and pong of the client, by whoever reads.
func (t *transport) heard(f func()) { t.onLife.Store(&f) }

func (t *transport) signOfLife() {
	t.frameOver()
	if f := t.onLife.Load(); f != nil {
		(*f)()
	}
}

// errNotText and the others are what Read returns, after it has closed the connection, for a frame that breaks
// the protocol.
var (
	errNotText  = errors.New("binary frame")
	errTooLarge = errors.New("frame too large")
	errNotUTF8  = errors.New("frame is not UTF-8")
)

// Read waits for the next text frame. After an error the connection is over and its resources are freed; a
// close frame of the client is found in the error by [websocket.CloseStatus], which is 1005 where the
// client gave no code.
func (t *transport) Read() ([]byte, error) {
	kind, r, err := t.conn.Reader(untilAborted)
	switch {
	case errors.Is(err, errNothing):
		return nil, errNothing
	case err != nil:
		return nil, t.over(err)
	}
	t.inMessage = true
	defer func() { t.inMessage = false }()
	if kind != websocket.MessageText {
		t.closeFor(protocol.CloseUnsupported)
		return nil, errNotText
	}
	frame, err := io.ReadAll(io.LimitReader(r, t.maxBytes+1))
	switch {
	case err != nil:
		return nil, t.over(err)
	case int64(len(frame)) > t.maxBytes:
		t.closeFor(protocol.CloseTooLarge)
		return nil, errTooLarge
	case !utf8.Valid(frame):
		t.closeFor(protocol.CloseInvalidText)
		return nil, errNotUTF8
	}
	return frame, nil
}

// over frees a connection that reading found over, or that is to be closed. Where it was for a breach of the
// WebSocket protocol, the client is told so, unless it was told already.
func (t *transport) over(err error) error {
	t.end(int(websocket.StatusProtocolError), "protocol error")
	return fmt.Errorf("read: %w", err)
}

func (t *transport) closeFor(code int) { t.end(code, protocol.CloseName(code)) }

// Write sends text frames, in one piece. It waits for as long as the client does not read, until the connection
// is over. It is for one goroutine at a time.
func (t *transport) Write(frames ...[]byte) error {
	t.raw.cork()
	var err error
	for _, frame := range frames {
		if err = t.conn.Write(untilAborted, websocket.MessageText, frame); err != nil {
			break
		}
	}
	if err = errors.Join(err, t.raw.uncork()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// Ping sends a ping, and does not wait for the pong, which Read finds and tells as a sign of life. The library's
// own waits for it, with a goroutine and a timer for each connection.
func (t *transport) Ping() error {
	if err := t.raw.ping(); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	return nil
}

// cutReason is as much of a reason as fits into a close frame, in whole characters of UTF-8.
func cutReason(reason string) string {
	if len(reason) <= protocol.MaxCloseReasonBytes {
		return reason
	}
	end := protocol.MaxCloseReasonBytes
	for end > 0 && !utf8.RuneStart(reason[end]) {
		end--
	}
	return reason[:end]
}
