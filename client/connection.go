package client

import (
	"context"
	"errors"
	"time"

	"muster/protocol"
)

// silentHeartbeats is after how many heartbeats without a sign of the server it is asked for one.
const silentHeartbeats = 2

// errSilent ends a connection whose server answered nothing any more.
var errSilent = errors.New("the server is silent")

// connection is one connection from dial to end. It returns why it ended and, if the server said so,
// when to connect again. The error is nil only where this side ended it.
func (r *Reconnecting) connection(ctx context.Context) (again time.Time, err error) {
	goingAway := make(chan time.Time, 1)
	c, err := r.dial(ctx, goingAway)
	if err != nil {
		return time.Time{}, err
	}
	r.setCurrent(c)
	defer r.setCurrent(nil)
	return r.attend(ctx, c, goingAway)
}

// dial connects and says hello.
func (r *Reconnecting) dial(ctx context.Context, goingAway chan<- time.Time) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	o := r.options.Options
	o.Have = r.belief.have()
	if r.options.Token != nil {
		token, err := r.options.Token(ctx)
		if err != nil {
			return nil, err
		}
		o.Token = token
	}
	c := newClient(o)
	c.take = func(event protocol.Event, reply bool) error { return r.take(event, reply, goingAway) }
	if err := c.connect(ctx, r.url); err != nil {
		return nil, err
	}
	if _, err := c.Hello(ctx); err != nil {
		c.CloseNow()
		return nil, err
	}
	return c, nil
}

// take learns from an event and hands it over. A welcome is handed over although it is a reply: the
// consumer made no call for it.
func (r *Reconnecting) take(event protocol.Event, reply bool, goingAway chan<- time.Time) error {
	r.belief.learn(event)
	switch e := event.(type) {
	case *protocol.Welcome:
		reply = false
	case *protocol.GoingAway:
		select {
		case goingAway <- time.Now().Add(time.Duration(e.ReconnectInMS) * time.Millisecond):
		default: // one answer to it is enough
		}
	}
	if reply {
		return nil
	}
	return handOver(event, r.options.OnEvent, r.events)
}

// attend stays with a connection until it ends, ends it when the server asked for that or is silent,
// and when ctx ends.
func (r *Reconnecting) attend(ctx context.Context, c *Client, goingAway <-chan time.Time) (again time.Time, err error) {
	heartbeat := time.Duration(c.Welcome().HeartbeatMS) * time.Millisecond
	var watch, leave <-chan time.Time
	if heartbeat > 0 {
		ticker := time.NewTicker(heartbeat)
		defer ticker.Stop()
		watch = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			c.Close(protocol.CloseGoingAway)
			return again, nil
		case again = <-goingAway:
			leave = time.After(time.Until(again))
		case <-leave:
			c.Close(protocol.CloseGoingAway) // not normal, which may mean to leave the queue
			return again, nil
		case <-watch:
			if c.silence() >= silentHeartbeats*heartbeat && !r.alive(ctx, c) {
				c.CloseNow()
				return again, errSilent
			}
		case <-c.Done():
			select {
			case again = <-goingAway:
			default:
			}
			return again, c.Err()
		}
	}
}

// alive asks the server for a sign.
func (r *Reconnecting) alive(ctx context.Context, c *Client) bool {
	ctx, cancel := context.WithTimeout(ctx, protocol.PongTimeout)
	defer cancel()
	return c.Ping(ctx) == nil
}

func (r *Reconnecting) setCurrent(c *Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = c
}
