package client

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"muster/protocol"
)

var quick = Backoff{Min: time.Millisecond, Max: 5 * time.Millisecond}

func start(t *testing.T, url string, o ReconnectOptions) *Reconnecting {
	t.Helper()
	if o.Backoff == (Backoff{}) {
		o.Backoff = quick
	}
	r := NewReconnecting(url, o)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

func TestItComesBackWithWhatItBelieves(t *testing.T) {
	t.Parallel()
	hellos := make(chan *protocol.Hello, 2)
	url := serve(t, func(n int, p *peer) {
		hellos <- p.welcome(protocol.Welcome{SessionID: string(rune('a' + n))})
		if n == 0 {
			p.send(&protocol.Joined{World: "w", TicketID: "w.1"})
			p.close(protocol.CloseSlow)
			return
		}
		p.drain()
	})
	r := start(t, url, ReconnectOptions{Options: Options{PlayerID: "ann"}})

	var types []string
	for range 3 {
		types = append(types, receive(t, r.Events()).Type())
	}
	if want := []string{protocol.TypeWelcome, protocol.TypeJoined, protocol.TypeWelcome}; !reflect.DeepEqual(types, want) {
		t.Errorf("events %v", types)
	}
	if have := receive(t, hellos).Have; have != nil {
		t.Errorf("have at first %v", have)
	}
	if have := receive(t, hellos).Have; !reflect.DeepEqual(have, &protocol.Have{Tickets: protocol.List[string]{"w.1"}}) {
		t.Errorf("have %v", have)
	}
	r.Stop()
	if err := r.Err(); err != nil {
		t.Errorf("Err after Stop = %v", err)
	}
	if _, err := r.Client(); !errors.Is(err, ErrNotConnected) {
		t.Errorf("Client after Stop: %v", err)
	}
}

func TestItDoesNotComeBackWhereThatCannotHelp(t *testing.T) {
	t.Parallel()
	for _, code := range []int{
		protocol.CloseUnsupported, protocol.CloseInvalidText, protocol.CloseTooLarge, protocol.CloseUnauthorized, protocol.CloseReplaced,
	} {
		r := start(t, serve(t, func(n int, p *peer) {
			if n > 0 {
				t.Errorf("it came back after %d", code)
				return
			}
			p.welcome(protocol.Welcome{})
			p.close(code)
		}), ReconnectOptions{})
		receive(t, r.Done())
		var closed *CloseError
		if err := r.Err(); !errors.As(err, &closed) || closed.Code != code {
			t.Errorf("after %d: %v", code, err)
		}
	}
}

func TestARefusedHello(t *testing.T) {
	t.Parallel()
	t.Run("unavailable is tried again", func(t *testing.T) {
		t.Parallel()
		r := start(t, serve(t, func(n int, p *peer) {
			if n == 0 {
				p.reply(p.request(), protocol.NewError(protocol.CodeUnavailable).RetryAfter(1))
			} else {
				p.welcome(protocol.Welcome{})
			}
			p.drain()
		}), ReconnectOptions{})
		if e := receive(t, r.Events()); e.Type() != protocol.TypeWelcome {
			t.Errorf("event %s", e.Type())
		}
	})
	t.Run("unauthorized is the end", func(t *testing.T) {
		t.Parallel()
		r := start(t, serve(t, func(_ int, p *peer) {
			p.reply(p.request(), protocol.NewError(protocol.CodeUnauthorized))
			p.close(protocol.CloseUnauthorized)
		}), ReconnectOptions{})
		receive(t, r.Done())
		var refused *protocol.Error
		if err := r.Err(); !errors.As(err, &refused) || refused.Code != protocol.CodeUnauthorized {
			t.Errorf("Err = %v", err)
		}
	})
}

func TestGoingAwayIsObeyed(t *testing.T) {
	t.Parallel()
	const wait = 50 * time.Millisecond
	told := make(chan time.Time, 1)
	came := make(chan time.Time, 1)
	url := serve(t, func(n int, p *peer) {
		p.welcome(protocol.Welcome{})
		if n == 0 {
			told <- time.Now()
			p.send(&protocol.GoingAway{ReconnectInMS: wait.Milliseconds()})
		} else {
			came <- time.Now()
		}
		p.drain() // the client leaves by itself
	})
	// A back-off of a minute shows that leaving on request is no failure.
	start(t, url, ReconnectOptions{Backoff: Backoff{Min: time.Minute, Max: time.Minute}})
	if waited := -receive(t, told).Sub(receive(t, came)); waited < wait {
		t.Errorf("it came back after %v, asked for %v", waited, wait)
	}
}

func TestAServerThatStopsAfterGoingAwayIsGivenItsTime(t *testing.T) {
	t.Parallel()
	const wait = 50 * time.Millisecond
	told := make(chan time.Time, 1)
	came := make(chan time.Time, 1)
	url := serve(t, func(n int, p *peer) {
		p.welcome(protocol.Welcome{})
		if n > 0 {
			came <- time.Now()
			p.drain()
			return
		}
		told <- time.Now()
		p.send(&protocol.GoingAway{ReconnectInMS: wait.Milliseconds()})
		p.close(protocol.CloseGoingAway)
	})
	start(t, url, ReconnectOptions{Backoff: Backoff{Min: time.Minute, Max: time.Minute}})
	if waited := -receive(t, told).Sub(receive(t, came)); waited < wait {
		t.Errorf("it came back after %v, asked for %v", waited, wait)
	}
}

func TestASilentServerIsAskedForASign(t *testing.T) {
	t.Parallel()
	pinged := make(chan protocol.Request, 1)
	url := serve(t, func(n int, p *peer) {
		p.welcome(protocol.Welcome{HeartbeatMS: 5})
		if n == 0 {
			pinged <- p.request()
			p.conn.CloseNow() //nolint:errcheck // as a server that is gone
			return
		}
		for r := p.request(); r != nil; r = p.request() {
			p.reply(r, &protocol.Pong{})
		}
	})
	r := start(t, url, ReconnectOptions{})
	if e := receive(t, pinged); e == nil || e.Type() != protocol.TypePing {
		t.Errorf("request %v", e)
	}
	for range 2 {
		if e := receive(t, r.Events()); e.Type() != protocol.TypeWelcome {
			t.Errorf("event %s", e.Type())
		}
	}
}

func TestTheTokenIsAskedForBeforeEachConnection(t *testing.T) {
	t.Parallel()
	hellos := make(chan *protocol.Hello, 2)
	url := serve(t, func(n int, p *peer) {
		hellos <- p.welcome(protocol.Welcome{})
		if n == 0 {
			p.close(protocol.CloseInternal)
		}
		p.drain()
	})
	calls := 0
	start(t, url, ReconnectOptions{Token: func(context.Context) (string, error) {
		calls++
		if calls == 2 {
			return "", errors.New("not now")
		}
		return string(rune('0' + calls)), nil
	}})
	for _, want := range []string{"1", "3"} {
		if got := receive(t, hellos).Token; got != want {
			t.Errorf("token %s, want %s", got, want)
		}
	}
}

func TestASlowConsumerEndsIt(t *testing.T) {
	t.Parallel()
	r := start(t, serve(t, func(_ int, p *peer) {
		p.welcome(protocol.Welcome{})
		p.send(&protocol.State{})
		p.drain()
	}), ReconnectOptions{Options: Options{Buffer: 1}})
	receive(t, r.Done())
	if err := r.Err(); !errors.Is(err, ErrSlowConsumer) {
		t.Errorf("Err = %v", err)
	}
}

func TestRetryOfAnUpgradeThatWasRefused(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{400: false, 401: false, 403: false, 404: false, 408: true, 429: true, 500: true, 503: true} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(status)
		}))
		_, err := Dial(within(t), server.URL, Options{})
		server.Close()
		if wait, ok := retry(err); ok != want || wait != 3*time.Second {
			t.Errorf("%d: %v, %v", status, wait, ok)
		}
	}
}

func TestStartAndStopInAnyOrder(t *testing.T) {
	t.Parallel()
	url := serve(t, func(_ int, p *peer) { p.welcome(protocol.Welcome{}); p.drain() })
	for range 20 {
		r := NewReconnecting(url, ReconnectOptions{Backoff: quick})
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.Start(t.Context()); err == nil {
			t.Error("a second Start is no error")
		}
		r.Stop()
		r.Stop()
	}
	r := NewReconnecting(url, ReconnectOptions{})
	r.Stop()
	if err := r.Start(t.Context()); err == nil {
		t.Error("Start after Stop is no error")
	}
	if _, open := <-r.Events(); open {
		t.Error("events after Stop")
	}
}
