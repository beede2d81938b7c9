package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// large is more than the buffers between two sockets take, however they grow.
const large = 32 << 20

// filled is a transport whose client does not read, and has taken a part of a frame.
func filled(t *testing.T) (client *websocket.Conn, server *transport, flush func() error) {
	t.Helper()
	client, server = connectedPair(t)
	begin := time.Now()
	flush, err := server.Write([][]byte{bytes.Repeat([]byte("x"), large)}, false)
	if err != nil || flush == nil || time.Since(begin) > patience/2 {
		t.Fatalf("flush %v, %v after %v, want that there is something to wait for", flush != nil, err, time.Since(begin))
	}
	return client, server, flush
}

func TestAWriteDoesNotWaitForTheClient(t *testing.T) {
	t.Parallel()
	client, _, flush := filled(t)
	flushed := make(chan error, 1)
	go func() { flushed <- flush() }()
	client.SetReadLimit(2 * large)
	if _, frame, err := client.Read(t.Context()); err != nil || len(frame) != large {
		t.Fatalf("%d bytes, %v", len(frame), err)
	}
	if err := receive(t, flushed); err != nil {
		t.Error(err)
	}
}

// The reader may wait for the client, with a pong, say; who has something to say does not.
func TestAWriteDoesNotWaitForAnotherThatWaits(t *testing.T) {
	t.Parallel()
	_, server, flush := filled(t)
	late, err := server.Write([][]byte{[]byte("late")}, true)
	if err != nil || late == nil {
		t.Fatalf("flush %v, %v, want that there is something to wait for", late != nil, err)
	}
	flushed := make(chan error, 2)
	for _, flush := range []func() error{flush, late} {
		go func() { flushed <- flush() }()
	}
	server.Abort()
	for range 2 {
		if err := receive(t, flushed); err == nil {
			t.Error("written to a client that does not read")
		}
	}
}

func TestAfterACloseFrameNothingIsSent(t *testing.T) {
	t.Parallel()
	client, server := bareSocket(t)
	if _, err := io.WriteString(client, masked(closeHead, "\x03\xe8")); err != nil {
		t.Fatal(err)
	}
	if _, err := arrivals(server, 1, func() {}); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Fatalf("read %v", err)
	}
	if flush, err := server.Write([][]byte{[]byte("{}")}, true); flush != nil || !errors.Is(err, net.ErrClosed) {
		t.Errorf("flush %v, %v, want that it is closed", flush != nil, err)
	}
	if rest, _ := io.ReadAll(client); !strings.HasSuffix(string(rest), "\x88\x02\x03\xe8") {
		t.Errorf("the client got %q, want it to end with the close frame", rest)
	}
}

func TestAFrameSaysHowLongItIs(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 125, 126, 127, 65535, 65536, 70000} {
		text := bytes.Repeat([]byte("x"), n)
		var head []byte
		switch {
		case n <= 125:
			head = []byte{0x81, byte(n)}
		case n <= 65535:
			head = binary.BigEndian.AppendUint16([]byte{0x81, 126}, uint16(n))
		default:
			head = binary.BigEndian.AppendUint64([]byte{0x81, 127}, uint64(n))
		}
		if got := appendText(nil, text); !bytes.Equal(got, append(head, text...)) {
			t.Errorf("a frame of %d bytes begins %x, want %x", n, got[:min(len(got), 12)], head)
		}
	}
}
