package server

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"muster/hub"
	"muster/internal/ident"
	"muster/matching"
	"muster/protocol"
	"muster/store"
)

// requestTimeout bounds a request, from its arrival on: a client is promised an answer within 3 s while Redis is out of
// reach. One whose turn comes after lateTurn, behind others that waited in vain, has no time left for a call.
const (
	requestTimeout = 2800 * time.Millisecond
	lateTurn       = requestTimeout - 1500*time.Millisecond
)

// pendingRequest is the request of a session that is in flight, and its answer.
type pendingRequest struct {
	*socket
	arrived time.Time
	request protocol.Request // nil where the frame is none
	err     error            // of the frame
}

// handle begins to carry out a frame's request. It does not wait, so that no worker does: what may has a goroutine of
// its own, and a join needs none while it waits for its group.
func (c *socket) handle(ctx context.Context, arrived time.Time, frame []byte) {
	e := &pendingRequest{socket: c, arrived: arrived}
	var answer []protocol.Message
	later := false
	c.guard(func() { answer, later = e.begin(ctx, frame) })
	if !later {
		e.finish(answer)
	}
}

// guard runs a part of a request. A fault of ours ends this connection, and nobody else's.
func (c *socket) guard(part func()) {
	defer func() {
		if fault := recover(); fault != nil {
			c.server.log.Error().Interface("err", fault).Bytes("stack", debug.Stack()).Msg("request panicked")
			c.session.Close(protocol.CloseInternal)
		}
	}()
	part()
}

// conclude carries out the last part of the request. The first message is the reply.
func (e *pendingRequest) conclude(part func() []protocol.Message) {
	var answer []protocol.Message
	e.guard(func() { answer = e.addressed(e.request, e.err, part()) })
	e.finish(answer)
}

// finish ends the request with its answer.
func (e *pendingRequest) finish(answer []protocol.Message) {
	e.session.Finish(answer...)
	if e.server.draining.Load() && !e.greeted.Load() {
		e.session.Close(protocol.CloseGoingAway) // and not 4408 later, which says not to come back
	}
}

// begin answers a frame, or has it carried out, and answered later.
func (e *pendingRequest) begin(ctx context.Context, frame []byte) (answer []protocol.Message, later bool) {
	e.request, e.err = protocol.DecodeRequest(frame)
	kind := unknownType
	if e.request != nil && e.err == nil {
		kind = e.request.Type()
	}
	e.server.metrics.received(kind)
	if e.gone.Load() {
		return nil, false
	}
	if refusal := e.unfit(frame); refusal != nil {
		return e.addressed(e.request, e.err, one(refusal)), false
	}
	if r, ok := e.request.(*protocol.Ping); ok {
		return e.addressed(r, nil, one(&protocol.Pong{T: r.T})), false
	}
	if time.Since(e.arrived) > lateTurn {
		return e.addressed(e.request, nil, one(e.failed(ctx, store.ErrUnavailable))), false
	}
	switch r := e.request.(type) {
	case *protocol.Join:
		return e.startJoin(ctx, r)
	case *protocol.LeaveMatch:
		return e.startLeaveMatch(ctx, r)
	case *protocol.Ack:
		return e.startAck(ctx, r)
	}
	go e.conclude(func() []protocol.Message { return e.carryOut(ctx) })
	return nil, true
}

// unfit is what a frame is refused for before it is looked at closely; nil where it is a request that may be carried out.
func (e *pendingRequest) unfit(frame []byte) protocol.Message {
	_, isHello := e.request.(*protocol.Hello)
	var malformed *protocol.Error
	switch {
	case errors.As(e.err, &malformed) && (e.greeted.Load() || meantHello(frame)):
		return malformed
	case e.err != nil || !e.greeted.Load() && !isHello:
		return protocol.NewError(protocol.CodeNotHello)
	}
	return nil
}

// carryOut carries out a request that may wait for Redis.
func (e *pendingRequest) carryOut(ctx context.Context) []protocol.Message {
	ctx, cancel := context.WithDeadline(ctx, e.arrived.Add(requestTimeout))
	defer cancel()
	if hello, ok := e.request.(*protocol.Hello); ok {
		return e.greet(ctx, hello)
	}
	reply, err := e.do(ctx, e.request)
	if err != nil {
		reply = e.failed(ctx, err)
	}
	return one(reply)
}

// goOn ends a request that was carried out with others: by a worker, or where it failed by who may wait, as Redis may
// have to be asked.
func (e *pendingRequest) goOn(err error, succeeded, failed func() protocol.Message) {
	if err != nil {
		go e.conclude(func() []protocol.Message { return one(failed()) })
		return
	}
	e.server.workers.Do(func() {
		e.conclude(func() []protocol.Message { return one(succeeded()) })
	})
}

