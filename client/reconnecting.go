package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"muster/protocol"
)

const (
	// attemptTimeout bounds one attempt to connect and say hello.
	attemptTimeout = 10 * time.Second
	// stableAfter is how long a connection must have stood for its end to count as a first failure: a
	// server that welcomes and closes at once must not be hammered.
	stableAfter = 10 * time.Second
)

// ErrNotConnected is returned by Reconnecting.Client while there is no connection.
var ErrNotConnected = errors.New("not connected")

// ReconnectOptions are those of a connection, and how to come back.
type ReconnectOptions struct {
	// Options are used for each connection. OnEvent sees the events of all connections in their
	// order, each welcome among them: it is the truth that replaces what was believed. Where OnEvent
	// is nil, Reconnecting.Events has them.
	Options
	Backoff Backoff
	// Token, if set, is asked for the token before each attempt to connect. Its error counts as a
	// failed attempt.
	Token func(ctx context.Context) (string, error)
}

// Reconnecting keeps a player connected: it comes back with back-off wherever the protocol allows it,
// after the time that a stopping instance asked for, and when the server falls silent.
type Reconnecting struct {
	url     string
	options ReconnectOptions
	belief  *belief
	events  chan protocol.Event
	done    chan struct{}
	cancel  context.CancelFunc // set by Start

	mu      sync.Mutex
	current *Client // guarded by mu
	err     error   // guarded by mu
	started bool    // guarded by mu
}

// NewReconnecting prepares the connection of a player; Start opens it.
func NewReconnecting(url string, o ReconnectOptions) *Reconnecting {
	o.Backoff = o.Backoff.withDefaults()
	r := &Reconnecting{url: url, options: o, belief: newBelief(o.Have), done: make(chan struct{})}
	if o.OnEvent == nil {
		r.events = make(chan protocol.Event, o.buffer())
	}
	return r
}

// Start begins to connect and returns at once. It ends with Stop, with ctx, or where connecting again
// cannot help. A second Start is an error.
func (r *Reconnecting) Start(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started {
		return errors.New("start: already started or stopped")
	}
	r.started = true
	ctx, r.cancel = context.WithCancel(ctx)
	go r.run(ctx)
	return nil
}

// Stop closes the connection and waits until all has ended. The player keeps its places for the
// grace; who wants to leave calls Leave before. It may be called twice, and before Start.
func (r *Reconnecting) Stop() {
	r.mu.Lock()
	if !r.started {
		r.started = true
		r.finish(nil)
	}
	cancel := r.cancel
	r.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	<-r.done
}

// Events are the events of all connections, closed at the end. It is nil if OnEvent is set.
func (r *Reconnecting) Events() <-chan protocol.Event { return r.events }

// Client is the connection of the moment, or ErrNotConnected.
func (r *Reconnecting) Client() (*Client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil {
		return nil, ErrNotConnected
	}
	return r.current, nil
}

// Done is closed when there will be no further connection.
func (r *Reconnecting) Done() <-chan struct{} { return r.done }

// Err tells, after Done, why connecting again could not help; nil after Stop.
func (r *Reconnecting) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *Reconnecting) run(ctx context.Context) {
	err := r.loop(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel()
	r.finish(err)
}

// finish tells the end. The caller holds mu.
func (r *Reconnecting) finish(err error) {
	r.err = err
	if r.events != nil {
		close(r.events)
	}
	close(r.done)
}

// loop connects until ctx ends, which is nil, or until it cannot help.
func (r *Reconnecting) loop(ctx context.Context) error {
	failures := 0
	for {
		began := time.Now()
		again, err := r.connection(ctx)
		if ctx.Err() != nil {
			return nil
		}
		least, ok := retry(err)
		if !ok {
			return err
		}
		if time.Since(began) >= stableAfter {
			failures = 0
		}
		wait := max(least, r.options.Backoff.wait(failures))
		failures++
		if !again.IsZero() { // told when to come, which is no failure
			wait, failures = time.Until(again), 0
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}
