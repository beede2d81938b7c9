package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"muster/protocol"
)

const (
	// defaultBuffer is room for the events of a player that waits in eight worlds for half a minute
	// at one update a second and world.
	defaultBuffer = 256
	// maxEventBytes bounds what a server may send: a match of 100 players with the longest of ids,
	// and notices, is well below.
	maxEventBytes = 1 << 20
	// writeTimeout is when a server that takes nothing more counts as lost.
	writeTimeout = 10 * time.Second
)

// Options say who connects and where events go. The zero value is a player without a name, as dev
// mode allows.
type Options struct {
	// Token authenticates in token mode.
	Token string
	// PlayerID names the player in dev mode.
	PlayerID string
	// Party is the code that members of a party share, in dev mode.
	Party string
	// ClientName is name and version, for the server's log: "arena/1.2".
	ClientName string
	// Have is what the client believes from an earlier connection.
	Have *protocol.Have

	// OnEvent, if set, takes the events in place of Events. It is called by the goroutine that reads,
	// one event at a time, and so must neither block nor wait for a call of the same client.
	OnEvent func(protocol.Event)
	// Buffer is how many events may wait in Events; 0 means 256.
	Buffer int
	// OnFrame, if set, sees every text frame of the server before it is decoded, under the rules of
	// OnEvent. For tests and for logging.
	OnFrame func(frame []byte)
	// OnPing, if set, is called for each ping of the server, under the rules of OnEvent, and tells
	// whether to answer it. For tests that play dead.
	OnPing func() bool

	// Header is sent with the upgrade: a bearer token or an Origin, for instance.
	Header http.Header
	// HTTPClient makes the upgrade; nil means http.DefaultClient.
	HTTPClient *http.Client
}

func (o Options) buffer() int {
	if o.Buffer > 0 {
		return o.Buffer
	}
	return defaultBuffer
}

// Client is one connection of a player.
type Client struct {
	conn    *websocket.Conn
	options Options
	// take sees every event in its order, by the goroutine that reads; reply tells that a call gets
	// it. Its error ends the connection.
	take   func(event protocol.Event, reply bool) error
	events chan protocol.Event
	done   chan struct{} // closed after err is set
	err    error

	mu      sync.Mutex
	pending map[string]chan protocol.Event // guarded by mu; nil once the connection has ended
	lastID  uint64                         // guarded by mu
	welcome *protocol.Welcome              // guarded by mu
	heard   time.Time                      // guarded by mu
}

// Dial connects to the address (ws, wss, http or https, with the path /v1/ws) and says hello. ctx
// bounds the two and not the connection. An error is a *HandshakeError if the server did not upgrade,
// a *protocol.Error if it refused the hello, a *CloseError if it closed.
func Dial(ctx context.Context, url string, o Options) (*Client, error) {
	c, err := Open(ctx, url, o)
	if err != nil {
		return nil, err
	}
	if _, err := c.Hello(ctx); err != nil {
		c.CloseNow()
		return nil, err
	}
	return c, nil
}

// Open connects as Dial does and says no hello: the caller has five seconds for it.
func Open(ctx context.Context, url string, o Options) (*Client, error) {
	c := newClient(o)
	if o.OnEvent == nil {
		c.events = make(chan protocol.Event, o.buffer())
	}
	c.take = func(event protocol.Event, reply bool) error {
		if reply {
			return nil
		}
		return handOver(event, o.OnEvent, c.events)
	}
	if err := c.connect(ctx, url); err != nil {
		return nil, err
	}
	return c, nil
}

func newClient(o Options) *Client {
	return &Client{
		options: o,
		done:    make(chan struct{}),
		pending: map[string]chan protocol.Event{},
		heard:   time.Now(),
	}
}

// connect upgrades and begins to read. Without an error it is followed by the end of the connection.
func (c *Client) connect(ctx context.Context, url string) error {
	//nolint:bodyclose // Dial closes the body or makes it the connection
	conn, response, err := websocket.Dial(ctx, url, &websocket.DialOptions{
		HTTPClient:     c.options.HTTPClient,
		HTTPHeader:     c.options.Header,
		Subprotocols:   []string{protocol.Subprotocol},
		OnPingReceived: c.pinged,
	})
	if err != nil {
		return handshakeError(response, err)
	}
	conn.SetReadLimit(maxEventBytes)
	c.conn = conn
	go c.read(context.WithoutCancel(ctx)) // ended by closing: a context would hide the close code
	return nil
}

