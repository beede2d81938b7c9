package client

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"muster/protocol"
)

func TestEachCallGetsItsReply(t *testing.T) {
	t.Parallel()
	url := serve(t, func(_ int, p *peer) {
		p.welcome(protocol.Welcome{})
		for {
			switch r := p.request().(type) {
			case *protocol.Join:
				p.reply(r, &protocol.Joined{World: r.World, TicketID: r.Ticket})
			case *protocol.Leave:
				p.reply(r, &protocol.Left{Worlds: []string{r.World}})
			case *protocol.Status:
				p.reply(r, &protocol.StatusReply{PlayerState: protocol.PlayerState{Match: &protocol.Match{ID: "m"}}})
			case *protocol.Accept:
				p.reply(r, &protocol.Accepted{MatchID: r.MatchID})
			case *protocol.Decline:
				p.reply(r, protocol.NewError(protocol.CodeNoSuchMatch))
			case *protocol.Ack:
				p.reply(r, &protocol.Acked{MatchID: r.MatchID})
			case *protocol.LeaveMatch:
				p.reply(r, &protocol.LeftMatch{MatchID: r.MatchID})
			case *protocol.Ping:
				p.reply(r, &protocol.Pong{})
			case *protocol.Hello:
				p.reply(r, &protocol.Welcome{SessionID: r.Token})
			default:
				return
			}
		}
	})
	c, ctx := dial(t, url, Options{}), within(t)

	if joined, err := c.Join(ctx, protocol.Join{World: "w", Ticket: "k"}); err != nil || joined.TicketID != "k" {
		t.Errorf("Join = %+v, %v", joined, err)
	}
	if left, err := c.Leave(ctx, "w"); err != nil || !reflect.DeepEqual(left, []string{"w"}) {
		t.Errorf("Leave = %v, %v", left, err)
	}
	if state, err := c.Status(ctx); err != nil || state.Match.ID != "m" {
		t.Errorf("Status = %+v, %v", state, err)
	}
	var refused *protocol.Error
	if err := c.Decline(ctx, "m"); !errors.As(err, &refused) || refused.Code != protocol.CodeNoSuchMatch {
		t.Errorf("Decline = %v", err)
	}
	if welcome, err := c.Renew(ctx, "t2"); err != nil || welcome.SessionID != "t2" || c.Welcome() != welcome {
		t.Errorf("Renew = %+v, %v", welcome, err)
	}
	for name, err := range map[string]error{
		"Accept": c.Accept(ctx, "m"), "Ack": c.Ack(ctx, "m"), "LeaveMatch": c.LeaveMatch(ctx, "m"), "Ping": c.Ping(ctx),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRepliesMayComeInAnyOrder(t *testing.T) {
	t.Parallel()
	url := serve(t, func(_ int, p *peer) {
		p.welcome(protocol.Welcome{})
		first, second := p.request().(*protocol.Join), p.request().(*protocol.Join)
		p.reply(second, &protocol.Joined{World: second.World})
		p.reply(first, &protocol.Joined{World: first.World})
		p.drain()
	})
	c, ctx := dial(t, url, Options{}), within(t)
	errs := make(chan error, 2)
	for _, world := range []string{"a", "b"} {
		go func() {
			joined, err := c.Join(ctx, protocol.Join{World: world})
			if err == nil && joined.World != world {
				err = errors.New("the reply for " + joined.World + " came to " + world)
			}
			errs <- err
		}()
	}
	for range 2 {
		if err := receive(t, errs); err != nil {
			t.Error(err)
		}
	}
}

func TestTheEndReachesTheCallsThatWait(t *testing.T) {
	t.Parallel()
	url := serve(t, func(_ int, p *peer) {
		p.welcome(protocol.Welcome{})
		p.request()
		p.close(protocol.CloseReplaced)
	})
	c := dial(t, url, Options{})
	for _, call := range []string{"waiting", "later"} {
		var closed *CloseError
		if _, err := c.Leave(within(t), ""); !errors.As(err, &closed) || closed.Code != protocol.CloseReplaced ||
			closed.Reason != protocol.CloseName(protocol.CloseReplaced) {
			t.Errorf("a %s call: %v", call, err)
		}
	}
	if c.Err() == nil {
		t.Error("Err is nil after the end")
	}
}

func TestACancelledCallLeavesTheConnectionAndItsReplyIsAnEvent(t *testing.T) {
	t.Parallel()
	asked, cancelled := make(chan struct{}), make(chan struct{})
	url := serve(t, func(_ int, p *peer) {
		p.welcome(protocol.Welcome{})
		r := p.request()
		close(asked)
		<-cancelled
		p.reply(r, &protocol.Left{})
		p.reply(p.request(), &protocol.Pong{})
		p.drain()
	})
	c := dial(t, url, Options{})
	ctx, cancel := context.WithCancel(within(t))
	go func() { <-asked; cancel() }()
	if _, err := c.Leave(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("Leave = %v", err)
	}
	close(cancelled)
	if e := receive(t, c.Events()); e.Type() != protocol.TypeLeft {
		t.Errorf("event %s, want the late reply", e.Type())
	}
	if err := c.Ping(within(t)); err != nil {
		t.Errorf("Ping = %v", err)
	}
}

func TestAnIDInUseIsRefused(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	c := dial(t, serve(t, func(_ int, p *peer) {
		p.welcome(protocol.Welcome{})
		p.request() // and never answers
		close(asked)
		p.drain()
	}), Options{})
	ctx, cancel := context.WithCancel(within(t))
	ended := make(chan error, 1)
	request := func() protocol.Request { return &protocol.Ping{Envelope: protocol.Envelope{ID: "mine"}} }
	go func() {
		_, err := c.Do(ctx, request())
		ended <- err
	}()
	receive(t, asked)
	if _, err := c.Do(ctx, request()); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("Do = %v", err)
	}
	cancel()
	if err := receive(t, ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the first Do = %v", err)
	}
}

func TestAServerThatTakesNothingMoreIsGivenUp(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	defer close(over)
	c := dial(t, serve(t, func(_ int, p *peer) {
		p.welcome(protocol.Welcome{})
		<-over // and reads no more
	}), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // does not cut a frame in two
	frames, frame := 0, make([]byte, 1<<20)
	var err error
	for err == nil && frames < 100 {
		err = c.SendText(ctx, frame)
		frames++
	}
	var closed *CloseError
	if !errors.As(err, &closed) || frames == 1 {
		t.Errorf("frame %d: %v", frames, err)
	}
	receive(t, c.Done())
}
