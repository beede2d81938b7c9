package store

import (
	"fmt"
	"strconv"
	"strings"

	"muster/internal/ident"
)

// Notification is what one script call tells the sessions of one instance: by publish, or to the caller itself
// in its reply.
type Notification struct {
	// Number counts what the instance was told, without gaps, in the life of its lease.
	Number int64
	Epoch  ident.Place
	// Matches are the texts of matches that Changes name.
	Matches map[ident.Match]string
	Changes []Change
	// Requeued are the players who are back at their places, as a match fell through.
	Requeued []Requeued
	// Replaced are the players that a newer session has, with its generation.
	Replaced []Session
}

// Requeued is a player that is back at its places.
type Requeued struct {
	Session
	// Match is the one that fell through.
	Match ident.Match
	// Ranks has how each of its tickets stands, at Now by Redis' clock (Unix milliseconds).
	Ranks map[ident.World]Rank
	Now   int64
}

// Change is a player's new record, for the session of that generation.
type Change struct {
	Session
	// Record is the record's text; it names its version.
	Record string
	// Notice is the text of the end that brought it about, if it was one; see ParseNotice.
	Notice string
}

// Session names a player's session: the player and the generation that the session took.
type Session struct {
	Player     ident.Player
	Generation ident.Place
}

// parseTold reads what a publish or a reply carried.
func parseTold(text string) (Notification, error) {
	head, rest, _ := strings.Cut(text, "\n")
	number, epoch, _ := strings.Cut(head, " ")
	n := numbers{text: head}
	told := Notification{Number: n.parse(number), Epoch: n.place(epoch)}
	for line := range strings.Lines(rest) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case f[0] == "M" && len(f) == 3:
			if told.Matches == nil {
				told.Matches = map[ident.Match]string{}
			}
			told.Matches[ident.Match(f[1])] = f[2]
		case f[0] == "P" && (len(f) == 4 || len(f) == 5):
			c := Change{Session: Session{ident.Player(f[1]), n.place(f[2])}, Record: f[3]}
			if len(f) == 5 {
				c.Notice = f[4]
			}
			told.Changes = append(told.Changes, c)
		case f[0] == "Q" && len(f) == 6:
			told.Requeued = append(told.Requeued, Requeued{
				Session: Session{ident.Player(f[1]), n.place(f[2])}, Match: ident.Match(f[3]), Now: n.parse(f[4]), Ranks: n.ranks(f[5]),
			})
		case f[0] == "R" && len(f) == 3:
			told.Replaced = append(told.Replaced, Session{ident.Player(f[1]), n.place(f[2])})
		default:
			return Notification{}, fmt.Errorf("told line %q is none of M, P, Q, R", line)
		}
	}
	return told, n.err
}

// deliver hands over what a call told this instance's own sessions, and counts the tickets that it ended. It is not in time
// where this instance is about to enter another epoch than that of the call, which it returns, or has.
func (s *Store) deliver(r reply) (epoch ident.Place, inTime bool) {
	if r.status() != statusDone {
		return 0, true
	}
	own, counts, _ := strings.Cut(r.text(1), "\n#")
	s.countEnded(strings.Fields(counts))
	if own == "" {
		return 0, true
	}
	told, err := parseTold(own)
	if err != nil {
		return 0, true
	}
	return told.Epoch, s.onNotification(told)
}

// countEnded counts tickets that ended; counts are reasons and numbers in turn.
func (s *Store) countEnded(counts []string) {
	for i := 0; s.opts.TicketsEnded != nil && i+1 < len(counts); i += 2 {
		if n, err := strconv.Atoi(counts[i+1]); err == nil {
			s.opts.TicketsEnded(counts[i], n)
		}
	}
}
