package history

import (
	"cmp"
	"slices"
	"time"
)

// sitting is a time in which a player, connected, believed to be in a match with seats.
type sitting struct {
	player   string
	from, to time.Time
}

// noSeatTwice checks rule 2 for matches with seats: at no time more players believe to be in one than it has seats. Who
// lost a seat has some time to learn of it, and those who are away learn of it later.
func (j *judge) noSeatTwice() {
	rooms := map[string][]sitting{}
	for _, r := range j.players {
		for match, list := range j.sittings(r) {
			rooms[match] = append(rooms[match], list...)
		}
	}
	for match, list := range rooms {
		j.seatedOnce(j.matches[match], list)
	}
}

func (j *judge) seatedOnce(m *match, list []sitting) {
	type turn struct {
		at   time.Time
		by   int
		name string
	}
	var turns []turn
	for _, s := range list {
		turns = append(turns, turn{s.from, 1, s.player}, turn{s.to, -1, s.player})
	}
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.by, b.by)) })
	taken := 0
	for _, t := range turns {
		if taken += t.by; taken > j.opts.Worlds[m.World].Size {
			j.blame(2, t.at, t.name, "is the player number %d of match %s, which has seats for %d", taken, m.ID, j.opts.Worlds[m.World].Size)
			return
		}
	}
}

// sittings are those of a player, by match.
func (j *judge) sittings(r *replay) map[string][]sitting {
	all := map[string][]sitting{}
	var match string
	var from time.Time
	end := func(at time.Time) {
		for _, c := range r.conns {
			if s, ok := j.sittingDuring(c, from, at); ok && match != "" {
				s.player = r.name
				all[match] = append(all[match], s)
			}
		}
		match = ""
	}
	for _, b := range r.beliefs {
		if match != "" && b.match != match {
			end(b.at)
		}
		if m := j.matches[b.match]; b.match != "" && match == "" && m != nil && j.opts.Worlds[m.World].seats() {
			match, from = b.match, b.at
		}
	}
	end(j.until)
	return all
}

// sittingDuring is the part of a sitting in which a connection stood. It is over as soon as its end may have been on
// its way.
func (j *judge) sittingDuring(c *conn, from, to time.Time) (sitting, bool) {
	if c.welcomed.IsZero() {
		return sitting{}, false
	}
	if c.welcomed.After(from) {
		from = c.welcomed
	}
	if !c.ended.IsZero() && c.ended.Before(to) {
		to = c.ended
	}
	to = j.surelyBefore(to)
	return sitting{from: from, to: to}, from.Before(to)
}

// surelyBefore is the last moment of which what was to be told had to come before another: patienceFrom, backwards.
func (j *judge) surelyBefore(due time.Time) time.Time {
	at := due.Add(-j.opts.Patience)
	for j.patienceFrom(at).After(due) {
		var latest time.Time
		for _, trouble := range j.troubles {
			if begins := trouble.From.Add(-j.opts.Patience); begins.Before(at) && begins.After(latest) {
				latest = begins
			}
		}
		at = latest
	}
	return at
}
