package client

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"muster/protocol"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestDialSaysHello(t *testing.T) {
	t.Parallel()
	hellos := make(chan *protocol.Hello, 1)
	url := serve(t, func(_ int, p *peer) {
		hellos <- p.welcome(protocol.Welcome{PlayerID: "ann"})
		if got := p.conn.Subprotocol(); got != protocol.Subprotocol {
			t.Errorf("subprotocol %q", got)
		}
		p.drain()
	})
	have := &protocol.Have{Tickets: protocol.List[string]{"w.1"}, Match: "m"}
	c := dial(t, url, Options{Token: "t", PlayerID: "ann", Party: "us", ClientName: "test/1", Have: have})
	if got := c.Welcome().PlayerID; got != "ann" {
		t.Errorf("welcome of %q", got)
	}
	want := &protocol.Hello{Token: "t", PlayerID: "ann", Party: "us", Client: "test/1", Have: have}
	want.ID = "1"
	if got := receive(t, hellos); !reflect.DeepEqual(got, want) {
		t.Errorf("hello %s", protocol.Encode(got))
	}
}

func TestEventsComeInOrderAndUnknownOnesAreIgnored(t *testing.T) {
	t.Parallel()
	script := func(_ int, p *peer) {
		p.welcome(protocol.Welcome{})
		for i := range 100 {
			p.send(&protocol.GoingAway{ReconnectInMS: int64(i)})
			p.sendText(`{"type":"fireworks"}`)
		}
		p.close(protocol.CloseGoingAway)
	}
	check := func(t *testing.T, i int, e protocol.Event) {
		t.Helper()
		if got := e.(*protocol.GoingAway).ReconnectInMS; got != int64(i) {
			t.Fatalf("event %d came in place of %d", got, i)
		}
	}
	t.Run("channel", func(t *testing.T) {
		t.Parallel()
		c, i := dial(t, serve(t, script), Options{}), 0
		for e := range c.Events() {
			check(t, i, e)
			i++
		}
		if i != 100 {
			t.Errorf("%d events", i)
		}
	})
	t.Run("callback", func(t *testing.T) {
		t.Parallel()
		var got []protocol.Event
		c := dial(t, serve(t, script), Options{OnEvent: func(e protocol.Event) { got = append(got, e) }})
		receive(t, c.Done())
		if len(got) != 100 || c.Events() != nil {
			t.Fatalf("%d events", len(got))
		}
		for i, e := range got {
			check(t, i, e)
		}
	})
}

func TestAConsumerThatDoesNotKeepUpIsClosedAndLosesNothingBefore(t *testing.T) {
	t.Parallel()
	url := serve(t, func(_ int, p *peer) {
		p.welcome(protocol.Welcome{})
		p.send(&protocol.State{}, &protocol.State{}, &protocol.State{})
		p.drain()
	})
	c := dial(t, url, Options{Buffer: 2})
	receive(t, c.Done())
	if err := c.Err(); !errors.Is(err, ErrSlowConsumer) {
		t.Errorf("Err = %v", err)
	}
	n := 0
	for range c.Events() {
		n++
	}
	if n != 2 {
		t.Errorf("%d events before the end", n)
	}
}

func TestAServerThatBreaksTheProtocolIsLeft(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]func(p *peer){
		"not JSON":       func(p *peer) { p.sendText(`{`) },
		"a wrong field":  func(p *peer) { p.sendText(`{"type":"pong","t":"x"}`) },
		"a binary frame": func(p *peer) { _ = p.conn.Write(t.Context(), websocket.MessageBinary, []byte(`{}`)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, serve(t, func(_ int, p *peer) {
				p.welcome(protocol.Welcome{})
				send(p)
				p.drain()
			}), Options{})
			receive(t, c.Done())
			if err := c.Err(); !errors.Is(err, ErrBadEvent) {
				t.Errorf("Err = %v", err)
			}
		})
	}
	t.Run("a reply of another type", func(t *testing.T) {
		t.Parallel()
		c := dial(t, serve(t, func(_ int, p *peer) {
			p.welcome(protocol.Welcome{})
			p.reply(p.request(), &protocol.Pong{})
			p.drain()
		}), Options{})
		if _, err := c.Leave(within(t), ""); !errors.Is(err, ErrBadEvent) {
			t.Errorf("Leave = %v", err)
		}
	})
}

