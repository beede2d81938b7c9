package server

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"muster/hub"
	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
)

// socket is one WebSocket and what it has said. An idle one is waited for by one goroutine, which calls next to
// nothing and so keeps the smallest of stacks; what there is to do others do.
type socket struct {
	server    *Server
	transport *transport
	session   *hub.Session
	rate      *messageRate
	// newcomer is nil once it has been greeted.
	newcomer atomic.Pointer[newcomer]
	// over is called when the connection is over.
	over func()
	// gone says that the connection is over: nothing makes its player live any more.
	gone atomic.Bool
	// greeted is written by the request that is in flight, of which there is one at a time.
	greeted atomic.Bool
}

// newcomer is what ends a connection that has not said hello: its time, and the end of the process.
type newcomer struct {
	hello *time.Timer
	stop  func() bool
}

// serve has a connection served until it is over. ctx ends when the process does.
func (s *Server) serve(ctx context.Context, t *transport, over func()) {
	c := &socket{server: s, transport: t, rate: newMessageRate(s.config.Limits.MessagesPerSecond), over: over}
	c.session = s.hub.Connect(t)
	t.heard(c.session.Heard)
	c.newcomer.Store(&newcomer{
		hello: time.AfterFunc(protocol.HelloTimeout, func() { c.session.Close(protocol.CloseHelloTimeout) }),
		stop:  context.AfterFunc(ctx, func() { c.session.Close(protocol.CloseGoingAway) }),
	})
	go c.await(ctx)
}

// settle keeps nothing more of what would have ended a newcomer. The hub ends those who have been greeted.
func (c *socket) settle() {
	if n := c.newcomer.Swap(nil); n != nil {
		n.hello.Stop()
		n.stop()
	}
}

// await waits for what the client sends next. What can be read without waiting for more of it the workers read.
func (c *socket) await(ctx context.Context) {
	c.transport.Await()
	if c.transport.Whole() {
		c.server.workers.Do(func() { c.process(ctx) })
	} else {
		go c.process(ctx)
	}
}

// process takes in what has come, and has more waited for.
func (c *socket) process(ctx context.Context) {
	for c.transport.More() {
		frame, err := c.transport.ReadArrived()
		if errors.Is(err, errNothing) {
			break
		}
		if err != nil {
			go c.end(ctx, err)
			return
		}
		c.session.Heard()
		c.receive(ctx, frame)
	}
	go c.await(ctx)
}

// receive hands a frame on: to be answered in its turn, or refused.
func (c *socket) receive(ctx context.Context, frame []byte) {
	verdict, retryAfter := c.rate.take(time.Now())
	switch verdict {
	case exhausted:
		c.session.Close(protocol.CloseTooManyMessages)
	case limited:
		c.refuse(frame, retryAfter)
	case pass:
		arrived := time.Now()
		if !c.session.Submit(func() { c.handle(ctx, arrived, frame) }) {
			c.refuse(frame, retryMS*time.Millisecond)
		}
	}
}

// refuse answers at once, before those that wait for their turn.
func (c *socket) refuse(frame []byte, retryAfter time.Duration) {
	request, err := protocol.DecodeRequest(frame)
	refusal := protocol.NewError(protocol.CodeRateLimited).RetryAfter(max(1, retryAfter.Milliseconds()))
	c.session.Send(c.addressed(request, err, one(refusal))...)
}

// addressed are the answer, under the request's id, and what goes with it.
func (c *socket) addressed(request protocol.Request, err error, messages []protocol.Message) []protocol.Message {
	var malformed *protocol.Error
	switch {
	case len(messages) == 0:
		return nil
	case errors.As(err, &malformed):
		messages[0].SetMessageID(malformed.ID)
	case request != nil:
		messages[0].SetMessageID(request.MessageID())
	}
	if refusal, ok := messages[0].(*protocol.Error); ok {
		c.server.metrics.errorSent(refusal.Code)
	}
	return messages
}

func one(m protocol.Message) []protocol.Message { return []protocol.Message{m} }

