package history

import (
	"maps"
	"slices"
	"time"

	"muster/protocol"
)

// join takes in the reply to a join.
func (r *replay) join(e Entry, m *protocol.Joined) {
	request := r.joins[m.MessageID()]
	delete(r.joins, m.MessageID())
	r.hold(&ticket{
		id: m.TicketID, world: m.World, sent: request.at, joined: e.At, conn: e.Conn, enqueuedAt: m.EnqueuedAt,
	})
}

// hold believes in a ticket. Another one of the same world cannot stand beside it.
func (r *replay) hold(t *ticket) {
	old := r.waiting[t.world]
	if old != nil && old.id == t.id {
		if t.enqueuedAt != 0 && old.enqueuedAt != t.enqueuedAt {
			r.moved = append(r.moved, t)
		}
		return
	}
	if old != nil {
		r.endTicket(t.world, t.joined, endReplaced, "")
	}
	t.alone = len(r.waiting) == 0
	for _, other := range r.waiting {
		other.alone = false
	}
	r.waiting[t.world] = t
	r.tickets = append(r.tickets, t)
}

// namedAgain notes that the client is told that it waits as a ticket which it has left, as the reply said.
func (r *replay) namedAgain(e Entry, ticket string) {
	for _, t := range r.tickets {
		if t.id == ticket && t.end == endLeft {
			r.revived = append(r.revived, revival{ticket: ticket, left: t.ended, at: e.At})
		}
	}
}

func (r *replay) endTicket(world string, at time.Time, end, match string) {
	t := r.waiting[world]
	if t == nil {
		return
	}
	t.ended, t.end, t.match = at, end, match
	t.silent = end == endSilent || end == endReplaced
	delete(r.waiting, world)
}

// told takes in a match that the player is in. A reply that names it is the truth of the moment at which
// the request was executed; an event must not come before the reply to the join.
func (r *replay) told(e Entry, m *protocol.Match, reply bool) {
	if m.State != protocol.StateComplete {
		r.prompted(e, m)
		return
	}
	r.heldMatch = nil
	r.tellings = append(r.tellings, telling{at: e.At, conn: e.Conn, match: m, early: !reply && r.joinPending(e.Conn, m)})
	if r.open != nil && r.open.ID != m.ID && e.At.UnixMilli() < r.open.ExpiresAt {
		r.overlaps = append(r.overlaps, overlap{e.At, r.open.ID, m.ID})
	}
	r.open = m
	clear(r.unsure)
	for world := range r.waiting {
		r.endTicket(world, e.At, endMatched, m.ID)
	}
}

// joinPending reports whether the match can only come from a join that was not answered yet.
func (r *replay) joinPending(conn int, m *protocol.Match) bool {
	if r.waiting[m.World] != nil || r.unsure[m.World] || r.knows(m.ID) {
		return false
	}
	for _, p := range r.joins {
		if p.conn == conn && p.world == m.World {
			return true
		}
	}
	return false
}

func (r *replay) knows(match string) bool {
	for _, t := range r.tellings {
		if t.match.ID == match {
			return true
		}
	}
	return false
}

// openID is the complete match that the client believes in, "" for none.
func (r *replay) openID() string {
	if r.open == nil {
		return ""
	}
	return r.open.ID
}

// closeMatch takes in that a match is over.
func (r *replay) closeMatch(id string) {
	if r.heldMatch != nil && r.heldMatch.ID == id {
		r.heldMatch = nil
	}
	if r.open != nil && r.open.ID == id {
		r.open = nil
	}
}

// truth replaces what the client believes by a state.
func (r *replay) truth(e Entry, s protocol.PlayerState) {
	if r.open != nil && (s.Match == nil || s.Match.ID != r.open.ID) {
		if e.At.UnixMilli() < r.open.ExpiresAt {
			r.releases = append(r.releases, release{match: r.open.ID, silent: true, at: e.At})
		}
		r.open = nil
	}
	r.heldGone(e, s.Match)
	if s.Match != nil {
		r.told(e, s.Match, true)
		if len(s.Queued) > 0 && s.Match.State == protocol.StateComplete {
			r.both = append(r.both, e.At)
		}
	}
	named := map[string]bool{}
	for _, q := range s.Queued {
		named[q.TicketID] = true
		r.sure[q.TicketID] = append(r.sure[q.TicketID], e.At)
		r.namedAgain(e, q.TicketID)
		r.hold(&ticket{id: q.TicketID, world: q.World, joined: e.At, conn: e.Conn, enqueuedAt: q.EnqueuedAt})
	}
	for world, t := range r.waiting {
		if !named[t.id] {
			r.endTicket(world, e.At, endSilent, "")
		}
	}
}

// Match is the match that the client believes in, one that it is asked about too; nil for none.
func (l *Log) Match() *protocol.Match {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.belief.open != nil {
		return l.belief.open
	}
	return l.belief.heldMatch
}

// Have is what the client believes after all it has heard so far, for its next hello; nil for nothing.
func (l *Log) Have() *protocol.Have {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.belief
	have := &protocol.Have{}
	for _, t := range r.waiting {
		have.Tickets = append(have.Tickets, t.id)
	}
	slices.Sort(have.Tickets)
	if r.open != nil {
		have.Match = r.open.ID
	} else if r.heldMatch != nil {
		have.Match = r.heldMatch.ID
	}
	if len(have.Tickets) == 0 && have.Match == "" {
		return nil
	}
	return have
}

// Waiting are the worlds in which the client believes to wait.
func (l *Log) Waiting() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.belief.waiting))
}
