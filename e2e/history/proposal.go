package history

import (
	"maps"
	"slices"
	"time"

	"muster/protocol"
)

// proposed is what a player was told of matches that did not stand yet.
type proposed struct {
	proposals []*proposal
	falls     []fall
	refusals  []refusal
	moved     []*ticket       // told again with another time of their enqueuing
	accepted  map[string]bool // matches of which its accept was answered
	noticed   map[string]bool // ends that it was told of, by the ids of their notices
	// sure are the moments at which a ticket was named as one that waits, by its id.
	sure map[string][]time.Time
	// backs are the moments at which a ticket was told to be back, by its id.
	backs map[string][]time.Time
	// beliefs are the complete matches that the client believed in, each from a moment on; "" for none.
	beliefs []belief
	// heldMatch is what the client believes in at the point that the replay has reached.
	heldMatch *protocol.Match
}

func newProposed() proposed {
	return proposed{accepted: map[string]bool{}, noticed: map[string]bool{}, sure: map[string][]time.Time{}, backs: map[string][]time.Time{}}
}

// belief is the complete match that a client believes in from a moment on.
type belief struct {
	at    time.Time
	match string
}

// believe notes the complete match that the client believes in now.
func (r *replay) believe(at time.Time, match string) {
	if n := len(r.beliefs); n == 0 && match != "" || n > 0 && r.beliefs[n-1].match != match {
		r.beliefs = append(r.beliefs, belief{at, match})
	}
}

// proposal is a match that the player was told of before it stood.
type proposal struct {
	*protocol.Match
	at   time.Time // when it was first told
	conn int       // of the latest telling
}

// fall is the event that a match fell through, with the tickets that the player believed in.
type fall struct {
	at      time.Time
	conn    int
	match   string
	reason  string
	tickets []*ticket
	// next tells that the player was told of another match already.
	next bool
}

// refusal is the answer to a decline, or to a leave_match of a match that did not stand.
type refusal struct {
	at      time.Time
	conn    int
	match   string
	tickets []*ticket
}

// prompted takes in a match that does not stand yet.
func (r *replay) prompted(e Entry, m *protocol.Match) {
	r.heldMatch = m
	if p := r.proposalOf(m.ID); p != nil {
		p.conn = e.Conn
		return
	}
	r.proposals = append(r.proposals, &proposal{m, e.At, e.Conn})
}

func (r *replay) proposalOf(match string) *proposal {
	for _, p := range slices.Backward(r.proposals) {
		if p.ID == match {
			return p
		}
	}
	return nil
}

// requeued takes in that a ticket is back.
func (r *replay) requeued(e Entry, m *protocol.Requeued) {
	r.sure[m.TicketID] = append(r.sure[m.TicketID], e.At)
	r.namedAgain(e, m.TicketID)
	r.backs[m.TicketID] = append(r.backs[m.TicketID], e.At)
	r.hold(&ticket{id: m.TicketID, world: m.World, joined: e.At, conn: e.Conn, enqueuedAt: m.EnqueuedAt})
}

// fellThrough takes in that a match was cancelled.
func (r *replay) fellThrough(e Entry, m *protocol.MatchCancelled) {
	next := r.open != nil && r.open.ID != m.MatchID || r.heldMatch != nil && r.heldMatch.ID != m.MatchID
	r.falls = append(r.falls, fall{e.At, e.Conn, m.MatchID, m.Reason, r.believedTickets(), next})
}

// declined takes in that the player is out of a match that did not stand.
func (r *replay) declined(e Entry, match string) {
	if r.heldMatch != nil && r.heldMatch.ID == match {
		r.refusals = append(r.refusals, refusal{e.At, e.Conn, match, r.believedTickets()})
	}
}

func (r *replay) believedTickets() []*ticket { return slices.Collect(maps.Values(r.waiting)) }

// heldGone takes in that a state names another match than the one that the player was asked about, or none.
func (r *replay) heldGone(e Entry, now *protocol.Match) {
	if r.heldMatch != nil && (now == nil || now.ID != r.heldMatch.ID) {
		r.releases = append(r.releases, release{match: r.heldMatch.ID, silent: true, at: e.At})
		r.heldMatch = nil
	}
}

// resolved is when the player first knew what became of a match that did not stand, and false where it never did.
func (r *replay) resolved(match string) (time.Time, bool) {
	var first time.Time
	earlier := func(at time.Time) {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	for _, t := range r.tellings {
		if t.match.ID == match {
			earlier(t.at)
			break
		}
	}
	for _, end := range r.ends {
		if end.match == match {
			earlier(end.at)
			break
		}
	}
	return first, !first.IsZero()
}
