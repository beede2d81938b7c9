package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"muster/internal/ident"
	"muster/store"
)

// change is what a batch of events says of one match.
type change struct {
	id ident.Match
	// match is the newest of the texts; nil where the batch only says that the match is over.
	match  *store.Match
	record string
	// players are all that some text names, as the newest of those has them.
	players map[ident.Player]seat
	// first is when the earliest of the events was.
	first time.Time
	// proposed, allocating and completed are when the match came to be so; nil where the batch does not say.
	proposed, allocating, completed *time.Time
	// over is the event that ended it, if any.
	over *store.Event
}

// seat is a player in a match, as of a version of the match.
type seat struct {
	number                int
	version               ident.Place
	accepted, shown, gone bool
}

// fold puts events of one match together, in whatever order they come. The changes are sorted by id, so that two
// instances lock rows in the same order.
func fold(events []store.Event) ([]change, error) {
	changes := make(map[ident.Match]*change)
	for _, e := range events {
		if e.Kind == store.PlayerDequeued {
			continue
		}
		c := changes[e.Match]
		if c == nil {
			c = &change{id: e.Match, first: time.UnixMilli(e.At), players: make(map[ident.Player]seat)}
			changes[e.Match] = c
		}
		if err := c.add(e); err != nil {
			return nil, err
		}
	}
	sorted := make([]change, 0, len(changes))
	for _, c := range changes {
		sorted = append(sorted, *c)
	}
	slices.SortFunc(sorted, func(a, b change) int { return cmp.Compare(a.id, b.id) })
	return sorted, nil
}

func (c *change) add(e store.Event) error {
	if isOutOfRange(e.At, latest) {
		return &invalidError{fmt.Errorf("match %s: time %d is out of range", e.Match, e.At)}
	}
	at := time.UnixMilli(e.At)
	if at.Before(c.first) {
		c.first = at
	}
	switch e.Kind {
	case store.MatchProposed:
		earliest(&c.proposed, at)
	case store.MatchAllocating:
		earliest(&c.allocating, at)
	case store.MatchComplete:
		earliest(&c.completed, at)
	case store.MatchCancelled, store.MatchEnded:
		if c.over == nil {
			c.over = &e
		}
	case store.MatchUpdate, store.PlayerDequeued:
	}
	if e.Record == "" {
		return nil
	}
	m, err := store.ParseMatch(e.Match, e.Record)
	if err != nil {
		return &invalidError{err}
	}
	if isOutOfRange(m.Created.UnixMilli(), latest) || isOutOfRange(m.EndsAt, latest) || isOutOfRange(m.AcceptBy, latest) ||
		isOutOfRange(int64(m.Open), math.MaxInt32) || isOutOfRange(int64(m.Taken), math.MaxInt32) {
		return &invalidError{fmt.Errorf("match %s: a number of %q is out of range", e.Match, e.Record)}
	}
	if c.match == nil || m.Version > c.match.Version {
		c.match, c.record = &m, e.Record
	}
	for i, p := range m.Players {
		if m.Version > c.players[p].version {
			c.players[p] = seat{
				number: i, version: m.Version, accepted: slices.Contains(m.Accepted, p), shown: slices.Contains(m.Shown, p),
				gone: slices.Contains(m.Left, p),
			}
		}
	}
	return nil
}

// latest is the end of the year 9999, in Unix milliseconds. What lies far behind it would be another time in
// PostgreSQL.
const latest = 253_402_300_799_999

// isOutOfRange reports whether a number does not fit its column. The driver would refuse it with an error that does not
// differ from an outage.
func isOutOfRange(n, most int64) bool { return n < 0 || n > most }

func earliest(known **time.Time, at time.Time) {
	if *known == nil || at.Before(**known) {
		*known = &at
	}
}

// The states of a match that is over; the others are as Redis has them.
const (
	stateCancelled = "cancelled"
	stateEnded     = "ended"
)

// end is the state, the reason and the time of a match that is over; "" and nil of one that is not.
func (c change) end() (state, reason string, at *time.Time) {
	if c.over == nil {
		return "", "", nil
	}
	t := time.UnixMilli(c.over.At)
	if c.over.Kind == store.MatchCancelled {
		return stateCancelled, c.over.Reason, &t
	}
	return stateEnded, c.over.Reason, &t
}

// matchRows are changes as columns, for one statement.
type matchRows struct {
	id, world, state, rooms, endpoint, record               []string
	version, epoch, openSeats, takenSeats                   []int64
	createdAt                                               []time.Time
	endsAt, acceptBy, proposedAt, allocatingAt, completedAt []*time.Time
	overState, overReason                                   []string
	overAt                                                  []*time.Time
}

func rowsOf(changes []change) matchRows {
	var r matchRows
	for _, c := range changes {
		m, state := c.match, ""
		overState, overReason, overAt := c.end()
		created := c.first
		if m == nil {
			m, state = &store.Match{}, overState
		} else {
			created, state = time.UnixMilli(m.Created.UnixMilli()), m.State
		}
		r.id, r.world, r.state = append(r.id, string(c.id)), append(r.world, string(m.World)), append(r.state, state)
		r.rooms, r.endpoint = append(r.rooms, roomsJSON(m.Rooms)), append(r.endpoint, string(m.Endpoint))
		r.record = append(r.record, c.record)
		r.version, r.epoch = append(r.version, int64(m.Version)), append(r.epoch, int64(m.Epoch))
		r.openSeats, r.takenSeats = append(r.openSeats, int64(m.Open)), append(r.takenSeats, int64(m.Taken))
		r.createdAt, r.endsAt = append(r.createdAt, created), append(r.endsAt, timeOf(m.EndsAt))
		r.acceptBy = append(r.acceptBy, timeOf(m.AcceptBy))
		r.proposedAt, r.allocatingAt = append(r.proposedAt, c.proposed), append(r.allocatingAt, c.allocating)
		r.completedAt = append(r.completedAt, c.completed)
		r.overState, r.overReason = append(r.overState, overState), append(r.overReason, overReason)
		r.overAt = append(r.overAt, overAt)
	}
	return r
}

// playerRows are players of matches as columns.
type playerRows struct {
	match, player         []string
	seat, version         []int64
	accepted, shown, gone []bool
}

func playersOf(changes []change) playerRows {
	var r playerRows
	for _, c := range changes {
		for p, s := range c.players {
			r.match, r.player = append(r.match, string(c.id)), append(r.player, string(p))
			r.seat, r.version = append(r.seat, int64(s.number)), append(r.version, int64(s.version))
			r.accepted, r.shown, r.gone = append(r.accepted, s.accepted), append(r.shown, s.shown), append(r.gone, s.gone)
		}
	}
	return r
}

// timeOf is a time of Redis; nil where there is none.
func timeOf(ms int64) *time.Time {
	if ms == 0 {
		return nil
	}
	t := time.UnixMilli(ms)
	return &t
}

func roomsJSON(rooms []store.Room) string {
	byName := make(map[string]string, len(rooms))
	for _, room := range rooms {
		byName[room.Name] = room.ID
	}
	text, err := json.Marshal(byName)
	if err != nil {
		panic(err) // texts can be marshalled
	}
	return string(text)
}
