package history

import (
	"slices"
	"time"

	"muster/protocol"
)

// replay is a player's log, read as a client reads it.
type replay struct {
	name     string
	entries  []Entry
	answers  map[requestKey]time.Time // of the first answer to each request; nil before answeredAfter is asked
	conns    []*conn                  // conns[i] has the number i+1
	tickets  []*ticket
	tellings []telling // of matches, in order
	releases []release
	overlaps []overlap
	both     []time.Time // states that name a match and tickets at once
	ends     []ending    // each end that was told, repeats too
	revived  []revival
	proposed // what it was told of matches that did not stand yet

	// What the client believes at the point that the replay has reached.
	current int                // the newest connection that was welcomed
	waiting map[string]*ticket // by world
	open    *protocol.Match
	joins   map[string]pending // unanswered, by message id
	leaves  []leave
	unsure  map[string]bool // worlds of joins of which nobody knows whether they were carried out
}

// conn is one connection. Zero times did not come.
type conn struct {
	number   int
	hello    time.Time
	welcomed time.Time
	ended    time.Time
	instance string
	have     *protocol.Have // of hello
	truth    *protocol.Welcome
}

// ticket is one that the player was told of.
type ticket struct {
	id, world    string
	sent, joined time.Time // of the join; sent is zero where its reply never came
	conn         int
	enqueuedAt   int64
	alone        bool // the player waited nowhere else, as long as it stood

	ended  time.Time // zero while it stands
	end    string
	match  string // of the end `matched`
	silent bool   // it ended by not being named any more
}

// Ends of tickets, beside the reasons of the protocol.
const (
	endLeft     = "left"
	endMatched  = "matched"
	endDequeued = "dequeued"
	endSilent   = "not named any more"
	endReplaced = "another ticket in the same world"
)

// revival is one time at which the player was told that it waits as a ticket that it had left.
type revival struct {
	ticket   string
	left, at time.Time
}

// telling is one time at which the player was told of a complete match.
type telling struct {
	at    time.Time
	conn  int
	match *protocol.Match
	// early tells that it was an event that came before the reply to the join that it answers.
	early bool
}

// release is one time at which the player's match was over.
type release struct {
	match  string
	asked  bool // it is the sending of a leave_match, whose reply may be lost
	silent bool // a state did not name it any more
	at     time.Time
}

// overlap is a match told while another was open.
type overlap struct {
	at            time.Time
	first, second string
}

// ending is the end of a ticket or match that the player was told without having asked.
type ending struct {
	at                    time.Time
	made                  time.Time // by Redis' clock; zero where it is not known
	ticket, match, reason string
	conn                  int
	repeat                bool // in the notices of a state, or told before
}

type pending struct {
	at    time.Time
	world string
	conn  int
}

type leave struct {
	at    time.Time
	world string // "" is all
}

func newReplay(name string, entries []Entry) *replay {
	r := &replay{name: name, entries: entries, waiting: map[string]*ticket{}, joins: map[string]pending{}, unsure: map[string]bool{}, proposed: newProposed()}
	for _, e := range entries {
		r.take(e)
	}
	return r
}

// take goes one entry further.
func (r *replay) take(e Entry) {
	switch e.Kind {
	case Dialed:
		r.conns = append(r.conns, &conn{number: e.Conn})
	case Sent:
		r.sent(e)
	case Heard:
		r.heard(e)
		r.believe(e.At, r.openID())
	case Ended:
		r.conns[e.Conn-1].ended = e.At
	}
}

// sent takes in a request. What an older connection asks for in vain explains nothing.
func (r *replay) sent(e Entry) {
	if e.Conn < r.current {
		return
	}
	switch q := e.Request.(type) {
	case *protocol.Hello:
		if c := r.conns[e.Conn-1]; c.hello.IsZero() {
			c.hello, c.have = e.At, q.Have
		}
	case *protocol.Join:
		r.joins[q.MessageID()] = pending{e.At, q.World, e.Conn}
	case *protocol.Leave:
		r.leaves = append(r.leaves, leave{e.At, q.World})
	case *protocol.LeaveMatch:
		r.releases = append(r.releases, release{match: q.MatchID, asked: true, at: e.At})
		r.believe(e.At, "")
	}
}