func TestPingsAreAnsweredUnlessTheTestPlaysDead(t *testing.T) {
	t.Parallel()
	pinged := make(chan error, 1)
	script := func(_ int, p *peer) {
		p.welcome(protocol.Welcome{})
		reading := p.conn.CloseRead(p.t.Context()) // pongs are seen only by a reader
		pinged <- p.conn.Ping(reading)
		p.close(protocol.CloseNormal)
	}
	c := dial(t, serve(t, script), Options{})
	if err := receive(t, pinged); err != nil {
		t.Errorf("no pong: %v", err)
	}
	receive(t, c.Done())

	seen := make(chan struct{}, 1)
	dead := dial(t, serve(t, script), Options{OnPing: func() bool { seen <- struct{}{}; return false }})
	receive(t, seen)
	dead.CloseNow()
	if err := receive(t, pinged); err == nil {
		t.Error("a pong from who plays dead")
	}
}

func TestRawFramesGoOutAndComeInAsTheyAre(t *testing.T) {
	t.Parallel()
	type frame struct {
		typ  websocket.MessageType
		text string
	}
	got := make(chan frame, 2)
	url := serve(t, func(_ int, p *peer) {
		for range 2 {
			typ, text, err := p.conn.Read(p.t.Context())
			if err != nil {
				t.Error(err)
			}
			got <- frame{typ, string(text)}
		}
		p.sendText(` {"type":"pong","new":1}`)
		p.close(protocol.CloseUnsupported)
	})
	var raw []string
	c, err := Open(within(t), url, Options{OnFrame: func(f []byte) { raw = append(raw, string(f)) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SendText(within(t), []byte(`{"type":`)); err != nil {
		t.Error(err)
	}
	if err := c.SendBinary(within(t), []byte{0xff}); err != nil {
		t.Error(err)
	}
	if f := receive(t, got); f != (frame{websocket.MessageText, `{"type":`}) {
		t.Errorf("got %v", f)
	}
	if f := receive(t, got); f != (frame{websocket.MessageBinary, "\xff"}) {
		t.Errorf("got %v", f)
	}
	receive(t, c.Done())
	if want := []string{` {"type":"pong","new":1}`}; !reflect.DeepEqual(raw, want) {
		t.Errorf("raw frames %q", raw)
	}
	if err := c.SendText(within(t), nil); err == nil {
		t.Error("sending after the end is no error")
	}
}

func TestCloseTellsItsCode(t *testing.T) {
	t.Parallel()
	codes := make(chan websocket.StatusCode, 1)
	script := func(_ int, p *peer) {
		p.welcome(protocol.Welcome{})
		_, _, err := p.conn.Read(p.t.Context())
		codes <- websocket.CloseStatus(err)
	}
	for code, want := range map[int]websocket.StatusCode{protocol.CloseNormal: 1000, 4100: 4100, 1006: -1} {
		c := dial(t, serve(t, script), Options{})
		c.Close(code)
		if got := receive(t, codes); got != want {
			t.Errorf("Close(%d) came as %d", code, got)
		}
		c.Close(code) // again does nothing
	}
}

func TestDialTellsWhyItFailed(t *testing.T) {
	t.Parallel()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(refusing.Close)
	var handshake *HandshakeError
	if _, err := Dial(within(t), refusing.URL, Options{}); !errors.As(err, &handshake) ||
		handshake.Status != 503 || handshake.RetryAfter.Seconds() != 7 {
		t.Errorf("an upgrade refused: %v", err)
	}
	url := serve(t, func(_ int, p *peer) {
		p.reply(p.request(), protocol.NewError(protocol.CodeUnauthorized))
		p.close(protocol.CloseUnauthorized)
	})
	var refused *protocol.Error
	if _, err := Dial(within(t), url, Options{}); !errors.As(err, &refused) || refused.Code != protocol.CodeUnauthorized {
		t.Errorf("a hello refused: %v", err)
	}
	if _, err := Dial(within(t), "ws://127.0.0.1:1/v1/ws", Options{}); !errors.As(err, &handshake) || handshake.Status != 0 {
		t.Errorf("nobody there: %v", err)
	}
}
