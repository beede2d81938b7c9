package history

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"muster/protocol"
)

// match is a match as the first of all tellings had it.
type match struct {
	*protocol.Match
	known   time.Time // when anybody was first told of it
	teller  string
	told    []string  // all who were told of it
	last    time.Time // when anybody was last told of it
	members []string  // sorted, each once; of a match with seats all who were ever in it
	// since is when anybody was first told that a player is in it, and expires by when it is over by the latest telling.
	since   map[string]time.Time
	expires int64
}

func (j *judge) gatherMatches() {
	for _, r := range j.players {
		for _, told := range r.tellings {
			m, ok := j.matches[told.match.ID]
			if !ok {
				m = &match{since: map[string]time.Time{}}
				j.matches[told.match.ID] = m
			}
			m.take(r.name, told)
		}
	}
	for _, m := range j.matches {
		m.members = members(m.Match)
		if j.opts.Worlds[m.World].seats() {
			m.members = slices.Sorted(maps.Keys(m.since))
		}
	}
}

// take adds one telling.
func (m *match) take(teller string, told telling) {
	if m.Match == nil || told.at.Before(m.known) {
		m.Match, m.known, m.teller = told.match, told.at, teller
	}
	m.expires = max(m.expires, told.match.ExpiresAt)
	if told.at.After(m.last) {
		m.last = told.at
	}
	if !slices.Contains(m.told, teller) {
		m.told = append(m.told, teller)
	}
	for _, name := range members(told.match) {
		if at, ok := m.since[name]; !ok || told.at.Before(at) {
			m.since[name] = told.at
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
	for name, stays := range j.stays() {
		slices.SortFunc(stays, func(a, b stay) int { return cmp.Compare(a.from, b.from) })
		for i, later := range stays {
			for _, earlier := range stays[:i] {
				if earlier.match != later.match && later.from < earlier.to && !j.mayHaveLost(time.UnixMilli(earlier.from), later.known, name) &&
					!j.forgotten(earlier.match, name, later.known) {
					j.blame(1, later.known, name, "is in match %s of %d while %s stands until %d",
						later.match, later.from, earlier.match, earlier.to)
					j.violations[len(j.violations)-1].Other = j.teller(earlier.match)
				}
			}
		}
	}
}

// forgotten reports whether a match went with a loss of history as nobody was left who could bring it back: the player was
// never told of it, whoever was had left it or is not safe in the loss, and nobody was told of it afterwards.
func (j *judge) forgotten(id, name string, by time.Time) bool {
	m, ok := j.matches[id]
	if !ok || slices.Contains(m.told, name) {
		return false
	}
	return slices.ContainsFunc(j.losses, func(loss Loss) bool {
		if loss.To.Before(time.UnixMilli(m.CreatedAt)) || loss.From.After(by) || m.last.After(loss.To) || m.last.After(by) {
			return false
		}
		return !slices.ContainsFunc(m.told, func(teller string) bool {
			left, released := j.byName[teller].released(id)
			hasLeft := released && !left.IsZero() && !left.After(loss.To)
			return !hasLeft && j.safe(teller, loss)
		})
	})
}

// teller is who was told of a match first, "" of one that nobody was.
func (j *judge) teller(id string) string {
	if m, ok := j.matches[id]; ok {
		return m.teller
	}
	return ""
}

// stay is a time, in milliseconds, in which a player surely was in a match: to may be too early, and from too late.
type stay struct {
	match    string
	from, to int64
	known    time.Time
}

// stays are all of them, by player.
func (j *judge) stays() map[string][]stay {
	all := map[string][]stay{}
	for _, m := range j.sortedMatches() {
		for _, name := range m.members {
			all[name] = append(all[name], j.stayIn(m, name))
		}
	}
	for _, r := range j.players {
		for _, p := range r.proposals {
			if to, ok := r.cancelled(p.ID); ok && j.matches[p.ID] == nil {
				all[r.name] = append(all[r.name], stay{p.ID, p.CreatedAt, to, p.at})
			}
		}
	}
	return all
}

// stayIn is a player's stay in a match that stood.
func (j *judge) stayIn(m *match, name string) stay {
	s := stay{m.ID, m.CreatedAt, m.ExpiresAt, m.known}
	seats := j.opts.Worlds[m.World].seats()
	if seats {
		s.from, s.known = m.since[name].UnixMilli(), m.since[name]
	}
	r, ok := j.byName[name]
	if !ok {
		return s
	}
	left, released := r.released(m.ID)
	switch {
	case seats && slices.ContainsFunc(r.ends, func(end ending) bool { return end.match == m.ID }):
		s.to = s.from // a seat is given back at any time
	case released && left.IsZero():
		s.to = s.from // told that it is over, and not since when
	case released:
		s.to = min(s.to, left.UnixMilli())
	}
	return s
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
	case world.seats() && (len(m.Players) > world.Size || len(m.Players) == 0 || len(members(m)) != len(m.Players)):
		j.blame(2, told.at, r.name, "match %s of %s has not up to %d distinct players: %v", m.ID, m.World, world.Size, m.Players)
	case !world.seats() && (len(m.Players) != world.Size || len(members(m)) != world.Size):
		j.blame(2, told.at, r.name, "match %s of %s has not %d distinct players: %v", m.ID, m.World, world.Size, m.Players)
	}
	if !slices.Contains(members(m), r.name) {
		j.blame(2, told.at, r.name, "was told of match %s of others: %v", m.ID, m.Players)
	}
	if !world.seats() && !slices.Equal(members(m), first.members) || !maps.Equal(m.Rooms, first.Rooms) || m.World != first.World || len(m.Rooms) == 0 {
		j.blame(2, told.at, r.name, "match %s was told otherwise to %s: %v %v, %v %v",
			m.ID, first.teller, m.Players, m.Rooms, first.Players, first.Rooms)
	}
	if string(m.Endpoint) != string(first.Endpoint) {
		j.blame(2, told.at, r.name, "match %s has the server %s, and was told to %s with %s", m.ID, m.Endpoint, first.teller, first.Endpoint)
	}
	if told.early {
		j.blame(2, told.at, r.name, "match %s came before the reply to the join", m.ID)
	}
	by := m.CreatedAt
	if world.seats() {
		by = told.at.UnixMilli()
	}
	if (!r.asked(m, by) || !r.asked(m, told.at.UnixMilli())) && !j.lossBetween(first.known.Add(-j.opts.Patience), first.known) && !j.leftInVain(r, told) {
		j.blame(2, told.at, r.name, "was put into match %s of %s without waiting there", m.ID, m.World)
	}
}

// leftInVain reports whether a player had left a match, and a loss took that with the player's instance: those who were not
// told of it in time bring back the match as they know it.
func (j *judge) leftInVain(r *replay, told telling) bool {
	left, ok := r.released(told.match.ID)
	return ok && left.Before(told.at) && j.mayHaveLost(left, told.at, r.name)
}

// asked reports whether the player may have waited in the match's world at a moment, in milliseconds: it had sent a
// join there, and no leave of it was answered before that moment, nor was a match of it left or declined, without a
// join after.
func (r *replay) asked(m *protocol.Match, by int64) bool {
	waits := false
	for _, e := range r.entries {
		at := e.At.UnixMilli()
		switch x := e.message().(type) {
		case *protocol.Join:
			waits = waits || x.World == m.World && at <= by
		case *protocol.LeftMatch, *protocol.Declined:
			if at < by {
				waits = r.joinsAfter(e.At, m, by)
			}
		case *protocol.Left:
			if at < by && slices.Contains(x.Worlds, m.World) {
				waits = r.joinsAfter(e.At, m, by)
			}
		}
	}
	return waits
}

// joinsAfter reports whether a join of the match's world is sent between two moments, or was sent but not answered by
// the first: requests may be pipelined.
func (r *replay) joinsAfter(at time.Time, m *protocol.Match, by int64) bool {
	for _, e := range r.entries {
		join, ok := e.Request.(*protocol.Join)
		if !ok || join.World != m.World || e.At.UnixMilli() > by {
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
	if r.answers == nil {
		r.answers = map[requestKey]time.Time{}
		for _, e := range r.entries {
			if e.Kind != Heard {
				continue
			}
			if key := (requestKey{e.Conn, e.Event.MessageID()}); r.answers[key].IsZero() {
				r.answers[key] = e.At
			}
		}
	}
	answered, ok := r.answers[requestKey{request.Conn, request.Request.MessageID()}]
	return !ok || answered.After(at)
}

// requestKey names a request of a player: message ids are unique on a connection only.
type requestKey struct {
	conn int
	id   string
}
