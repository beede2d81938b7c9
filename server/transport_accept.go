package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"muster/protocol"
)

// The sizes of a connection's buffers, in bytes. What comes is taken into the first, where a usual request fits; a
// larger one needs more system calls. The library reads from there by way of its own, which is as small as can be.
// The one that it writes through needs to hold a control frame: of messages it keeps nothing. The 4 KiB that
// net/http leaves behind for each direction would be half of what an idle connection costs.
const (
	readBuffer    = 256
	libraryBuffer = 16
	writeBuffer   = 128
)

// accept makes a request a WebSocket whose frames are at most maxBytes long. The caller has checked the origin.
// After an error the request is answered, with a problem.
func accept(w http.ResponseWriter, r *http.Request, maxBytes int) (*transport, error) {
	if offered := subprotocols(r.Header); !speaksOurs(offered) {
		err := protocol.Errorf(protocol.CodeBadMessage, "none of the subprotocols offered is served; offer %s", protocol.Subprotocol)
		writeProblemAs(w, http.StatusBadRequest, err)
		return nil, err
	}
	t := &transport{maxBytes: int64(maxBytes)}
	u := &upgrader{ResponseWriter: w}
	conn, err := websocket.Accept(u, r, &websocket.AcceptOptions{
		Subprotocols:       []string{protocol.Subprotocol},
		InsecureSkipVerify: true, // the caller has checked the origin
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived: func(context.Context, []byte) bool {
			t.signOfLife()
			return true
		},
		OnPongReceived: func(context.Context, []byte) { t.signOfLife() },
	})
	if err != nil {
		u.answerRefusal()
		return nil, fmt.Errorf("accept: %w", err)
	}
	if u.ahead {
		_, _ = u.reader.Peek(1) // the library put it behind the buffer, where More does not see it
	} else {
		u.reader.Reset(u.raw) // the library puts readers of what there is not in between
	}
	conn.SetReadLimit(-1) // transport.read has its own, with a reason that names no number off by one
	t.conn, t.raw, t.buffered = conn, u.raw, u.reader
	return t, nil
}

// subprotocols are those that a client offers.
func subprotocols(h http.Header) []string {
	var offered []string
	for _, line := range h.Values("Sec-WebSocket-Protocol") {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.TrimSpace(name); name != "" {
				offered = append(offered, name)
			}
		}
	}
	return offered
}

// speaksOurs tells whether ours is offered, or none at all.
func speaksOurs(offered []string) bool {
	for _, name := range offered {
		if name == protocol.Subprotocol {
			return true
		}
	}
	return len(offered) == 0
}

// upgrader stands between the library and the response: it keeps the connection and makes its buffers small,
// and holds back a refusal, which the library would write as plain text.
type upgrader struct {
	http.ResponseWriter
	raw      *rawConn
	reader   *bufio.Reader
	ahead    bool // the client sent something right behind its request
	switched bool // the client was told that the upgrade is granted
	refused  int  // the status of a refusal
	reason   bytes.Buffer
}

// WriteHeader lets the switch of protocols pass and holds back everything else.
func (u *upgrader) WriteHeader(status int) {
	if status == http.StatusSwitchingProtocols {
		u.switched = true
		u.ResponseWriter.WriteHeader(status)
		return
	}
	u.refused = status
}

// answerRefusal writes as a problem what was held back. After the switch there is nobody who would read it.
func (u *upgrader) answerRefusal() {
	if !u.switched {
		writeProblemAs(u.ResponseWriter, u.refused,
			protocol.Errorf(protocol.CodeBadMessage, "%s", strings.TrimSpace(u.reason.String())))
	}
}

// WriteHeaderNow is what gin has; the library calls it before it takes over the connection.
func (u *upgrader) WriteHeaderNow() {
	if w, ok := u.ResponseWriter.(interface{ WriteHeaderNow() }); ok {
		w.WriteHeaderNow()
	}
}

// Write holds back the words of a refusal.
func (u *upgrader) Write(text []byte) (int, error) { return u.reason.Write(text) }

// Hijack takes over the connection. What the client sent right behind its request is in the new buffer.
func (u *upgrader) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if u.raw, err = newRawConn(conn); err != nil {
		return nil, nil, err
	}
	ahead, _ := rw.Peek(rw.Reader.Buffered()) // what is buffered can be peeked at
	u.ahead = len(ahead) > 0
	u.reader = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(ahead), u.raw), max(libraryBuffer, len(ahead)))
	if _, err := u.reader.Peek(len(ahead)); err != nil {
		return nil, nil, fmt.Errorf("bytes sent ahead: %w", err)
	}
	return u.raw, bufio.NewReadWriter(u.reader, bufio.NewWriterSize(u.raw, writeBuffer)), nil
}