// startJoin has a join carried out with others, or refuses it at once.
func (e *pendingRequest) startJoin(ctx context.Context, r *protocol.Join) (answer []protocol.Message, later bool) {
	world, err := e.server.joinable(r)
	if err != nil {
		return e.addressed(r, nil, one(e.failed(ctx, err))), false
	}
	epoch, who := e.server.store.Epoch(), e.session.ID()
	join := store.Join{Player: who.Player, Generation: who.Generation, Key: r.Ticket, Fingerprint: r.Fingerprint()}
	e.server.matching.StartJoin(ctx, e.arrived, world.Name, join, func(joined matching.JoinResult, err error) {
		e.goOn(err, func() protocol.Message { return e.joined(ctx, epoch, world.Name, joined) },
			func() protocol.Message { return e.retryJoin(ctx, epoch, world.Name, join, err) })
	})
	return nil, true
}

// startLeaveMatch has a player leave its match together with others.
func (e *pendingRequest) startLeaveMatch(ctx context.Context, r *protocol.LeaveMatch) (answer []protocol.Message, later bool) {
	epoch, match := e.server.store.Epoch(), ident.Match(r.MatchID)
	e.server.store.StartLeaveMatch(ctx, e.arrived, e.session.ID(), match, func(out store.Outcome, err error) {
		e.goOn(err, func() protocol.Message {
			e.session.Answering(out.Before)
			if !e.session.Saw(epoch, out.Record) {
				return e.failed(ctx, store.ErrUnavailable)
			}
			e.session.Declined(match)
			return &protocol.LeftMatch{MatchID: r.MatchID}
		}, func() protocol.Message { return e.failed(ctx, err) })
	})
	return nil, true
}

// startAck has it noted, together with others, that a player knows of its match.
func (e *pendingRequest) startAck(ctx context.Context, r *protocol.Ack) (answer []protocol.Message, later bool) {
	epoch := e.server.store.Epoch()
	e.server.store.StartAckMatch(ctx, e.arrived, e.session.ID(), ident.Match(r.MatchID), func(out store.Outcome, err error) {
		e.goOn(err, func() protocol.Message {
			e.session.Answering(out.Before)
			if !e.session.Saw(epoch, out.Record) {
				return e.failed(ctx, store.ErrUnavailable)
			}
			return &protocol.Acked{MatchID: r.MatchID}
		}, func() protocol.Message { return e.failed(ctx, err) })
	})
	return nil, true
}

// joined takes in a join that was carried out, and is the reply to it. epoch is the one that the call named.
func (e *pendingRequest) joined(ctx context.Context, epoch ident.Place, world ident.World, joined matching.JoinResult) protocol.Message {
	e.session.Answering(joined.Place - 1)
	if !e.session.Saw(epoch, joined.Record) {
		return e.failed(ctx, store.ErrUnavailable)
	}
	reply := e.server.joined(world, joined)
	e.session.Notification(world, hub.QueueView{Position: joined.Position, Size: joined.Size, MeanWait: joined.MeanWait})
	return reply
}

// retryJoin answers a join that failed. A session whose presence ended meanwhile arrives again and tries once more.
// Where that is in vain, as while its instance's lease is still lapsed, the player is here all the same, so that it is
// to try again and is not told no_presence.
func (e *pendingRequest) retryJoin(ctx context.Context, epoch ident.Place, world ident.World, join store.Join, err error) protocol.Message {
	ctx, cancel := context.WithDeadline(ctx, e.arrived.Add(requestTimeout))
	defer cancel()
	if errors.Is(err, store.ErrGone) && !e.gone.Load() {
		var joined matching.JoinResult
		if err = e.arriveAgain(ctx); err == nil {
			joined, err = e.server.matching.Join(ctx, world, join)
		}
		if err == nil {
			return e.joined(ctx, epoch, world, joined)
		}
		if errors.Is(err, store.ErrGone) && !e.gone.Load() {
			err = fmt.Errorf("hold presence of %s: %w", join.Player, store.ErrUnavailable)
		}
	}
	return e.failed(ctx, err)
}

// arriveAgain makes the session's player live again, with the generation it has.
func (e *pendingRequest) arriveAgain(ctx context.Context) error {
	st, err := e.server.presence.Arrive(ctx, e.session.ID(), func() bool { return true })
	if err != nil {
		return err
	}
	e.departIfGone()
	e.server.hub.Apply([]store.PlayerState{st})
	return nil
}

// failed is the reply to a request that failed. What became of one that is unavailable is told by the state, as soon as
// Redis answers.
func (e *pendingRequest) failed(ctx context.Context, err error) protocol.Message {
	reply := e.refusal(ctx, err)
	if reply.Code == protocol.CodeUnavailable {
		e.session.Uncertain()
	}
	return reply
}