// meantHello tells of a malformed frame whether it was to be a hello: then it is told what is wrong with it.
func meantHello(frame []byte) bool {
	var head struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(frame, &head) == nil && head.Type == protocol.TypeHello
}

// greet makes the connection a player's session.
func (c *socket) greet(ctx context.Context, hello *protocol.Hello) []protocol.Message {
	player := ident.Player(hello.PlayerID)
	if c.greeted.Load() {
		return c.greetAgain(ctx, player, hello.Have)
	}
	if c.server.draining.Load() {
		return one(retryable(protocol.NewError(protocol.CodeDraining)))
	}
	if player == "" {
		player = newPlayerID()
	}
	if n := c.newcomer.Load(); n != nil {
		n.hello.Stop() // it came in time, however long the answer takes
	}
	epoch := c.server.store.Epoch()
	c.server.hub.Enter(c.session, player)
	if c.gone.Load() { // before it was in the hub, so that nobody has taken it out
		c.server.hub.Leave(c.session)
		return nil
	}
	st, err := c.server.presence.Arrive(ctx, store.Session{Player: player}, func() bool { return !c.gone.Load() })
	if err == nil {
		arrived := store.Session{Player: player, Generation: st.Generation}
		if st, err = c.settled(ctx, hello.Have, st); err != nil {
			c.depart(arrived) // it has no session, and must not be matched
		}
	}
	if err != nil {
		c.server.hub.Leave(c.session)
		if n := c.newcomer.Load(); n != nil {
			n.hello.Reset(protocol.HelloTimeout)
		}
		return one(c.server.wireError(err))
	}
	c.session.Arrived(epoch, st)
	c.greeted.Store(true)
	c.settle()
	c.server.hub.Replaced(store.Session{Player: player, Generation: st.Generation})
	c.departIfGone()
	s := c.server
	s.log.Debug().Str("player_id", string(player)).Stringer("session_id", st.Generation).Str("client", hello.Client).Msg("session begins")
	messages := one(c.welcome(st))
	return append(messages, hub.InvalidClaims(hello.Have, st)...)
}

// settled is the state of a player as it arrived; where it lacks what the client believes and instances may still assert
// what they knew before a loss, as it is when they have. So nothing is told lost that is only late.
func (c *socket) settled(ctx context.Context, have *protocol.Have, st store.PlayerState) (store.PlayerState, error) {
	late := c.server.presence.Recovering()
	if late <= 0 || len(hub.InvalidClaims(have, st)) == 0 {
		return st, nil
	}
	timer := time.NewTimer(late)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return st, store.ErrUnavailable // recovery takes longer than an answer may
	case <-timer.C:
	}
	now, err := c.server.stateOf(ctx, st.Player)
	switch {
	case err != nil:
		return st, err
	case now.Generation > st.Generation:
		return st, store.ErrReplaced
	case now.Generation < st.Generation:
		return st, store.ErrUnavailable // history was lost once more, and with it the arrival
	}
	return now, nil
}

// greetAgain answers a hello of the same player; there is nothing else that it could change in dev mode.
func (c *socket) greetAgain(ctx context.Context, player ident.Player, have *protocol.Have) []protocol.Message {
	if player != "" && player != c.session.Player() {
		return one(protocol.Errorf(protocol.CodeBadMessage, "player_id: this connection is another player's"))
	}
	st, err := c.state(ctx)
	if err != nil {
		return one(c.server.wireError(err))
	}
	return append(one(c.welcome(st)), hub.InvalidClaims(have, st)...)
}

func (c *socket) welcome(st store.PlayerState) protocol.Message {
	s := c.server
	return &protocol.Welcome{
		Protocol: protocol.Version, PlayerID: string(st.Player), SessionID: c.session.ID().Generation.String(),
		Instance: string(s.store.Instance()), Now: st.Now, HeartbeatMS: s.config.Presence.Heartbeat.Milliseconds(),
		PresenceTTLMS: s.config.Presence.TTL.Milliseconds(), ReconnectGraceMS: s.config.Presence.ReconnectGrace.Milliseconds(),
		PlayerState: hub.State(st, s.worlds.Facts),
	}
}
