package load

import (
	"context"
	"slices"
	"time"

	"muster/protocol"
)

// hear handles an event and sends what the player answers. It runs where the connection is read, and
// writes there: a player has at most two requests on their way, for which there is always room.
func (p *player) hear(ctx context.Context, event protocol.Event, greeted chan<- error) {
	now := time.Now()
	p.mu.Lock()
	out := p.handle(ctx, event, now, greeted)
	p.mu.Unlock()
	out.send(ctx)
}

// handle is hear for the owner of mu.
func (p *player) handle(ctx context.Context, event protocol.Event, now time.Time, greeted chan<- error) outgoing {
	switch e := event.(type) {
	case *protocol.Welcome:
		p.conn, p.opening, p.pending = p.opening, nil, 0
		greeted <- nil // has room for the one answer to hello
		return p.learn(e.PlayerState, now)
	case *protocol.State:
		return p.learn(e.PlayerState, now)
	case *protocol.StatusReply:
		p.answered(e.PlayerState)
	case *protocol.Joined:
		p.joined(ctx, e, now)
	case *protocol.MatchCompleted:
		return p.told(e.Match, now)
	case *protocol.LeftMatch:
		p.left()
	case *protocol.Dequeued:
		p.dequeued(e)
	case *protocol.MatchEnded:
		p.run.judge.frees(p.id, e.MatchID)
	case *protocol.MatchCancelled:
		p.run.judge.frees(p.id, e.MatchID)
	case *protocol.Error:
		return p.refused(ctx, e, greeted)
	}
	return outgoing{}
}

func (p *player) joined(ctx context.Context, e *protocol.Joined, now time.Time) {
	p.run.happened(now)
	p.run.joined.record(now.Sub(p.due))
	p.pending--
	p.tickets = append(p.tickets, e.TicketID)
	if p.run.o.Pattern == Churn && !p.broke {
		p.broke = true
		broken := p.conn
		p.conn = nil // so that the watch does not count it
		p.run.connected.Add(-1)
		p.run.connections.Go(func() {
			broken.CloseNow()
			p.reconnect(ctx)
		})
	}
}

// told takes in a match. One that is known already is a repetition.
func (p *player) told(match *protocol.Match, now time.Time) outgoing {
	if match.ID == p.match || match.State != protocol.StateComplete {
		return outgoing{}
	}
	p.match, p.untold = match.ID, nil
	if p.phase != waiting {
		p.run.judge.fault(NotAsked, "%s did not wait and was told of match %s", p.id, match.ID)
		return outgoing{}
	}
	p.run.happened(now)
	p.run.waiting.Add(-1)
	p.run.match.record(now.Sub(p.due))
	p.run.time.told(now)
	p.run.judge.tell(p.id, match, now)
	if !p.run.o.Leave {
		p.phase = done
		return outgoing{}
	}
	p.phase = leaving
	p.run.judge.frees(p.id, match.ID)
	return p.request(leaveID, &protocol.LeaveMatch{MatchID: match.ID})
}

func (p *player) left() {
	if p.phase == leaving {
		p.rest()
	}
}

func (p *player) dequeued(e *protocol.Dequeued) {
	at := slices.Index(p.tickets, e.TicketID)
	if at < 0 {
		return
	}
	p.run.dequeued.add(e.Reason)
	p.tickets = slices.Delete(p.tickets, at, at+1)
	if len(p.tickets) == 0 && p.pending == 0 && p.phase == waiting {
		p.rest()
	}
}

// learn takes in the player's state as the server sends it at a connection or after trouble, and takes
// up again what was cut off.
func (p *player) learn(state protocol.PlayerState, now time.Time) outgoing {
	switch {
	case state.Match != nil && state.Match.ID == p.match && p.phase == leaving:
		return p.request(leaveID, &protocol.LeaveMatch{MatchID: p.match})
	case state.Match != nil:
		return p.told(state.Match, now)
	case p.phase == leaving:
		p.rest()
	case p.phase == waiting && len(state.Queued) == 0 && p.pending == 0:
		if len(p.tickets) > 0 {
			p.missed(state.Notices)
			return outgoing{}
		}
		return p.joins()
	}
	return outgoing{}
}

// answered takes in the state of a player that was asked for it because nothing was heard for long. A
// match in it may be news that are on their way.
func (p *player) answered(state protocol.PlayerState) {
	p.asked = false
	switch {
	case p.phase != waiting: // it was told meanwhile
	case state.Match != nil:
		p.untold = state.Match
	case len(state.Queued) > 0:
		for _, q := range state.Queued {
			p.stays = append(p.stays, q.World)
		}
	case len(p.tickets) > 0:
		p.missed(state.Notices)
	}
}

// missed is for a player whose tickets ended while it could not hear: a notice says why, or they are lost.
func (p *player) missed(notices protocol.Notices) {
	explained := false
	for _, n := range notices {
		switch e := n.(type) {
		case *protocol.Dequeued:
			if slices.Contains(p.tickets, e.TicketID) {
				p.run.dequeued.add(e.Reason)
				explained = true
			}
		case *protocol.MatchEnded:
			explained = explained || e.MatchID != p.match
		case *protocol.MatchCancelled:
			explained = explained || e.MatchID != p.match
		}
	}
	if !explained {
		p.run.judge.fault(Lost, "%s had ticket %s, which ended without a word", p.id, p.tickets[0])
	}
	p.rest()
}

// refused takes in the error of a request.
func (p *player) refused(ctx context.Context, e *protocol.Error, greeted chan<- error) outgoing {
	late := e.Code == protocol.CodeInMatch && len(p.joining) > 1 // a match in one world was faster than the join of the next
	if !late && e.ID != helloID {                                // the failure of a connection is counted as that
		p.run.errors.add(e.Code)
	}
	switch e.ID {
	case helloID:
		greeted <- e
	case statusID:
		p.asked = false
	case joinID:
		p.run.happened(time.Now())
		p.pending--
		if p.pending == 0 && len(p.tickets) == 0 && p.phase == waiting && !late && !followed(e.Code) {
			p.rest()
		}
	case leaveID:
		if e.RetryAfterMS == nil {
			p.left()
			break
		}
		time.AfterFunc(time.Duration(*e.RetryAfterMS)*time.Millisecond, func() { p.leaveAgain(ctx) })
	}
	return outgoing{}
}

// followed reports whether the state of the player follows an error by itself: after these a join may
// have been carried out, or the next connection makes up for it.
func followed(code string) bool {
	return code == protocol.CodeUnavailable || code == protocol.CodeDraining || code == protocol.CodeReplaced
}

func (p *player) leaveAgain(ctx context.Context) {
	p.mu.Lock()
	var out outgoing
	if p.phase == leaving {
		out = p.request(leaveID, &protocol.LeaveMatch{MatchID: p.match})
	}
	p.mu.Unlock()
	out.send(ctx)
}
