package client

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/coder/websocket"

	"muster/protocol"
)

// Do sends a request and waits for its reply. It sets the id of the request, unless there is one. A
// reply `error` is returned as *protocol.Error, the end of the connection as what Err says. When ctx
// ends first, what became of the request is unknown, and its reply comes as an event.
func (c *Client) Do(ctx context.Context, r protocol.Request) (protocol.Event, error) {
	reply := make(chan protocol.Event, 1)
	id, err := c.expect(r, reply)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Type(), err)
	}
	if err := c.SendText(ctx, protocol.Encode(r)); err != nil {
		c.forget(id)
		return nil, fmt.Errorf("%s: %w", r.Type(), err)
	}
	select {
	case event := <-reply:
		return result(r, event)
	case <-ctx.Done():
		if c.forget(id) {
			return nil, fmt.Errorf("%s: %w", r.Type(), ctx.Err())
		}
	case <-c.done:
	}
	// The reply is on its way to this call, or never comes.
	select {
	case event := <-reply:
		return result(r, event)
	case <-c.done:
	}
	select {
	case event := <-reply: // the end may have been seen first
		return result(r, event)
	default:
		return nil, fmt.Errorf("%s: %w", r.Type(), c.err)
	}
}

// expect registers who waits for the reply.
func (c *Client) expect(r protocol.Request, reply chan protocol.Event) (id string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending == nil {
		<-c.done // follows at once, without mu
		return "", c.err
	}
	id = r.MessageID()
	if id == "" {
		c.lastID++
		id = strconv.FormatUint(c.lastID, 10)
		r.SetMessageID(id)
	}
	if _, taken := c.pending[id]; taken {
		return "", fmt.Errorf("the id %s is in use", id)
	}
	c.pending[id] = reply
	return id, nil
}

// forget gives up waiting, and reports whether the reply had not come yet.
func (c *Client) forget(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, waiting := c.pending[id]
	delete(c.pending, id)
	return waiting
}

func result(r protocol.Request, event protocol.Event) (protocol.Event, error) {
	if refused, ok := event.(*protocol.Error); ok {
		return nil, fmt.Errorf("%s: %w", r.Type(), refused)
	}
	return event, nil
}

// SendText sends a text frame as it is. For tests and for messages that this package does not know. A
// reply to it comes as an event.
func (c *Client) SendText(ctx context.Context, frame []byte) error {
	return c.send(ctx, websocket.MessageText, frame)
}

// SendBinary sends a binary frame, which a server must refuse. For tests.
func (c *Client) SendBinary(ctx context.Context, frame []byte) error {
	return c.send(ctx, websocket.MessageBinary, frame)
}

// send writes under a timeout of its own: a context that ended in the middle of a frame would end the
// connection with it.
func (c *Client) send(ctx context.Context, typ websocket.MessageType, frame []byte) error {
	defer time.AfterFunc(writeTimeout, func() { _ = c.conn.CloseNow() }).Stop()
	ctx = context.WithoutCancel(ctx) // the library pays for each that could end
	if err := c.conn.Write(ctx, typ, frame); err != nil {
		select {
		case <-c.done: // its error knows the code
			return c.err
		default:
			return &CloseError{Code: -1, Err: err}
		}
	}
	return nil
}

// call is Do for a request whose reply is an R.
func call[R protocol.Event](ctx context.Context, c *Client, r protocol.Request) (R, error) {
	var none R
	event, err := c.Do(ctx, r)
	if err != nil {
		return none, err
	}
	reply, ok := event.(R)
	if !ok {
		return none, fmt.Errorf("%s: %w: reply of type %s", r.Type(), ErrBadEvent, event.Type())
	}
	return reply, nil
}

// Hello says hello with what Options hold. Dial has done so.
func (c *Client) Hello(ctx context.Context) (*protocol.Welcome, error) {
	return call[*protocol.Welcome](ctx, c, &protocol.Hello{
		Token:    c.options.Token,
		PlayerID: c.options.PlayerID,
		Client:   c.options.ClientName,
		Party:    c.options.Party,
		Have:     c.options.Have,
	})
}

// Renew says hello again with a new token.
func (c *Client) Renew(ctx context.Context, token string) (*protocol.Welcome, error) {
	return call[*protocol.Welcome](ctx, c, &protocol.Hello{Token: token})
}

// Join asks for a match. A caller that may have to repeat the call, as its outcome was unknown, sets
// Ticket.
func (c *Client) Join(ctx context.Context, join protocol.Join) (*protocol.Joined, error) {
	return call[*protocol.Joined](ctx, c, &join)
}

// Leave leaves a world, or all where world is "". It returns the worlds that were left.
func (c *Client) Leave(ctx context.Context, world string) ([]string, error) {
	left, err := call[*protocol.Left](ctx, c, &protocol.Leave{World: world})
	if err != nil {
		return nil, err
	}
	return left.Worlds, nil
}

// Status asks for the player's state.
func (c *Client) Status(ctx context.Context) (*protocol.PlayerState, error) {
	reply, err := call[*protocol.StatusReply](ctx, c, &protocol.Status{})
	if err != nil {
		return nil, err
	}
	return &reply.PlayerState, nil
}

// Accept takes part in a proposed match.
func (c *Client) Accept(ctx context.Context, matchID string) error {
	_, err := call[*protocol.Accepted](ctx, c, &protocol.Accept{MatchID: matchID})
	return err
}

// Decline refuses a proposed match.
func (c *Client) Decline(ctx context.Context, matchID string) error {
	_, err := call[*protocol.Declined](ctx, c, &protocol.Decline{MatchID: matchID})
	return err
}

// Ack tells the server that the match is known, so that it is not repeated.
func (c *Client) Ack(ctx context.Context, matchID string) error {
	_, err := call[*protocol.Acked](ctx, c, &protocol.Ack{MatchID: matchID})
	return err
}

// LeaveMatch leaves the open match.
func (c *Client) LeaveMatch(ctx context.Context, matchID string) error {
	_, err := call[*protocol.LeftMatch](ctx, c, &protocol.LeaveMatch{MatchID: matchID})
	return err
}

// Ping waits for a pong. It refreshes the player's presence.
func (c *Client) Ping(ctx context.Context) error {
	_, err := call[*protocol.Pong](ctx, c, &protocol.Ping{})
	return err
}
