package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"muster/internal/loopback"
	"muster/protocol"
)

const testFrameBytes = 1024

// patience is more than anything here takes.
const patience = 60 * time.Second

// serveSockets serves accept on loopback. What was accepted is sent to the channel.
func serveSockets(t testing.TB) (address string, accepted <-chan *transport) {
	t.Helper()
	listener, err := loopback.Listen()
	if err != nil {
		t.Fatal(err)
	}
	sockets := make(chan *transport, 1)
	server := newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s, err := accept(w, r, testFrameBytes); err == nil {
			sockets <- s
		}
	}), testLog(t))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return listener.Addr().String(), sockets
}

// connectedPair is both ends of a WebSocket.
func connectedPair(t testing.TB) (client *websocket.Conn, server *transport) {
	t.Helper()
	address, accepted := serveSockets(t)
	client, response, err := websocket.Dial(t.Context(), "ws://"+address, &websocket.DialOptions{
		Subprotocols: []string{protocol.Subprotocol}, HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if response.Body != nil {
		_ = response.Body.Close()
	}
	server = receive(t, accepted)
	t.Cleanup(func() {
		_ = client.CloseNow()
		server.Abort()
	})
	return client, server
}

// receive takes the next value, which must come soon.
func receive[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// nextFrame reads as the server does until a frame has come, or the connection is over.
func nextFrame(s *transport) ([]byte, error) {
	for {
		s.Await()
		if frame, err := s.ReadArrived(); !errors.Is(err, errNothing) {
			if err != nil {
				s.Over(err)
			}
			return frame, err
		}
	}
}

// readAll reads until the connection is over and returns why.
func readAll(s *transport) <-chan error {
	over := make(chan error, 1)
	go func() {
		for {
			if _, err := nextFrame(s); err != nil {
				over <- err
				return
			}
		}
	}()
	return over
}

// write sends frames and waits until the client has taken them.
func write(s *transport, frames ...[]byte) error { return writeAll(s, frames, false) }

// ping sends a ping, after the pong that the reader may be sending.
func ping(s *transport) error { return writeAll(s, nil, true) }

func writeAll(s *transport, frames [][]byte, ping bool) error {
	flush, err := s.Write(frames, ping)
	if flush != nil {
		return flush()
	}
	return err
}

// send has the client send a message.
func send(t testing.TB, client *websocket.Conn, kind websocket.MessageType, message []byte) {
	t.Helper()
	if err := client.Write(t.Context(), kind, message); err != nil {
		t.Fatal(err)
	}
}

// wantClosed reads at the client until the close frame comes.
func wantClosed(t testing.TB, client *websocket.Conn, code int, reason string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, _, err := client.Read(ctx)
	var closed websocket.CloseError
	if !errors.As(err, &closed) || int(closed.Code) != code || closed.Reason != reason {
		t.Fatalf("the client read %v, want close %d %q", err, code, reason)
	}
}

func TestTransportReadsAndWritesText(t *testing.T) {
	t.Parallel()
	client, server := connectedPair(t)
	longest := strings.Repeat("é", testFrameBytes/2)
	for _, message := range []string{`{"type":"ping"}`, "", longest} {
		send(t, client, websocket.MessageText, []byte(message))
		frame, err := nextFrame(server)
		if err != nil || string(frame) != message {
			t.Fatalf("Read = %q, %v, want %q", frame, err, message)
		}
		if err := write(server, frame); err != nil {
			t.Fatal(err)
		}
		kind, echo, err := client.Read(t.Context())
		if err != nil || kind != websocket.MessageText || string(echo) != message {
			t.Fatalf("the client read %v %q, %v, want %q", kind, echo, err, message)
		}
	}
}

func TestTransportClosesForABadFrame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		kind    websocket.MessageType
		message string
		code    int
		want    error
	}{
		{"binary", websocket.MessageBinary, "{}", protocol.CloseUnsupported, errNotText},
		{"no UTF-8", websocket.MessageText, "\xff", protocol.CloseInvalidText, errNotUTF8},
		{"a character cut in two", websocket.MessageText, "\"\xc3", protocol.CloseInvalidText, errNotUTF8},
		{"one byte too large", websocket.MessageText, strings.Repeat("x", testFrameBytes+1), protocol.CloseTooLarge, errTooLarge},
		{"far too large", websocket.MessageText, strings.Repeat("x", 1<<20), protocol.CloseTooLarge, errTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client, server := connectedPair(t)
			over := readAll(server)
			send(t, client, c.kind, []byte(c.message))
			wantClosed(t, client, c.code, protocol.CloseName(c.code))
			if err := receive(t, over); !errors.Is(err, c.want) {
				t.Errorf("Read = %v, want %v", err, c.want)
			}
			if err := write(server, []byte("{}")); err == nil {
				t.Error("the connection can still be written")
			}
		})
	}
}

