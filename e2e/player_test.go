package e2e

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"muster/client"
	"muster/e2e/history"
	"muster/protocol"
)

// player is a client of which everything is recorded. Its connection is replaced by connect.
type player struct {
	t   *testing.T
	id  string
	log *history.Log
	// mute, if set, plays dead: pings are not answered while it returns true.
	mute func() bool

	mu       sync.Mutex
	client   *client.Client   // guarded by mu, as all below
	conn     int              // number of the connection in the log
	requests int              // sent so far
	heard    []protocol.Event // by all connections
	next     int              // the first in heard that await has not seen
	news     chan struct{}    // closed, and made anew, with each event
}

// connect opens a new connection, in place of an older one if there is one. Like any client it tries again when the server is
// unavailable: on a busy machine Redis may answer too late.
func (p *player) connect(i *instance) *protocol.Welcome {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	for tick := time.Tick(pollInterval); ; <-tick {
		welcome, err := p.tryConnect(ctx, i)
		if err == nil {
			return welcome
		}
		if refusal := (*protocol.Error)(nil); !errors.As(err, &refusal) || refusal.Code != protocol.CodeUnavailable {
			p.t.Fatalf("%s connects to %s: %v", p.id, i.name, err)
		}
	}
}

// tryConnect is connect where a failure is to be expected.
func (p *player) tryConnect(ctx context.Context, i *instance) (*protocol.Welcome, error) {
	conn := p.log.Dial()
	c, err := client.Open(ctx, i.url(), client.Options{
		OnEvent: func(protocol.Event) {}, // OnFrame has them all
		OnFrame: func(frame []byte) { p.hear(conn, frame) },
		OnPing:  func() bool { return p.mute == nil || !p.mute() },
	})
	if err != nil {
		p.log.End(conn, -1)
		return nil, err
	}
	go func() {
		<-c.Done()
		p.log.End(conn, closeCode(c.Err()))
	}()
	reply, err := p.ask(ctx, c, conn, &protocol.Hello{PlayerID: p.id, Client: "e2e/1", Have: p.log.Have()})
	if err != nil {
		c.CloseNow()
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.client, p.conn = c, conn
	welcome, ok := reply.(*protocol.Welcome)
	if !ok {
		return nil, fmt.Errorf("hello is answered with %s", reply.Type())
	}
	return welcome, nil
}

func closeCode(err error) int {
	var closed *client.CloseError
	if errors.As(err, &closed) {
		return closed.Code
	}
	return -1
}

// hear takes in a frame of the server. What is no message of the protocol fails the test.
func (p *player) hear(conn int, frame []byte) {
	event, err := protocol.DecodeEvent(frame)
	if err != nil {
		p.t.Errorf("%s was sent %q: %v", p.id, frame, err)
		return
	}
	p.log.Hear(conn, event)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = append(p.heard, event)
	close(p.news)
	p.news = make(chan struct{})
}

// ask sends a request over a connection and waits for the reply.
func (p *player) ask(ctx context.Context, c *client.Client, conn int, r protocol.Request) (protocol.Event, error) {
	p.mu.Lock()
	p.requests++
	r.SetMessageID(strconv.Itoa(p.requests))
	p.mu.Unlock()
	p.log.Send(conn, r)
	return c.Do(ctx, r)
}

// current is the connection of the moment, nil before the first.
func (p *player) current() (c *client.Client, conn int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.client, p.conn
}

// try sends a request over the current connection. Its error is a *protocol.Error where it was refused.
func (p *player) try(r protocol.Request) (protocol.Event, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	c, conn := p.current()
	return p.ask(ctx, c, conn, r)
}

// do is try for a request that must be answered with an E.
func do[E protocol.Event](p *player, r protocol.Request) E {
	p.t.Helper()
	reply, err := p.try(r)
	if err != nil {
		p.t.Fatalf("%s: %v", p.id, err)
	}
	e, ok := reply.(E)
	if !ok {
		p.t.Fatalf("%s: %s is answered with %s", p.id, r.Type(), reply.Type())
	}
	return e
}

// refused is try for a request that must be refused with a code.
func (p *player) refused(r protocol.Request, code string) {
	p.t.Helper()
	_, err := p.try(r)
	var refusal *protocol.Error
	if !errors.As(err, &refusal) || refusal.Code != code {
		p.t.Fatalf("%s: %s ends with %v, want the code %s", p.id, r.Type(), err, code)
	}
}

func (p *player) join(world string) *protocol.Joined {
	p.t.Helper()
	return do[*protocol.Joined](p, &protocol.Join{World: world})
}

func (p *player) leave(world string) []string {
	p.t.Helper()
	return do[*protocol.Left](p, &protocol.Leave{World: world}).Worlds
}

// leaveMatch leaves a match. If the answer is unavailable, which a busy machine can bring about, it asks again, as a client
// does; the first request may have been carried out.
func (p *player) leaveMatch(id string) {
	p.t.Helper()
	repeated := false
	eventually(p.t, func() string {
		_, err := p.try(&protocol.LeaveMatch{MatchID: id})
		refusal := (*protocol.Error)(nil)
		switch {
		case err == nil:
		case !errors.As(err, &refusal):
			p.t.Errorf("%s leaves its match: %v", p.id, err)
		case refusal.Code == protocol.CodeUnavailable:
			repeated = true
			return err.Error()
		case refusal.Code != protocol.CodeNoSuchMatch || !repeated:
			p.t.Errorf("%s leaves its match: %v", p.id, err)
		}
		return ""
	})
}

func (p *player) status() protocol.PlayerState {
	p.t.Helper()
	return do[*protocol.StatusReply](p, &protocol.Status{}).PlayerState
}

// await waits for the next event of type E that was not awaited yet, and skips those before it.
func await[E protocol.Event](p *player) E {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		p.mu.Lock()
		for p.next < len(p.heard) {
			e, ok := p.heard[p.next].(E)
			p.next++
			if ok {
				p.mu.Unlock()
				return e
			}
		}
		news := p.news
		p.mu.Unlock()
		select {
		case <-news:
		case <-deadline:
			var want E
			c, _ := p.current()
			p.t.Fatalf("%s heard no %s within %v; its connection: %v", p.id, want.Type(), patience, connectionState(c))
		}
	}
}

// connectionState is the error that ended a connection, "open", or "none".
func connectionState(c *client.Client) string {
	switch {
	case c == nil:
		return "none"
	case c.Err() != nil:
		return c.Err().Error()
	}
	return "open"
}

// awaitMatch waits for the event that tells of a match.
func (p *player) awaitMatch() *protocol.Match {
	p.t.Helper()
	return await[*protocol.MatchCompleted](p).Match
}

// heardOf is how many events of type E came over all connections.
func heardOf[E protocol.Event](p *player) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, e := range p.heard {
		if _, ok := e.(E); ok {
			n++
		}
	}
	return n
}

// cut drops the connection as a crash of the client does.
func (p *player) cut() {
	c, conn := p.current()
	p.log.End(conn, -1)
	c.CloseNow()
}

// awaitClose waits until the server has closed the connection, and returns the code.
func (p *player) awaitClose() int {
	p.t.Helper()
	c, _ := p.current()
	return awaitEnd(p.t, c)
}

func awaitEnd(t *testing.T, c *client.Client) int {
	t.Helper()
	select {
	case <-c.Done():
		return closeCode(c.Err())
	case <-time.After(patience):
		t.Fatalf("the connection is not closed after %v", patience)
		return 0
	}
}