// heard takes in one message. What an older connection still says does not count for what the client
// believes: the newer one's welcome came after it in the server's order.
func (r *replay) heard(e Entry) {
	stale := e.Conn < r.current
	r.note(e)
	if stale {
		return
	}
	switch m := e.Event.(type) {
	case *protocol.Welcome:
		c := r.conns[e.Conn-1]
		c.welcomed, c.instance, c.truth = e.At, m.Instance, m
		r.current = e.Conn
		r.truth(e, m.PlayerState)
	case *protocol.State:
		r.truth(e, m.PlayerState)
	case *protocol.StatusReply:
		r.truth(e, m.PlayerState)
	case *protocol.Joined:
		r.join(e, m)
	case *protocol.Left:
		for _, world := range m.Worlds {
			r.endTicket(world, e.At, endLeft, "")
		}
	case *protocol.Dequeued:
		if t := r.waiting[m.World]; t != nil && t.id == m.TicketID {
			r.endTicket(m.World, e.At, endDequeued, "")
		}
	case *protocol.MatchCompleted:
		r.told(e, m.Match, false)
	case *protocol.MatchUpdate:
		r.told(e, m.Match, false)
	case *protocol.MatchProposed:
		r.prompted(e, m.Match)
	case *protocol.Requeued:
		r.requeued(e, m)
	case *protocol.Accepted:
		r.accepted[m.MatchID] = true
	case *protocol.Declined:
		r.declined(e, m.MatchID)
	case *protocol.Error:
		if p, ok := r.joins[m.MessageID()]; ok && m.Code == protocol.CodeUnavailable {
			r.unsure[p.world] = true
		}
		// The match of in_match was read for the reply, and may be newer than what is still on its way.
		delete(r.joins, m.MessageID())
	case *protocol.LeftMatch:
		r.declined(e, m.MatchID)
		r.closeMatch(m.MatchID)
	case *protocol.MatchEnded:
		r.closeMatch(m.MatchID)
	case *protocol.MatchCancelled:
		r.fellThrough(e, m)
		r.closeMatch(m.MatchID)
	}
}

// note keeps the ends that a message tells, whatever the client believes.
func (r *replay) note(e Entry) {
	switch m := e.Event.(type) {
	case protocol.Notice:
		r.ending(e, m, false)
	case *protocol.Welcome:
		r.repeats(e, m.Notices)
	case *protocol.State:
		r.repeats(e, m.Notices)
	case *protocol.StatusReply:
		r.repeats(e, m.Notices)
	}
}

func (r *replay) repeats(e Entry, notices protocol.Notices) {
	for _, n := range notices {
		r.ending(e, n, true)
	}
}

func (r *replay) ending(e Entry, n protocol.Notice, repeat bool) {
	end := ending{at: e.At, made: moment(n.NoticeKey()), conn: e.Conn, repeat: repeat || r.noticed[n.NoticeKey()]}
	r.noticed[n.NoticeKey()] = n.NoticeKey() != ""
	switch n := n.(type) {
	case *protocol.Dequeued:
		end.ticket, end.reason = n.TicketID, n.Reason
	case *protocol.MatchCancelled:
		end.match, end.reason = n.MatchID, n.Reason
	case *protocol.MatchEnded:
		end.match, end.reason = n.MatchID, n.Reason
	}
	r.ends = append(r.ends, end)
}

// released is the first moment from which the player may have been out of a match: it asked to leave it,
// or was told of its end, whose own moment is not known. It is false where neither happened.
func (r *replay) released(match string) (from time.Time, ok bool) {
	for _, end := range r.ends {
		if end.match == match && end.reason != protocol.ReasonExpired {
			return time.Time{}, true
		}
	}
	for _, rel := range r.releases {
		if rel.match == match && rel.asked {
			return rel.at, true
		}
	}
	return time.Time{}, false
}

// stay is the player's connection at a moment, nil for none.
func (r *replay) stay(at time.Time) *conn {
	for _, c := range slices.Backward(r.conns) {
		if !c.welcomed.IsZero() && !c.welcomed.After(at) {
			if c.ended.IsZero() || c.ended.After(at) {
				return c
			}
			return nil
		}
	}
	return nil
}
