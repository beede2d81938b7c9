package server

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// masked is a client's frame, masked with zeros.
func masked(first byte, payload string) string {
	head := []byte{first, 0x80 | byte(min(len(payload), 126))}
	if len(payload) >= 126 {
		head = append(head, byte(len(payload)>>8), byte(len(payload)))
	}
	return string(head) + "\x00\x00\x00\x00" + payload
}

// The first bytes of frames.
const (
	textFrame, textBegins, textEnds byte = 0x81, 0x01, 0x80
	pingOf, pongOf                  byte = 0x89, 0x8a
)

// bareSocket is a client that writes bytes, and the server's end.
func bareSocket(t testing.TB) (client net.Conn, server *transport) {
	t.Helper()
	address, accepted := serveSockets(t)
	client, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if err := client.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(client, handshake()); err != nil {
		t.Fatal(err)
	}
	select {
	case server = <-accepted:
	case <-time.After(patience):
		t.Fatal("not accepted")
	}
	t.Cleanup(server.Abort)
	return client, server
}

// arrivals reads as the server does until it has so many frames, or an error. came is called when something has
// come for the first time.
func arrivals(s *transport, want int, came func()) (frames []string, err error) {
	came = sync.OnceFunc(came)
	for len(frames) < want {
		s.Await()
		came()
		for s.More() {
			frame, err := s.ReadArrived()
			if errors.Is(err, errNothing) {
				break
			}
			if err != nil {
				s.Over(err)
				return frames, err
			}
			frames = append(frames, string(frame))
		}
	}
	return frames, nil
}

func TestWhatArrivesIsReadWhereverItIsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 900) // more than a buffer
	want := []string{"a", "hello", long, "", "z"}
	stream := masked(pingOf, "p") + masked(textFrame, "a") + masked(pingOf, "") + masked(pongOf, "q") +
		masked(textBegins, "he") + masked(pingOf, "between") + masked(textEnds, "llo") +
		masked(textFrame, long) + masked(textFrame, "") + masked(textFrame, "z")
	var cuts []int
	for cut := 1; cut < len(stream); cut++ {
		if cut < 80 || cut > len(stream)-20 || cut%97 == 0 { // all but most of the long frame
			cuts = append(cuts, cut)
		}
	}
	for _, cut := range cuts {
		client, server := bareSocket(t)
		_, _ = io.WriteString(client, stream[:cut]) // a failure shows below
		got, err := arrivals(server, len(want), func() { _, _ = io.WriteString(client, stream[cut:]) })
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("cut at %d: %q, %v, want %q", cut, got, err, want)
		}
	}
}

func TestAPingAloneIsASignOfLifeAndNoFrame(t *testing.T) {
	t.Parallel()
	client, server := bareSocket(t)
	heard := make(chan struct{}, 1)
	server.heard(func() { heard <- struct{}{} })
	if _, err := io.WriteString(client, masked(pingOf, "are you there")); err != nil {
		t.Fatal(err)
	}
	server.Await()
	if frame, err := server.ReadArrived(); !errors.Is(err, errNothing) || server.More() {
		t.Errorf("ReadArrived = %q, %v, want that there is nothing", frame, err)
	}
	receive(t, heard)
	if _, err := io.WriteString(client, masked(textFrame, "yes")); err != nil {
		t.Fatal(err)
	}
	if got, err := arrivals(server, 1, func() {}); err != nil || !slices.Equal(got, []string{"yes"}) {
		t.Errorf("then %q, %v", got, err)
	}
}

func TestAwait_TakesPongsIn(t *testing.T) {
	t.Parallel()
	client, server := bareSocket(t)
	heard, awaited := make(chan struct{}, 3), make(chan struct{})
	server.heard(func() { heard <- struct{}{} })
	go func() {
		defer close(awaited)
		server.Await()
	}()
	for _, payload := range []string{"", "of 3 bytes", strings.Repeat("x", 125)} {
		if _, err := io.WriteString(client, masked(pongOf, payload)); err != nil {
			t.Fatal(err)
		}
		receive(t, heard)
	}
	select {
	case <-awaited:
		t.Error("a pong ended the wait")
	default:
	}
	if _, err := io.WriteString(client, masked(textFrame, "yes")); err != nil {
		t.Fatal(err)
	}
	<-awaited
	if frame, err := server.ReadArrived(); err != nil || string(frame) != "yes" {
		t.Errorf("then %q, %v", frame, err)
	}
}

func TestIsPong(t *testing.T) {
	t.Parallel()
	for frames, want := range map[string]bool{
		masked(pongOf, ""): true, masked(pongOf, "x"): true, masked(pongOf, "x") + masked(pongOf, ""): false,
		masked(pongOf, "x")[:6]: false, masked(pingOf, ""): false, masked(textFrame, ""): false, "": false,
		masked(pongOf, strings.Repeat("x", 126)): false, "\x8a\x00": false, masked(pongOf&^0x80, ""): false,
	} {
		a := arrived{rest: []byte(frames)}
		if got := a.isPong(); got != want {
			t.Errorf("isPong(%q) = %v, want %v", frames, got, want)
		}
	}
}

func TestACloseWakesWhoWaits(t *testing.T) {
	t.Parallel()
	client, server := bareSocket(t)
	over := make(chan error, 1)
	go func() {
		_, err := arrivals(server, 1, func() {})
		over <- err
	}()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		server.Close(4409, "replaced")
	}()
	const code = "\x11\x39" // 4409
	wait := make([]byte, 4096)
	for got := ""; !strings.Contains(got, "\x88\x0a"+code+"replaced"); {
		n, err := client.Read(wait)
		if err != nil {
			t.Fatalf("no close frame: %v", err)
		}
		got += string(wait[:n])
	}
	if _, err := io.WriteString(client, masked(textFrame, "too late")+masked(0x88, code)); err != nil {
		t.Fatal(err)
	}
	receive(t, closed)
	if err := receive(t, over); err == nil {
		t.Error("over without an error")
	}
	if _, err := client.Read(wait); !errors.Is(err, io.EOF) {
		t.Errorf("after the close frame: %v, want nothing more", err)
	}
}

// What is not whole may have to be waited for, and so may the client that does not read, for what answers it.
func TestWholeIsOneTextFrameFromEndToEnd(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	eight := string([]byte{textFrame, 0x80 | eightBytes, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}) + "x"
	for _, c := range []struct {
		name, sent string
		want       bool
	}{
		{"short", masked(textFrame, "hello"), true},
		{"empty", masked(textFrame, ""), true},
		{"with two bytes of length", masked(textFrame, long), true},
		{"without its end", masked(textFrame, "hello")[:8], false},
		{"without its length", masked(textFrame, long)[:3], false},
		{"with eight bytes of length", eight, false},
		{"with as many bytes as eight of length would say", eight + strings.Repeat("y", 6+eightBytes-len(eight)), false},
		{"two", masked(textFrame, "a") + masked(textFrame, "b"), false},
		{"a first part", masked(textBegins, "a"), false},
		{"a ping", masked(pingOf, ""), false},
		{"a close", masked(closeHead, "\x03\xe8"), false},
		{"not masked", "\x81\x05hello", false},
	} {
		client, server := bareSocket(t)
		if _, err := io.WriteString(client, c.sent); err != nil {
			t.Fatal(err)
		}
		server.Await()
		if got := server.Whole(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