// handOver gives an event to its consumer, and never waits for it.
func handOver(event protocol.Event, onEvent func(protocol.Event), events chan<- protocol.Event) error {
	if onEvent != nil {
		onEvent(event)
		return nil
	}
	select {
	case events <- event:
		return nil
	default:
		return ErrSlowConsumer
	}
}

// Events are the events of the server, and replies that no call waits for any more. The channel is
// closed when the connection has ended. It is nil if Options.OnEvent is set.
func (c *Client) Events() <-chan protocol.Event { return c.events }

// Welcome is the last welcome of the server, nil before the first.
func (c *Client) Welcome() *protocol.Welcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.welcome
}

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err tells why the connection ended: a *CloseError, or ErrSlowConsumer or ErrBadEvent where this
// side gave up. It is nil while the connection stands.
func (c *Client) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// Close closes the connection with a code and waits until it has ended, some seconds if the server
// does not answer. With protocol.CloseNormal the player leaves worlds that are set so; any other code
// keeps its places for the grace. Closing again does nothing.
func (c *Client) Close(code int) {
	// An error says that the other side was faster or did not answer; the connection ended anyway.
	_ = c.conn.Close(websocket.StatusCode(code), "")
	_ = c.conn.CloseNow() // for a code that may not be sent
	<-c.done
}

// CloseNow drops the connection without a word, as a crash would.
func (c *Client) CloseNow() {
	_ = c.conn.CloseNow()
	<-c.done
}

// read delivers what the server sends until the connection ends.
func (c *Client) read(ctx context.Context) {
	err := c.readAll(ctx)
	c.mu.Lock()
	c.pending = nil // calls see done; new ones are refused
	c.mu.Unlock()
	_ = c.conn.CloseNow() // already closed unless this side gave up
	c.err = closeError(err)
	close(c.done)
	if c.events != nil {
		close(c.events)
	}
}

func (c *Client) readAll(ctx context.Context) error {
	var kept bytes.Buffer
	for {
		typ, reader, err := c.conn.Reader(ctx)
		if err != nil {
			return err
		}
		frame, err := c.readFrame(reader, &kept)
		if err != nil {
			return err
		}
		c.touch()
		if typ != websocket.MessageText {
			return fmt.Errorf("%w: binary frame", ErrBadEvent)
		}
		if c.options.OnFrame != nil {
			c.options.OnFrame(frame)
		}
		event, err := protocol.DecodeEvent(frame)
		if errors.Is(err, protocol.ErrUnknownEvent) {
			continue // a newer server
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBadEvent, err)
		}
		if err := c.deliver(event); err != nil {
			return err
		}
	}
}

// readFrame reads a frame into kept, which is used again for the next, unless somebody looks at frames: they may keep theirs.
func (c *Client) readFrame(r io.Reader, kept *bytes.Buffer) ([]byte, error) {
	if c.options.OnFrame != nil {
		return io.ReadAll(r)
	}
	kept.Reset()
	_, err := kept.ReadFrom(r)
	return kept.Bytes(), err
}

// deliver hands a reply to the call that waits for it, anything else to the consumer.
func (c *Client) deliver(event protocol.Event) error {
	c.mu.Lock()
	if w, ok := event.(*protocol.Welcome); ok {
		c.welcome = w
	}
	waiting := c.pending[event.MessageID()]
	delete(c.pending, event.MessageID())
	c.mu.Unlock()
	err := c.take(event, waiting != nil)
	if waiting != nil {
		waiting <- event // has room for the one reply
	}
	return err
}

func (c *Client) pinged(context.Context, []byte) bool {
	c.touch()
	return c.options.OnPing == nil || c.options.OnPing()
}

func (c *Client) touch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = time.Now()
}

// silence is for how long nothing was heard of the server.
func (c *Client) silence() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.heard)
}
