package history

import (
	"slices"
	"time"

	"muster/protocol"
)

// cancelled is when a match that a player was told of fell through, by Redis' clock in milliseconds. It is false where it
// did not, or only a loss took it.
func (r *replay) cancelled(match string) (int64, bool) {
	for _, end := range r.ends {
		if end.match == match {
			return end.made.UnixMilli(), !end.made.IsZero()
		}
	}
	return 0, false
}

// proposalsEnd checks rule 3 for matches that did not stand yet: everybody who was told of one learns what became of
// it, soon after it stood or fell through.
func (j *judge) proposalsEnd() {
	over := j.proposalsOver()
	for _, r := range j.players {
		for _, p := range r.proposals {
			if !j.lossBetween(p.at, j.patienceFrom(over[p.ID])) {
				j.proposalEnds(r, p, over[p.ID])
			}
		}
	}
}

// proposalsOver is by when each proposal was over at the latest: somebody was told so, or its time had passed.
func (j *judge) proposalsOver() map[string]time.Time {
	over := map[string]time.Time{}
	for _, r := range j.players {
		for _, p := range r.proposals {
			latest := time.UnixMilli(p.AcceptBy)
			if p.State == protocol.StateAllocating || p.AcceptBy == 0 {
				latest = p.at
			}
			end := latest.Add(j.opts.Worlds[p.World].Serving)
			if at, ok := r.resolved(p.ID); ok && at.Before(end) {
				end = at
			}
			if known, ok := over[p.ID]; !ok || end.Before(known) {
				over[p.ID] = end
			}
		}
	}
	return over
}

func (j *judge) proposalEnds(r *replay, p *proposal, over time.Time) {
	resolved, ok := r.resolved(p.ID)
	for _, c := range r.conns {
		if c.welcomed.IsZero() {
			continue
		}
		from, until := over, c.ended
		if c.welcomed.After(from) {
			from = c.welcomed
		}
		if p.at.After(from) {
			from = p.at
		}
		if until.IsZero() {
			until = j.until
		}
		due := j.patienceFrom(from)
		if due.Before(until) && (!ok || resolved.After(due)) {
			j.blame(3, due, r.name, "is left in the dark about match %s, which was over by %s", p.ID, over.Format("15:04:05.000"))
			return
		}
	}
}

// everybodyBack checks rule 4 for tickets whose match fell through: their players are told that they are back at the
// same places, or what became of them.
func (j *judge) everybodyBack() {
	for _, r := range j.players {
		for _, t := range r.moved {
			j.blame(5, t.joined, r.name, "ticket %s is back with another enqueued_at, %d", t.id, t.enqueuedAt)
		}
		for _, f := range r.falls {
			if f.reason == protocol.ReasonLost || f.next {
				continue
			}
			for _, t := range f.tickets {
				due := j.patienceFrom(f.at.Add(j.opts.Worlds[t.world].Serving))
				if c := r.conns[f.conn-1]; j.stood(c, due) && !j.lossBetween(f.at, due) && !r.hearsOf(t, f.at, due) {
					j.blame(4, f.at, r.name, "is not told that ticket %s is back, as match %s fell through", t.id, f.match)
				}
			}
		}
	}
}

// stood reports whether a connection was there still at a moment.
func (j *judge) stood(c *conn, at time.Time) bool {
	return at.Before(j.until) && (c.ended.IsZero() || c.ended.After(at))
}

// hearsOf reports whether between two moments the player was told how a ticket stands, or ended it itself.
func (r *replay) hearsOf(t *ticket, from, to time.Time) bool {
	within := func(at time.Time) bool { return !at.Before(from) && !at.After(to) }
	return within(t.ended) || slices.ContainsFunc(r.sure[t.id], within) ||
		slices.ContainsFunc(r.proposals, func(p *proposal) bool { return within(p.at) }) ||
		slices.ContainsFunc(r.leaves, func(l leave) bool { return within(l.at) && (l.world == "" || l.world == t.world) })
}

// onlyWhoDeclinedIsOut checks the other side of rule 4: who declined is out and told so, who accepted or was not asked
// is not.
func (j *judge) onlyWhoDeclinedIsOut() {
	for _, r := range j.players {
		for _, out := range r.refusals {
			for _, t := range out.tickets {
				due := j.patienceFrom(out.at)
				if j.stood(r.conns[out.conn-1], due) && !j.lossBetween(out.at, due) && (t.ended.IsZero() || t.ended.After(due)) {
					j.blame(4, out.at, r.name, "declined match %s, and is not told that ticket %s is gone", out.match, t.id)
				}
			}
		}
		for _, end := range r.ends {
			if end.reason == protocol.ReasonDeclined && end.ticket != "" && !end.repeat {
				j.outForAReason(r, end)
			}
		}
	}
}

// outForAReason checks that a player whose ticket ended as declined had been asked, and had not accepted.
func (j *judge) outForAReason(r *replay, end ending) {
	c := r.conns[end.conn-1]
	if !slices.ContainsFunc(r.proposals, func(p *proposal) bool { return p.at.Before(end.at) && !p.at.Before(c.hello) || p.conn == c.number }) {
		j.blame(4, end.at, r.name, "ticket %s ended as declined, and its player was never asked", end.ticket)
	}
	var last *fall
	for i, f := range r.falls {
		if f.conn == end.conn && !f.at.After(end.at) {
			last = &r.falls[i]
		}
	}
	if last == nil || !r.accepted[last.match] || r.askedOut(last.match) {
		return
	}
	j.blame(4, end.at, r.name, "accepted match %s, and ticket %s ended as declined", last.match, end.ticket)
}

// askedOut reports whether the player sent that it does not want a match.
func (r *replay) askedOut(match string) bool {
	for _, e := range r.entries {
		switch q := e.Request.(type) {
		case *protocol.Decline:
			if q.MatchID == match {
				return true
			}
		case *protocol.LeaveMatch:
			if q.MatchID == match {
				return true
			}
		}
	}
	return false
}
