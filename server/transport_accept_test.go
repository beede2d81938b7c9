package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"muster/protocol"
)

// handshake is an upgrade request with the header lines given besides the required ones.
func handshake(lines ...string) string {
	required := []string{
		"GET / HTTP/1.1", "Host: localhost", "Connection: Upgrade", "Upgrade: websocket",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
	}
	return strings.Join(append(required, lines...), "\r\n") + "\r\n\r\n"
}

// answer is what came back for a request, and the connection where more may come.
type answer struct {
	conn   io.ReadCloser
	status int
	header http.Header
	body   []byte
}

// exchange sends bytes and reads the answer to them.
func exchange(t testing.TB, address, request string) answer {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	response, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{conn: conn, status: response.StatusCode, header: response.Header}
	if a.status == http.StatusSwitchingProtocols {
		a.conn = struct {
			io.Reader
			io.Closer
		}{r, conn}
	} else if a.body, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return a
}

func TestAcceptSelectsTheSubprotocol(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"none offered":       {nil, ""},
		"ours":               {[]string{"Sec-WebSocket-Protocol: muster.v1"}, "muster.v1"},
		"ours among others":  {[]string{"Sec-WebSocket-Protocol: mqtt, muster.v1"}, "muster.v1"},
		"in a second header": {[]string{"Sec-WebSocket-Protocol: mqtt", "Sec-WebSocket-Protocol: muster.v1"}, "muster.v1"},
		"an empty header":    {[]string{"Sec-WebSocket-Protocol:"}, ""},
	} {
		address, accepted := serveSockets(t)
		a := exchange(t, address, handshake(append(c.lines, "Sec-WebSocket-Extensions: permessage-deflate")...))
		if a.status != http.StatusSwitchingProtocols {
			t.Errorf("%s: status %d", name, a.status)
			continue
		}
		if got := a.header.Get("Sec-WebSocket-Protocol"); got != c.want {
			t.Errorf("%s: selected %q, want %q", name, got, c.want)
		}
		if got := a.header.Get("Sec-WebSocket-Extensions"); got != "" {
			t.Errorf("%s: extensions %q, want none", name, got)
		}
		receive(t, accepted).Abort()
	}
}

func TestAcceptRefusesWithAProblem(t *testing.T) {
	t.Parallel()
	address, _ := serveSockets(t)
	for name, c := range map[string]struct {
		request string
		status  int
		detail  string
		header  string
	}{
		"other subprotocols only":     {handshake("Sec-WebSocket-Protocol: mqtt, muster.v2"), http.StatusBadRequest, "muster.v1", ""},
		"no upgrade":                  {"GET / HTTP/1.1\r\nHost: h\r\n\r\n", http.StatusUpgradeRequired, "Upgrade", "Upgrade"},
		"another version":             {strings.Replace(handshake(), "Version: 13", "Version: 8", 1), http.StatusBadRequest, "13", "Sec-Websocket-Version"},
		"no key":                      {strings.Replace(handshake(), "WebSocket-Key", "WebSocket-Hey", 1), http.StatusBadRequest, "Key", ""},
		"our subprotocol in capitals": {handshake("Sec-WebSocket-Protocol: MUSTER.V1"), http.StatusBadRequest, "muster.v1", ""},
		"another method":              {strings.Replace(handshake(), "GET", "POST", 1), http.StatusMethodNotAllowed, "GET", ""},
	} {
		a := exchange(t, address, c.request)
		members := wantProblem(t, a.status, a.header, a.body, c.status, protocol.CodeBadMessage)
		if detail := fmt.Sprint(members["detail"]); !strings.Contains(detail, c.detail) {
			t.Errorf("%s: detail %q does not name %q", name, detail, c.detail)
		}
		if c.header != "" && a.header.Get(c.header) == "" {
			t.Errorf("%s: no header %s", name, c.header)
		}
	}
}

func TestAcceptKeepsWhatWasSentAhead(t *testing.T) {
	t.Parallel()
	address, accepted := serveSockets(t)
	// A whole burst of frames in the packet of the request, longer than the buffer; masked with zeroes.
	text := strings.Repeat("x", 100)
	frame := string([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}) + text
	const frames = 15
	if a := exchange(t, address, handshake()+strings.Repeat(frame, frames)); a.status != http.StatusSwitchingProtocols {
		t.Fatalf("status %d", a.status)
	}
	server := receive(t, accepted)
	defer server.Abort()
	for i := range frames {
		if got, err := nextFrame(server); err != nil || string(got) != text {
			t.Fatalf("frame %d: %q, %v", i, got, err)
		}
	}
}

// goroutinesAt counts goroutines until there are at most so many, or patience ends. One of an earlier test may end meanwhile.
func goroutinesAt(most int) int {
	for end := time.Now().Add(patience); ; runtime.Gosched() {
		n := runtime.NumGoroutine()
		if n <= most || time.Now().After(end) {
			return n
		}
	}
}

// TestIdleConnectionIsCheap does not run in parallel: it counts what all tests share.
func TestIdleConnectionIsCheap(t *testing.T) {
	const (
		connections = 300
		// It is 9 KiB, and 13 KiB with the race detector; the buffers of net/http would add 7.
		mostBytes = 16 << 10
	)
	address, accepted := serveSockets(t)
	before, bytesBefore := runtime.NumGoroutine(), memoryInUse()
	finish := idle(t, address, accepted, connections)
	if got := goroutinesAt(before+connections) - before; got > connections {
		t.Errorf("%d goroutines for %d connections", got, connections)
	}
	if got := (memoryInUse() - bytesBefore) / connections; got > mostBytes {
		t.Errorf("%d bytes a connection, want at most %d", got, mostBytes)
	}
	finish()
	if got := goroutinesAt(before); got > before {
		t.Errorf("%d goroutines are left of the connections", got-before)
	}
}

// idle opens connections on which nothing happens, as the server keeps them: the handler has returned and one
// goroutine reads. The client's ends are bare sockets. finish ends them.
func idle(t testing.TB, address string, accepted <-chan *transport, n int) (finish func()) {
	t.Helper()
	servers, clients := make([]*transport, n), make([]net.Conn, n)
	over := make(chan error, n)
	discard := make([]byte, 4096)
	for i := range servers {
		client, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(client, handshake()); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Read(discard); err != nil {
			t.Fatal(err)
		}
		s := receive(t, accepted)
		servers[i], clients[i] = s, client
		go func() {
			_, err := nextFrame(s)
			over <- err
		}()
	}
	return func() {
		for i, s := range servers {
			s.Abort()
			_ = clients[i].Close()
		}
		for range servers {
			_ = receive(t, over)
		}
	}
}

// BenchmarkIdleConnection tells what an idle connection costs, with the client's socket in the same process.
func BenchmarkIdleConnection(b *testing.B) {
	const connections = 500
	address, accepted := serveSockets(b)
	for b.Loop() {
		before := memoryInUse()
		finish := idle(b, address, accepted, connections)
		b.ReportMetric(float64(memoryInUse()-before)/connections, "B/conn")
		finish()
	}
}

func memoryInUse() int64 {
	runtime.GC()
	runtime.GC() // what finalizers held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
