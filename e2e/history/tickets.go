package history

import (
	"slices"
	"time"

	"muster/protocol"
)

// nothingEndsSilently checks rule 4: a ticket ends by a match or by leaving, or its player is told why;
// and nobody who is there loses its place for not being there.
func (j *judge) nothingEndsSilently() {
	for _, r := range j.players {
		for _, t := range r.tickets {
			if t.silent && !j.explained(r, t) && !j.lostUnasked(r, t.ended, t.id) {
				j.blame(4, t.ended, r.name, "ticket %s ended without a word: %s", t.id, t.end)
			}
		}
		for _, end := range r.ends {
			if end.reason == protocol.ReasonPresenceLost && !end.repeat && j.present(r, end) {
				j.blame(4, end.at, r.name, "ticket %s ended as presence_lost, its player was connected", end.ticket)
			}
		}
	}
}

// whoLeftIsOut checks the rest of rule 4: who was told that it has left does not hear that it waits there still, unless
// history was lost between.
func (j *judge) whoLeftIsOut() {
	for _, r := range j.players {
		for _, v := range r.revived {
			if !j.mayHaveLost(v.left, v.at, r.name) {
				j.blame(4, v.at, r.name, "is told that it waits as %s, which it had left", v.ticket)
			}
		}
	}
}

// explained reports whether the player was told, at any time, what became of a ticket that a state did
// not name any more, or did it itself.
func (j *judge) explained(r *replay, t *ticket) bool {
	for _, end := range r.ends {
		if end.ticket == t.id {
			return true
		}
	}
	for _, l := range r.leaves {
		if (l.world == "" || l.world == t.world) && l.at.After(t.sent) && l.at.Before(t.ended) {
			return true
		}
	}
	for _, m := range j.matches {
		from := m.CreatedAt
		if j.opts.Worlds[m.World].seats() {
			from = max(from, m.since[r.name].UnixMilli())
		}
		if slices.Contains(m.members, r.name) && from >= t.enqueuedAt && m.CreatedAt <= t.ended.UnixMilli() {
			return true
		}
	}
	return false
}

// present reports whether the player had been connected for long when it was told that it was not.
func (j *judge) present(r *replay, end ending) bool {
	c := r.stay(end.at)
	if c == nil || c.number != end.conn {
		return false
	}
	i := slices.IndexFunc(r.tickets, func(t *ticket) bool { return t.id == end.ticket })
	if i < 0 {
		return false
	}
	t := r.tickets[i]
	return t.conn == end.conn && !j.troubled(t.joined, end.at)
}

// troubled reports whether there was trouble between two moments, or a little before.
func (j *judge) troubled(from, to time.Time) bool {
	for _, trouble := range j.troubles {
		if !trouble.From.After(to) && (trouble.To.IsZero() || !trouble.To.Add(j.opts.Patience).Before(from)) {
			return true
		}
	}
	return false
}

// nobodyWaitsForNothing checks, once all has settled, that no world has as many players waiting as make a
// match.
func (j *judge) nobodyWaitsForNothing() {
	if j.opts.SettledAt.IsZero() {
		return
	}
	waiting := map[string][]string{}
	for _, r := range j.players {
		if r.stay(j.opts.SettledAt) == nil {
			continue
		}
		for _, t := range r.tickets {
			if !t.joined.After(j.opts.SettledAt) && (t.ended.IsZero() || t.ended.After(j.opts.SettledAt)) {
				waiting[t.world] = append(waiting[t.world], r.name)
			}
		}
	}
	for name, world := range j.opts.Worlds {
		if !world.Cooldown && len(waiting[name]) >= world.needs() {
			j.blame(5, j.opts.SettledAt, waiting[name][0], "waits in %s, and %d others: %d make a match",
				name, len(waiting[name])-1, world.needs())
		}
	}
}
