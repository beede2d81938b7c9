package history

import (
	"slices"
	"time"
)

// everybodyTold checks rule 3: whoever is named in a match learns of it, at once when connected, else at
// the next connection while the match is open.
func (j *judge) everybodyTold() {
	for _, m := range j.sortedMatches() {
		for _, name := range m.members {
			if r, ok := j.byName[name]; ok {
				j.toldOf(m, r)
			}
		}
	}
	for _, r := range j.players {
		for _, rel := range r.releases {
			if rel.silent && !j.matchEndKnown(r, rel) && !j.lostUnasked(r, rel.at, rel.match) {
				j.blame(3, rel.at, r.name, "match %s is open, and a state does not name it", rel.match)
			}
		}
	}
}

// matchEndKnown reports whether the player knows, or can know, why its match is over.
func (j *judge) matchEndKnown(r *replay, rel release) bool {
	for _, end := range r.ends {
		if end.match == rel.match {
			return true
		}
	}
	for _, other := range r.releases {
		if other.match == rel.match && other.asked && other.at.Before(rel.at) {
			return true
		}
	}
	return false
}

// lostUnasked reports whether a ticket or match that a welcome does not name went with a loss, and the hello
// had not named it, so that nobody could tell the player: it was told of it while it said hello.
func (j *judge) lostUnasked(r *replay, at time.Time, id string) bool {
	c := r.stay(at)
	if c == nil || !c.welcomed.Equal(at) || !j.mayHaveLost(c.hello.Add(-j.opts.Patience), at, r.name) {
		return false
	}
	return c.have == nil || c.have.Match != id && !slices.Contains(c.have.Tickets, id)
}

// toldOf checks each connection of a player during its match.
func (j *judge) toldOf(m *match, r *replay) {
	from, to := time.UnixMilli(m.CreatedAt), time.UnixMilli(m.ExpiresAt)
	world := j.opts.Worlds[m.World]
	if world.Held || world.seats() {
		from = m.since[r.name] // it stood, or took the player in, some time after it was formed
	}
	if world.seats() && slices.ContainsFunc(r.ends, func(end ending) bool { return end.match == m.ID }) {
		return
	}
	if left, ok := r.released(m.ID); ok && left.Before(to) {
		to = left
	}
	for _, c := range r.conns {
		if c.welcomed.IsZero() || j.lossBetween(from, c.welcomed) {
			continue
		}
		if c.hello.After(m.since[r.name]) && c.welcomed.Before(to) && (c.truth.Match == nil || c.truth.Match.ID != m.ID) {
			j.blame(3, c.welcomed, r.name, "match %s is open, and the welcome does not name it", m.ID)
		}
	}
	if j.until.Before(to) {
		to = j.until
	}
	for _, c := range r.conns {
		if !c.welcomed.IsZero() && !j.toldDuring(m, r, c, from, to) {
			j.blame(3, c.welcomed, r.name, "was connected from %s and never told of match %s, open from %s to %s",
				c.welcomed.Format("15:04:05.000"), m.ID, from.Format("15:04:05.000"), to.Format("15:04:05.000"))
		}
	}
}

// toldDuring reports whether the player knew of the match at the latest when a connection had stood long
// enough while the match was open.
func (j *judge) toldDuring(m *match, r *replay, c *conn, from, to time.Time) bool {
	if c.welcomed.After(from) {
		from = c.welcomed
	}
	if !c.ended.IsZero() && c.ended.Before(to) {
		to = c.ended
	}
	if !j.patienceFrom(from).Before(to) || j.mayHaveLost(time.UnixMilli(m.CreatedAt), to, m.members...) {
		return true
	}
	for _, told := range r.tellings {
		if told.match.ID == m.ID && told.at.Before(to) {
			return true
		}
	}
	return false
}

func (j *judge) lossBetween(from, to time.Time) bool {
	for _, loss := range j.losses {
		if !loss.From.After(to) && !loss.To.Before(from) {
			return true
		}
	}
	return false
}
