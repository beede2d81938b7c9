package server

import (
	"context"
	"errors"

	"muster/hub"
	"muster/internal/ident"
	"muster/matching"
	"muster/protocol"
	"muster/store"
)

// do carries out a request of a session that has been greeted, other than one that begins at once; see pendingRequest.
func (c *socket) do(ctx context.Context, request protocol.Request) (protocol.Message, error) {
	switch r := request.(type) {
	case *protocol.Leave:
		return c.leave(ctx, r)
	case *protocol.Status:
		return c.status(ctx)
	case *protocol.Accept:
		return c.accept(ctx, r)
	case *protocol.Decline:
		return c.decline(ctx, r)
	default:
		return nil, protocol.NewError(protocol.CodeUnknownType)
	}
}

// refusal is an error as this session is told it; in_match and in_proposal say which match.
func (c *socket) refusal(ctx context.Context, err error) *protocol.Error {
	wire := c.server.wireError(err)
	var inMatch *store.InMatchError
	if errors.As(err, &inMatch) {
		if m, ok := c.session.Match(); ok && m.ID == string(inMatch.Match) {
			wire.Match = m
		} else {
			c.session.Uncertain() // what the client is told of the match this instance is to know too
			m, err := c.server.store.ReadMatch(ctx, inMatch.Match)
			if err != nil {
				return c.server.wireError(store.ErrUnavailable) // it is over again, and the request worth another try
			}
			c.session.Answering(m.Version)
			wire.Match = hub.MatchView(m, false)
		}
	}
	return wire
}

// joinable is the world that a join names, if the join may be tried there.
func (s *Server) joinable(r *protocol.Join) (matching.World, error) {
	if s.draining.Load() {
		return matching.World{}, retryable(protocol.NewError(protocol.CodeDraining))
	}
	world, ok := s.matching.World(ident.World(r.World))
	switch {
	case !ok && s.matching.Revision() == 0:
		return matching.World{}, store.ErrUnavailable // started while Redis is away: nothing is known yet
	case !ok:
		return matching.World{}, store.ErrUnknownWorld
	case world.State == matching.Closed:
		return matching.World{}, store.ErrWorldClosed
	case len(r.Party) > 0 && len(r.Party)+1 > world.PartyMax:
		return matching.World{}, protocol.NewError(protocol.CodePartyTooLarge)
	}
	return world, nil
}

// joined is the reply to a join.
func (s *Server) joined(world ident.World, j matching.JoinResult) *protocol.Joined {
	s.worlds.learn(world, j.MeanWait)
	enqueued := j.Place.UnixMilli()
	return &protocol.Joined{
		World: string(world), TicketID: string(ident.TicketOf(world, j.Place)), Position: int64(j.Position),
		QueueSize: int64(j.Size), EnqueuedAt: enqueued, Party: protocol.List[string]{},
		EstimatedWaitMS: hub.Estimate(j.MeanWait, j.Now, max(0, j.Now-enqueued)),
	}
}

func (c *socket) leave(ctx context.Context, r *protocol.Leave) (protocol.Message, error) {
	worlds, err := c.server.leavable(r)
	if err != nil {
		return nil, err
	}
	epoch := c.server.store.Epoch()
	left, err := c.server.store.RemoveFromQueue(ctx, c.session.ID(), worlds...)
	if err != nil {
		return nil, err
	}
	c.session.Answering(left.Before)
	if !c.session.Saw(epoch, left.Record) {
		return nil, store.ErrUnavailable
	}
	return leftReply(left), nil
}

// leavable are the worlds that a leave names: none for all.
func (s *Server) leavable(r *protocol.Leave) ([]ident.World, error) {
	if r.World == "" {
		return nil, nil
	}
	if _, ok := s.matching.World(ident.World(r.World)); !ok {
		if s.matching.Revision() == 0 {
			return nil, store.ErrUnavailable
		}
		return nil, store.ErrUnknownWorld
	}
	return []ident.World{ident.World(r.World)}, nil
}

func leftReply(left store.Left) *protocol.Left {
	reply := &protocol.Left{Worlds: protocol.List[string]{}}
	for _, w := range left.Worlds {
		reply.Worlds = append(reply.Worlds, string(w))
	}
	return reply
}

// state is the player's state for a reply that shows it.
func (c *socket) state(ctx context.Context) (store.PlayerState, error) {
	st, err := c.server.stateOf(ctx, c.session.Player())
	if err == nil {
		c.session.Showing(st)
	}
	return st, err
}

func (s *Server) stateOf(ctx context.Context, player ident.Player) (store.PlayerState, error) {
	states, err := s.store.States(ctx, []ident.Player{player})
	if err != nil {
		return store.PlayerState{}, err
	}
	return states[0], nil
}

func (c *socket) status(ctx context.Context) (protocol.Message, error) {
	st, err := c.state(ctx)
	if err != nil {
		return nil, err
	}
	return &protocol.StatusReply{PlayerState: hub.State(st, c.server.worlds.Facts)}, nil
}

func (c *socket) accept(ctx context.Context, r *protocol.Accept) (protocol.Message, error) {
	out, err := c.server.acceptMatch(ctx, c.session.ID(), ident.Match(r.MatchID))
	if err != nil {
		return nil, err
	}
	c.session.Answering(out.Before)
	return &protocol.Accepted{MatchID: r.MatchID}, nil
}

func (c *socket) decline(ctx context.Context, r *protocol.Decline) (protocol.Message, error) {
	out, err := c.server.store.DeclineMatch(ctx, c.session.ID(), ident.Match(r.MatchID))
	if err != nil {
		return nil, err
	}
	c.session.Answering(out.Before)
	c.session.Declined(ident.Match(r.MatchID))
	return &protocol.Declined{MatchID: r.MatchID}, nil
}
