package history

import (
	"cmp"
	"slices"
	"time"
)

// queuer is a ticket whose place in the order is known: its player waited in this world only, connected
// all the time, until the match.
type queuer struct {
	player       string
	sent, joined time.Time
	match        *match
}

// oldestFirst checks rule 5: of two whose joins did not overlap, the one that joined first is not in a
// match that was formed later.
func (j *judge) oldestFirst() {
	for name, world := range j.opts.Worlds {
		if world.Cooldown {
			continue
		}
		j.oldestFirstIn(name)
	}
}

func (j *judge) oldestFirstIn(world string) {
	byJoined := j.queuersOf(world)
	bySent := slices.Clone(byJoined)
	slices.SortFunc(byJoined, func(a, b queuer) int { return a.joined.Compare(b.joined) })
	slices.SortFunc(bySent, func(a, b queuer) int { return a.sent.Compare(b.sent) })
	var last *queuer // of those that had joined before, the one that was matched last
	next := 0
	for i := range bySent {
		later := &bySent[i]
		for ; next < len(byJoined) && byJoined[next].joined.Before(later.sent); next++ {
			if last == nil || cmp.Compare(byJoined[next].match.CreatedAt, last.match.CreatedAt) > 0 {
				last = &byJoined[next]
			}
		}
		if last != nil && last.match.CreatedAt > later.match.CreatedAt {
			j.blame(5, last.match.known, last.player, "joined %s before %s, and was matched %d ms after it",
				world, later.player, last.match.CreatedAt-later.match.CreatedAt)
		}
	}
}

func (j *judge) queuersOf(world string) []queuer {
	var all []queuer
	for _, r := range j.players {
		for _, t := range r.tickets {
			m := j.matches[t.match]
			if t.world != world || m == nil || m.World != world || !t.alone || t.sent.IsZero() ||
				m.CreatedAt < t.enqueuedAt || !stayed(r, t) || j.troubled(t.sent, t.ended) {
				continue
			}
			all = append(all, queuer{r.name, t.sent, t.joined, m})
		}
	}
	return all
}

// stayed reports whether the player had one connection from the join to the match.
func stayed(r *replay, t *ticket) bool {
	c := r.stay(t.ended)
	return c != nil && c.number == t.conn
}
