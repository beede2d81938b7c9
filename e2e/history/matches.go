package history

import (
	"maps"
	"slices"
	"time"

	"github.com/musterhq/muster/protocol"
)

// match is a match as the first of all tellings had it.
type match struct {
	*protocol.Match
	known   time.Time // when anybody was first told of it
	teller  string
	members []string // sorted, each once
}

func (j *judge) gatherMatches() {
	for _, r := range j.players {
		for _, told := range r.tellings {
			m, ok := j.matches[told.match.ID]
			if !ok || told.at.Before(m.known) {
				j.matches[told.match.ID] = &match{told.match, told.at, r.name, members(told.match)}
			}
		}
	}
}

func members(m *protocol.Match) []string {
	var names []string
	for _, p := range m.Players {
		names = append(names, p.ID)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// sortedMatches are all matches, the oldest first.
func (j *judge) sortedMatches() []*match {
	return slices.SortedFunc(maps.Values(j.matches), func(a, b *match) int {
		if a.CreatedAt != b.CreatedAt {
			return int(a.CreatedAt - b.CreatedAt)
		}
		return a.known.Compare(b.known)
	})
}

// bookedOnce checks rule 1: nobody is in two open matches, by what each was told itself and by what all
// were told together.
func (j *judge) bookedOnce() {
	for _, r := range j.players {
		for _, o := range r.overlaps {
			j.blame(1, o.at, r.name, "was told of match %s while %s is open", o.second, o.first)
		}
		for _, at := range r.both {
			j.blame(1, at, r.name, "a state names a match and tickets at once")
		}
	}
	of := map[string][]*match{}
	for _, m := range j.sortedMatches() {
		for _, name := range m.members {
			for _, earlier := range of[name] {
				if j.bothOpen(name, earlier, m) {
					j.blame(1, m.known, name, "is in match %s of %d while %s stands until %d",
						m.ID, m.CreatedAt, earlier.ID, earlier.ExpiresAt)
				}
			}
			of[name] = append(of[name], m)
		}
	}
}

// bothOpen reports whether a player was in a match still when a later one was formed.
func (j *judge) bothOpen(name string, earlier, later *match) bool {
	if later.CreatedAt >= earlier.ExpiresAt || j.mayHaveLost(time.UnixMilli(earlier.CreatedAt), later.known, name) {
		return false
	}
	r, ok := j.byName[name]
	if !ok {
		return true
	}
	from, released := r.released(earlier.ID)
	return !released || later.CreatedAt < from.UnixMilli()
}

// wholeMatches checks rule 2: a match has exactly the players that its world asks for, who asked for it
// and did not leave, and all are told the same.
func (j *judge) wholeMatches() {
	for _, r := range j.players {
		for _, told := range r.tellings {
			j.wholeMatch(r, told)
		}
	}
}

func (j *judge) wholeMatch(r *replay, told telling) {
	m, first := told.match, j.matches[told.match.ID]
	world, known := j.opts.Worlds[m.World]
	switch {
	case !known:
		j.blame(2, told.at, r.name, "match %s is of the unknown world %q", m.ID, m.World)
	case len(m.Players) != world.Size || len(members(m)) != world.Size:
		j.blame(2, told.at, r.name, "match %s of %s has not %d distinct players: %v", m.ID, m.World, world.Size, m.Players)
	}
	if !slices.Contains(members(m), r.name) {
		j.blame(2, told.at, r.name, "was told of match %s of others: %v", m.ID, m.Players)
	}
	if !slices.Equal(members(m), first.members) || !maps.Equal(m.Rooms, first.Rooms) || m.World != first.World || len(m.Rooms) == 0 {
		j.blame(2, told.at, r.name, "match %s was told otherwise to %s: %v %v, %v %v",
			m.ID, first.teller, m.Players, m.Rooms, first.Players, first.Rooms)
	}
	if told.early {
		j.blame(2, told.at, r.name, "match %s came before the reply to the join", m.ID)
	}
	if !r.asked(m) && !j.lossBetween(first.known.Add(-j.opts.Patience), first.known) {
		j.blame(2, told.at, r.name, "was put into match %s of %s without waiting there", m.ID, m.World)
	}
}

// asked reports whether the player may have waited in the match's world when the match was formed: it had
// sent a join there, and no leave of it was answered before the match was formed, nor was a match of it
// left, without a join after.
func (r *replay) asked(m *protocol.Match) bool {
	waits := false
	for _, e := range r.entries {
		at := e.At.UnixMilli()
		switch x := e.message().(type) {
		case *protocol.Join:
			waits = waits || x.World == m.World && at <= m.CreatedAt
		case *protocol.LeaveMatch:
			waits = waits && at >= m.CreatedAt
		case *protocol.Left:
			if at < m.CreatedAt && slices.Contains(x.Worlds, m.World) {
				waits = r.joinsAfter(e.At, m)
			}
		}
	}
	return waits
}

// joinsAfter reports whether a join of the match's world is sent between a moment and the match, or was
// sent but not answered by then: requests may be pipelined.
func (r *replay) joinsAfter(at time.Time, m *protocol.Match) bool {
	for _, e := range r.entries {
		join, ok := e.Request.(*protocol.Join)
		if !ok || join.World != m.World || e.At.UnixMilli() > m.CreatedAt {
			continue
		}
		if e.At.After(at) || r.answeredAfter(e, at) {
			return true
		}
	}
	return false
}

// answeredAfter reports whether the reply to a request came after a moment, or never.
func (r *replay) answeredAfter(request Entry, at time.Time) bool {
	for _, e := range r.entries {
		if e.Kind == Heard && e.Conn == request.Conn && e.Event.MessageID() == request.Request.MessageID() {
			return e.At.After(at)
		}
	}
	return true
}