func TestTransportTellsTheCloseCodeOfTheClient(t *testing.T) {
	t.Parallel()
	for _, code := range []websocket.StatusCode{websocket.StatusNormalClosure, websocket.StatusNoStatusRcvd, 4000} {
		client, server := connectedPair(t)
		over := readAll(server)
		if err := client.Close(code, ""); err != nil && code != websocket.StatusNoStatusRcvd {
			t.Errorf("close %d: %v", code, err)
		}
		if err := receive(t, over); websocket.CloseStatus(err) != code {
			t.Errorf("Read = %v, want close %d", err, code)
		}
	}
}

func TestTransportReadEndsWhenTheClientIsGone(t *testing.T) {
	t.Parallel()
	client, server := connectedPair(t)
	over := readAll(server)
	_ = client.CloseNow()
	if err := receive(t, over); websocket.CloseStatus(err) != -1 {
		t.Errorf("Read = %v, want an error without a close code", err)
	}
}

func TestTransportCloses(t *testing.T) {
	t.Parallel()
	client, server := connectedPair(t)
	over := readAll(server)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		server.Close(protocol.CloseReplaced, strings.Repeat("é", 100))
	}()
	wantClosed(t, client, protocol.CloseReplaced, strings.Repeat("é", 61))
	receive(t, closed)
	_ = receive(t, over)
	server.Close(protocol.CloseInternal, "again")
	server.Abort()
}

func TestTransportCloseIsBounded(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, s *transport) (done <-chan error){
		"a client that does not answer": func(_ *testing.T, s *transport) <-chan error { return readAll(s) },
		"nobody who reads": func(*testing.T, *transport) <-chan error {
			done := make(chan error, 1)
			done <- nil
			return done
		},
		"a write that waits for the client": func(t *testing.T, s *transport) <-chan error { return blockedWrite(t, s) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, server := connectedPair(t) // the client reads nothing
			done := prepare(t, server)
			start := time.Now()
			server.Close(protocol.CloseSlow, "")
			if took := time.Since(start); took > closeTimeout+patience {
				t.Errorf("Close took %v", took)
			}
			_ = receive(t, done)
		})
	}
}

// blockedWrite writes until the client, which does not read, lets no more in.
func blockedWrite(t *testing.T, s *transport) <-chan error {
	t.Helper()
	if err := s.raw.Conn.(*net.TCPConn).SetWriteBuffer(4096); err != nil {
		t.Fatal(err)
	}
	wrote, over := make(chan struct{}), make(chan error, 1)
	go func() {
		frame := make([]byte, 256<<10)
		for {
			if err := write(s, frame); err != nil {
				over <- err
				return
			}
			wrote <- struct{}{}
		}
	}()
	for {
		select {
		case <-wrote:
		case <-time.After(200 * time.Millisecond):
			return over
		}
	}
}

func TestTransportAbortEndsAWriteAndAClose(t *testing.T) {
	t.Parallel()
	_, server := connectedPair(t)
	written := blockedWrite(t, server)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		server.Close(protocol.CloseSlow, "")
	}()
	server.Abort()
	if err := receive(t, written); err == nil {
		t.Error("the write succeeded")
	}
	receive(t, closed)
	if _, err := nextFrame(server); err == nil {
		t.Error("Read succeeded after Abort")
	}
}

func TestTransportHearsPingsAndPongs(t *testing.T) {
	t.Parallel()
	client, server := connectedPair(t)
	heard := make(chan struct{}, 10)
	server.heard(func() { heard <- struct{}{} })
	over := readAll(server)
	ctx := client.CloseRead(t.Context())
	if err := client.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	receive(t, heard)
	if err := ping(server); err != nil {
		t.Fatal(err)
	}
	receive(t, heard)
	server.Abort()
	_ = receive(t, over)
	if err := ping(server); err == nil {
		t.Error("a ping was sent after Abort")
	}
}

func TestCutReason(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]int{
		"":                            0,
		"short":                       5,
		strings.Repeat("x", 123):      123,
		strings.Repeat("x", 124):      123,
		strings.Repeat("é", 100):      122,
		strings.Repeat("🙂", 100):      120,
		"x" + strings.Repeat("é", 61): 123,
	} {
		if got := cutReason(reason); len(got) != want || !strings.HasPrefix(reason, got) || !utf8.ValidString(got) {
			t.Errorf("cutReason(%q) = %q of %d bytes, want %d", reason, got, len(got), want)
		}
	}
}
