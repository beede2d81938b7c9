package history

import "muster/protocol"

// Count is how much happened in a history, and what was lost.
type Count struct {
	Matches, Joins int
	// LostTickets and LostMatches are what players were told lost: each ticket once, and a match once for
	// each of its players.
	LostTickets, LostMatches int
	// Proposed are the matches that somebody was asked about, Cancelled those that fell through before they stood, Seated
	// how often a player was seated in a match that was there before.
	Proposed, Cancelled, Seated int
}

// Plus is both counts together.
func (c Count) Plus(d Count) Count {
	return Count{
		Matches: c.Matches + d.Matches, Joins: c.Joins + d.Joins,
		LostTickets: c.LostTickets + d.LostTickets, LostMatches: c.LostMatches + d.LostMatches,
		Proposed: c.Proposed + d.Proposed, Cancelled: c.Cancelled + d.Cancelled, Seated: c.Seated + d.Seated,
	}
}

// Count counts what the clients were told.
func (h *History) Count() Count {
	var c Count
	j := h.newJudge(Options{})
	c.Matches = len(j.matches)
	proposed, cancelled := map[string]bool{}, map[string]bool{}
	for _, r := range j.players {
		c.Joins += r.joined()
		for _, p := range r.proposals {
			proposed[p.ID] = true
		}
		for _, f := range r.falls {
			if f.reason != protocol.ReasonLost {
				cancelled[f.match] = true
			}
		}
		for _, t := range r.tickets {
			if m := j.matches[t.match]; m != nil && m.CreatedAt < t.enqueuedAt {
				c.Seated++
			}
		}
		lost := map[string]bool{}
		for _, end := range r.ends {
			subject := end.ticket + end.match
			if end.reason != protocol.ReasonLost || lost[subject] {
				continue
			}
			lost[subject] = true
			if end.match != "" {
				c.LostMatches++
			} else {
				c.LostTickets++
			}
		}
	}
	c.Proposed, c.Cancelled = len(proposed), len(cancelled)
	return c
}

// joined is how many joins were answered with a ticket.
func (r *replay) joined() int {
	n := 0
	for _, e := range r.entries {
		if _, ok := e.Event.(*protocol.Joined); ok {
			n++
		}
	}
	return n
}
