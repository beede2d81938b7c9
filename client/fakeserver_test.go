package client

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coder/websocket"

	"muster/protocol"
)

// patience is when a test gives up on something that must come.
const patience = 60 * time.Second

// peer is the server's side of one connection, in the hands of a test.
type peer struct {
	t    *testing.T
	conn *websocket.Conn
}

// serve runs a server that gives each connection, the first being 0, to handle.
func serve(t *testing.T, handle func(n int, p *peer)) (url string) {
	t.Helper()
	numbers := make(chan int, 1)
	numbers <- 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := <-numbers
		numbers <- n + 1
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{protocol.Subprotocol}})
		if err != nil {
			t.Errorf("accept: %v", err)
			return
		}
		defer conn.CloseNow() //nolint:errcheck // the end of a test's connection
		handle(n, &peer{t, conn})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// request reads the next request, nil when the connection has ended.
func (p *peer) request() protocol.Request {
	_, frame, err := p.conn.Read(p.t.Context())
	if err != nil {
		return nil
	}
	r, err := protocol.DecodeRequest(frame)
	if err != nil {
		p.t.Errorf("the client sent %s: %v", frame, err)
	}
	return r
}

func (p *peer) send(events ...protocol.Event) {
	for _, e := range events {
		p.sendText(string(protocol.Encode(e)))
	}
}

func (p *peer) sendText(frame string) {
	if err := p.conn.Write(p.t.Context(), websocket.MessageText, []byte(frame)); err != nil {
		p.t.Logf("the client is gone: %v", err)
	}
}

func (p *peer) reply(r protocol.Request, e protocol.Event) {
	e.SetMessageID(r.MessageID())
	p.send(e)
}

// welcome answers the hello that must come now and returns it.
func (p *peer) welcome(w protocol.Welcome) *protocol.Hello {
	r := p.request()
	hello, ok := r.(*protocol.Hello)
	if !ok {
		p.t.Errorf("the first message is %v, want hello", r)
		return &protocol.Hello{}
	}
	p.reply(hello, &w)
	return hello
}

// drain reads until the client is gone.
func (p *peer) drain() {
	for p.request() != nil {
	}
}

func (p *peer) close(code int) {
	_ = p.conn.Close(websocket.StatusCode(code), protocol.CloseName(code))
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// dial connects and says hello.
func dial(t *testing.T, url string, o Options) *Client {
	t.Helper()
	c, err := Dial(within(t), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseNow)
	return c
}

// receive takes the next value of a channel.
func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}
