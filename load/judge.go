package load

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"muster/protocol"
)

// Kind is a way in which a server can be wrong.
type Kind string

// The kinds.
const (
	DoubleBooking  Kind = "double_booking"  // a player in two matches that were open at once
	WrongSize      Kind = "wrong_size"      // a match with too many or too few players, or one of them twice
	NotParticipant Kind = "not_participant" // told of a match without being in it
	NotAsked       Kind = "not_asked"       // told of a match without having joined
	ToldOtherwise  Kind = "told_otherwise"  // other rooms or players than another participant was told
	NeverTold      Kind = "never_told"      // in a match, or one of enough who wait, and not told
	Lost           Kind = "lost"            // told `joined`, and now neither waits nor was told why
	Unanswered     Kind = "unanswered"      // asked, connected and not answered
)

// Violation is one case of a kind.
type Violation struct {
	Kind   Kind   `json:"kind"`
	Detail string `json:"detail"`
}

// maxExamples is how many violations are described; all are counted.
const maxExamples = 20

// judge learns what each player is told and finds what cannot be right. It forgets a match once all
// of its players know it, so that a long run needs no more memory than a short one. Its methods may be
// called concurrently.
type judge struct {
	worlds map[string]world
	// met is called, without mu, for each match when all of its players know it. lastJoin is when the
	// last of them had joined; zero where not all are of this run.
	met func(lastJoin, lastTold time.Time)

	mu       sync.Mutex
	players  map[string]*booking // guarded by mu, as all below
	open     map[string]*meeting // known to some of its players, not to all
	matches  int
	foreign  int // matches with players who are not of this run
	counts   map[Kind]int
	examples []Violation
}

// booking is what stands of a player of this run.
type booking struct {
	joined time.Time       // when its last join was sent
	match  *protocol.Match // nil where it is in none
}

// meeting is a match as the players of this run learn of it.
type meeting struct {
	match    *protocol.Match // as first told
	absent   map[string]bool // of this run, and not told yet
	lastJoin time.Time
	lastTold time.Time
}

func newJudge(worlds map[string]world, met func(lastJoin, lastTold time.Time)) *judge {
	return &judge{
		worlds: worlds, met: met,
		players: map[string]*booking{}, open: map[string]*meeting{}, counts: map[Kind]int{},
	}
}

// add makes a player one of this run.
func (j *judge) add(player string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.players[player] = &booking{}
}

// joins is to be called before a player's join is sent.
func (j *judge) joins(player string, at time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.players[player].joined = at
}

// frees tells that a match has ended for a player. Where the player leaves it, it is to be called
// before that is sent.
func (j *judge) frees(player, match string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if b := j.players[player]; b.match != nil && b.match.ID == match {
		b.match = nil
	}
}

// tell takes in that a player was told of a match, for the first time.
func (j *judge) tell(player string, match *protocol.Match, at time.Time) {
	done := j.learn(player, match, at)
	if done != nil {
		j.met(done.lastJoin, done.lastTold)
	}
}

// learn is tell without the call of met: it returns the meeting if it is complete by now.
func (j *judge) learn(player string, match *protocol.Match, at time.Time) *meeting {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !participates(match, player) {
		j.blame(NotParticipant, "%s was told of match %s and is not in it", player, match.ID)
		return nil
	}
	m := j.open[match.ID]
	if m == nil {
		m = j.meet(match)
	}
	if !slices.Equal(m.match.Players, match.Players) || !maps.Equal(m.match.Rooms, match.Rooms) {
		j.blame(ToldOtherwise, "%s was told other rooms or players of match %s than another", player, match.ID)
	}
	delete(m.absent, player)
	m.lastTold = at
	if len(m.absent) > 0 {
		return nil
	}
	delete(j.open, match.ID)
	return m
}

// meet takes in a match that nobody was told of before, and books its players. The caller holds mu.
func (j *judge) meet(match *protocol.Match) *meeting {
	m := &meeting{match: match, absent: map[string]bool{}}
	j.open[match.ID] = m
	j.matches++
	j.measure(match)
	ours := true
	for _, p := range match.Players {
		b := j.players[p.ID]
		if b == nil {
			ours = false
			continue
		}
		// Both times are of the server's clock.
		if b.match != nil && b.match.ID != match.ID && b.match.ExpiresAt > match.CreatedAt {
			j.blame(DoubleBooking, "%s is in match %s and in match %s", p.ID, b.match.ID, match.ID)
		}
		b.match = match
		m.absent[p.ID] = true
		if b.joined.After(m.lastJoin) {
			m.lastJoin = b.joined
		}
	}
	if !ours {
		j.foreign++
		m.lastJoin = time.Time{}
	}
	return m
}

// measure holds a match against the size that its world asks for. The caller holds mu.
func (j *judge) measure(match *protocol.Match) {
	names := map[string]bool{}
	for _, p := range match.Players {
		names[p.ID] = true
	}
	w := j.worlds[match.World]
	switch n := len(match.Players); {
	case n != len(names):
		j.blame(WrongSize, "match %s has a player twice", match.ID)
	case w.exact() && n != w.Size, w.Size > 0 && n > w.Size:
		j.blame(WrongSize, "match %s of %s has %d players, not %d", match.ID, match.World, n, w.Size)
	}
}

// end blames the server for each participant who is connected and was never told.
func (j *judge) end(connected map[string]bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for id, m := range j.open {
		for player := range m.absent {
			if connected[player] {
				j.blame(NeverTold, "%s is in match %s, as others were told, and was not", player, id)
			}
		}
	}
}

// total is how many matches were heard of.
func (j *judge) total() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return int64(j.matches)
}

// fault counts a violation that was found elsewhere.
func (j *judge) fault(kind Kind, format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.blame(kind, format, args...)
}

// blame counts a violation. The caller holds mu.
func (j *judge) blame(kind Kind, format string, args ...any) {
	j.counts[kind]++
	if len(j.examples) < maxExamples {
		j.examples = append(j.examples, Violation{kind, fmt.Sprintf(format, args...)})
	}
}

func participates(match *protocol.Match, player string) bool {
	return slices.ContainsFunc(match.Players, func(p protocol.Player) bool { return p.ID == player })
}
