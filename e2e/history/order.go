package history

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// queuer is a time in which a ticket surely could be matched: its player was connected, waited in this world only, and
// was in no match. The times are milliseconds.
type queuer struct {
	player   string
	joined   time.Time // of the ticket
	from, to int64
	known    time.Time // when its player heard of the end
}

// formed is that a ticket was taken into a match that was formed for it.
type formed struct {
	player string
	sent   time.Time // of the ticket's join
	at     int64     // in milliseconds
}

// oldestFirst checks rule 5: while a ticket can be matched, none that was asked for after it had joined is taken into a
// new match. A ticket that is back from a match that fell through is as old as it was.
func (j *judge) oldestFirst() {
	for name, world := range j.opts.Worlds {
		if !world.Cooldown && !world.Fill {
			j.oldestFirstIn(name)
		}
	}
}

func (j *judge) oldestFirstIn(world string) {
	queuers, all := j.queuersOf(world)
	slices.SortFunc(queuers, func(a, b queuer) int { return cmp.Compare(a.from, b.from) })
	slices.SortFunc(all, func(a, b formed) int { return cmp.Compare(a.at, b.at) })
	var waiting []queuer
	next := 0
	for _, f := range all {
		for ; next < len(queuers) && queuers[next].from < f.at; next++ {
			waiting = append(waiting, queuers[next])
		}
		waiting = slices.DeleteFunc(waiting, func(q queuer) bool { return q.to <= f.at })
		for _, q := range waiting {
			if q.player != f.player && q.joined.Before(f.sent) {
				j.blame(5, q.known, q.player, "joined %s before %s, and was matched %d ms after it", world, f.player, q.to-f.at)
				j.violations[len(j.violations)-1].Other = f.player
			}
		}
	}
}

// queuersOf are the times in which tickets of a world could be matched, and the matches that were formed for them.
func (j *judge) queuersOf(world string) ([]queuer, []formed) {
	var queuers []queuer
	var all []formed
	for _, r := range j.players {
		for _, t := range r.tickets {
			if t.world != world || t.sent.IsZero() {
				continue
			}
			q, f := j.storyOf(r, t)
			queuers, all = append(queuers, q...), append(all, f...)
		}
	}
	return queuers, all
}

// storyOf is what became of a ticket: the times in which it could be matched, and the matches that it was taken into.
func (j *judge) storyOf(r *replay, t *ticket) (queuers []queuer, all []formed) {
	from := t.joined
	for _, s := range j.stepsOf(r, t) {
		if s.created > 0 && s.world == t.world {
			all = append(all, formed{r.name, t.sent, s.created})
		}
		waited := s.created > 0 && t.alone && !from.IsZero() && stayed(r, t, s.at) && !j.troubled(t.sent, s.at)
		if waited && s.created > from.UnixMilli() {
			queuers = append(queuers, queuer{r.name, t.joined, from.UnixMilli(), s.created, s.at})
		}
		from = time.Time{}
		if s.back {
			from = s.at
		}
	}
	return queuers, all
}

// step is one thing that happened to a ticket: it was taken by a match, or is back.
type step struct {
	at      time.Time // when its player was told
	world   string
	created int64 // when the match was formed that took it; 0 where that is not known
	back    bool
}

// stepsOf are those of a ticket, in order.
func (j *judge) stepsOf(r *replay, t *ticket) []step {
	end := t.ended
	if end.IsZero() {
		end = j.until
	}
	var steps []step
	for _, p := range r.proposals {
		if p.CreatedAt >= t.enqueuedAt && !p.at.After(end) {
			steps = append(steps, step{p.at, p.World, p.CreatedAt, false})
		}
	}
	for _, f := range r.falls {
		if !f.at.Before(t.joined) && !f.at.After(end) {
			steps = append(steps, step{at: f.at})
		}
	}
	for _, at := range r.backs[t.id] {
		steps = append(steps, step{at: at, back: true})
	}
	if m := j.matches[t.match]; m != nil && r.proposalOf(m.ID) == nil {
		created := m.CreatedAt
		if created < t.enqueuedAt || !slices.Contains(members(m.Match), r.name) {
			created = 0 // it took a seat
		}
		steps = append(steps, step{t.ended, m.World, created, false})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.at.Compare(b.at) })
	return steps
}

// stayed reports whether the player had one connection from the join to a moment.
func stayed(r *replay, t *ticket, at time.Time) bool {
	c := r.stay(at)
	return c != nil && c.number == t.conn
}

// oldestSeatedFirst checks rule 5 for worlds that fill rooms: nobody waits long while those who joined after it are
// seated. When a seat was given is not told, so that what is late by less than patience is not found.
func (j *judge) oldestSeatedFirst() {
	for name, world := range j.opts.Worlds {
		if world.Fill {
			j.oldestSeatedIn(name)
		}
	}
}

func (j *judge) oldestSeatedIn(world string) {
	type seated struct {
		player     string
		sent, told time.Time
		waited     bool
		joined     time.Time
	}
	var all []seated
	for _, r := range j.players {
		for _, t := range r.tickets {
			if m := j.matches[t.match]; t.world == world && m != nil && m.World == world && !t.sent.IsZero() {
				waited := t.alone && stayed(r, t, t.ended) && !j.troubled(t.sent, t.ended)
				all = append(all, seated{r.name, t.sent, t.ended, waited, t.joined})
			}
		}
	}
	slices.SortFunc(all, func(a, b seated) int { return b.sent.Compare(a.sent) })
	byJoined := slices.Clone(all)
	slices.SortFunc(byJoined, func(a, b seated) int { return b.joined.Compare(a.joined) })
	first, by, next := time.Unix(0, math.MaxInt64), "", 0 // told first of those that were sent later
	for _, q := range byJoined {
		for ; next < len(all) && all[next].sent.After(q.joined); next++ {
			if all[next].told.Before(first) {
				first, by = all[next].told, all[next].player
			}
		}
		if q.waited && by != "" && j.patienceFrom(first).Before(q.told) {
			j.blame(5, q.told, q.player, "joined %s before %s, and was seated %v after it", world, by, q.told.Sub(first))
		}
	}
}
