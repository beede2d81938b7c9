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

	"muster/hub"
	"muster/protocol"
)

// closeTimeout bounds a close: of the frame that is sent, and of the client's, which ends the handshake.
const closeTimeout = time.Second

// untilAborted is the context of reads and writes. They end with the connection, which Abort ends from outside.
// The library closes a connection whose context ends, and pays for each one that could end with an entry
// in it for every frame.
var untilAborted = context.Background()

var _ hub.Transport = (*transport)(nil)

// transport is one accepted WebSocket. Await and ReadArrived are for one goroutine at a time, and there must be one that
// reads until it gets an error, and then calls Over: pings, pongs and close frames are handled there. All else is safe
// for concurrent use.
type transport struct {
	conn *websocket.Conn
	// raw is the connection below. To close it is the one way to cut short a close handshake or a write
	// that waits for the client: conn.CloseNow waits for a Close that is under way.
	raw      *rawConn
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

// errNotText and the others are what ReadArrived returns for a frame that breaks the protocol.
var (
	errNotText  = errors.New("binary frame")
	errTooLarge = errors.New("frame too large")
	errNotUTF8  = errors.New("frame is not UTF-8")
)

// read reads the next text frame.
func (t *transport) read() ([]byte, error) {
	kind, r, err := t.conn.Reader(untilAborted)
	if err != nil {
		return nil, err
	}
	t.inMessage = true
	defer func() { t.inMessage = false }()
	if kind != websocket.MessageText {
		return nil, errNotText
	}
	frame, err := io.ReadAll(io.LimitReader(r, t.maxBytes+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(frame)) > t.maxBytes:
		return nil, errTooLarge
	case !utf8.Valid(frame):
		return nil, errNotUTF8
	}
	return frame, nil
}

// Over ends a connection for which reading gave an error, and frees its resources. Where that was for a breach of the
// protocol, the client is told so, unless it was told already. It takes a second at most.
func (t *transport) Over(err error) {
	switch {
	case errors.Is(err, errNotText):
		t.closeFor(protocol.CloseUnsupported)
	case errors.Is(err, errTooLarge):
		t.closeFor(protocol.CloseTooLarge)
	case errors.Is(err, errNotUTF8):
		t.closeFor(protocol.CloseInvalidText)
	default:
		t.end(int(websocket.StatusProtocolError), "protocol error")
	}
}

func (t *transport) closeFor(code int) { t.end(code, protocol.CloseName(code)) }

// Write sends text frames, and a ping, in one piece; see hub.Transport. It is for one goroutine at a time, which has to
// wait for flush. The library's own ping waits for the pong, with a goroutine and a timer for each connection.
func (t *transport) Write(frames [][]byte, ping bool) (flush func() error, err error) {
	piece := pieces.Get().(*[]byte) // the pool holds nothing else
	for _, frame := range frames {
		*piece = appendText(*piece, frame)
	}
	if ping {
		*piece = append(*piece, pingHead, 0)
	}
	if flush, err = t.raw.send(piece); err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	return flush, nil
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
