package e2e

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// rawConn is a connection on which a test writes what no client would.
type rawConn struct {
	t    *testing.T
	conn *websocket.Conn
}

func dialRaw(t *testing.T, i *instance) *rawConn {
	t.Helper()
	conn, status := tryRaw(t, i, nil)
	if conn == nil {
		t.Fatalf("the upgrade is answered with %d", status)
	}
	return &rawConn{t, conn}
}

// tryRaw upgrades, and returns nil and the status where the server does not.
func tryRaw(t *testing.T, i *instance, header http.Header) (*websocket.Conn, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	//nolint:bodyclose // Dial closes the body or makes it the connection
	conn, response, err := websocket.Dial(ctx, i.url(), &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		if response == nil {
			t.Fatal(err)
		}
		return nil, response.StatusCode
	}
	conn.SetReadLimit(1 << 20)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn, response.StatusCode
}

func (r *rawConn) send(frame string) { r.write(websocket.MessageText, frame) }

func (r *rawConn) write(typ websocket.MessageType, frame string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	if err := r.conn.Write(ctx, typ, []byte(frame)); err != nil {
		r.t.Fatal(err)
	}
}

// read is the next frame, or the close code.
func (r *rawConn) read() (frame string, code int) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	_, text, err := r.conn.Read(ctx)
	var closed websocket.CloseError
	switch {
	case errors.As(err, &closed):
		return "", int(closed.Code)
	case err != nil:
		r.t.Fatal(err)
	}
	return string(text), 0
}

// expect waits for the frame that holds the first text, and checks that it holds the others.
func (r *rawConn) expect(first string, others ...string) string {
	r.t.Helper()
	for {
		frame, code := r.read()
		if code != 0 {
			r.t.Fatalf("closed with %d before a frame with %s", code, first)
		}
		if !strings.Contains(frame, first) {
			continue
		}
		for _, other := range others {
			if !strings.Contains(frame, other) {
				r.t.Errorf("%s lacks %s", frame, other)
			}
		}
		return frame
	}
}

// expectClose waits for the close code.
func (r *rawConn) expectClose(want int) {
	r.t.Helper()
	for {
		if _, code := r.read(); code != 0 {
			if code != want {
				r.t.Errorf("closed with %d, want %d", code, want)
			}
			return
		}
	}
}
