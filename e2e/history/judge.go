package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// World is what a judge has to know of a world.
type World struct {
	Size int
	// Cooldown tells that a pair may have to wait before it meets again: who waits longest is then not
	// always the next, and some may wait although they are enough.
	Cooldown bool
	// Fill tells that rooms take players one by one, so that one player is enough for a match. Backfill tells that a
	// back end opens seats of matches that players have left.
	Fill, Backfill bool
	// Serving is how long it may take at most to get a match its server, or to give up.
	Serving time.Duration
	// Held tells that a match may be held for a while before it stands: its players are asked, or it needs a server.
	Held bool
}

// seats tells whether the players of a match may change.
func (w World) seats() bool { return w.Fill || w.Backfill }

// needs is how many players make a match.
func (w World) needs() int {
	if w.Fill {
		return 1
	}
	return w.Size
}

// Options say what the history is judged by.
type Options struct {
	Worlds map[string]World
	// Patience is how late a message may come that must come, beyond times of trouble.
	Patience time.Duration
	// SettledAt is a moment at which nothing had changed for a while: whoever can be matched was to be
	// matched by then. Zero where the history has no such moment.
	SettledAt time.Time
	// Grace is how long a player may be away before it loses its places. Calm is how long nobody loses any after
	// Redis was out of everybody's reach.
	Grace, Calm time.Duration
}

// Violation is one thing that a server must never do.
type Violation struct {
	// Rule is the number of the rule in docs/guarantees.md.
	Rule   int
	At     time.Time
	Player string
	// Other is a second player whose log may say more, "" for none.
	Other string
	Text  string
}

// String is the violation on one line.
func (v Violation) String() string {
	return fmt.Sprintf("rule %d: %s %s: %s", v.Rule, v.At.Format("15:04:05.000"), v.Player, v.Text)
}

// judge holds what the checks share.
type judge struct {
	opts     Options
	until    time.Time // when the record ends
	players  []*replay // by name
	byName   map[string]*replay
	matches  map[string]*match
	losses   []Loss
	troubles []Span // losses too
	outages  []Span

	violations []Violation
}

// Judge returns all that the server did wrong, in the order of time.
func (h *History) Judge(opts Options) []Violation {
	j := h.newJudge(opts)
	j.bookedOnce()
	j.wholeMatches()
	j.noSeatTwice()
	j.everybodyTold()
	j.proposalsEnd()
	j.everybodyBack()
	j.onlyWhoDeclinedIsOut()
	j.nothingEndsSilently()
	j.whoLeftIsOut()
	j.oldestFirst()
	j.oldestSeatedFirst()
	j.nobodyWaitsForNothing()
	j.onlyTheLostLose()
	j.everyRequestAnswered()
	j.outagesEvictNobody()
	j.nobodySpeaksForANewer()
	slices.SortStableFunc(j.violations, func(a, b Violation) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Rule, b.Rule))
	})
	return j.violations
}

func (h *History) newJudge(opts Options) *judge {
	h.mu.Lock()
	defer h.mu.Unlock()
	j := &judge{
		opts: opts, byName: map[string]*replay{}, matches: map[string]*match{},
		losses: slices.Clone(h.losses), troubles: slices.Clone(h.troubles), outages: slices.Clone(h.outages),
	}
	for _, loss := range j.losses {
		j.troubles = append(j.troubles, loss.Span)
	}
	for _, name := range slices.Sorted(maps.Keys(h.logs)) {
		r := newReplay(name, h.logs[name].Entries())
		j.players = append(j.players, r)
		j.byName[name] = r
		if n := len(r.entries); n > 0 && r.entries[n-1].At.After(j.until) {
			j.until = r.entries[n-1].At
		}
	}
	j.gatherMatches()
	return j
}

// blame notes a violation.
func (j *judge) blame(rule int, at time.Time, player, format string, args ...any) {
	j.violations = append(j.violations, Violation{Rule: rule, At: at, Player: player, Text: fmt.Sprintf(format, args...)})
}

// patienceFrom is until when something may take that began at a time: troubles stop the clock.
func (j *judge) patienceFrom(at time.Time) time.Time {
	due := at.Add(j.opts.Patience)
	for changed := true; changed; {
		changed = false
		for _, trouble := range j.troubles {
			to := trouble.To
			if to.IsZero() {
				to = j.until
			}
			if trouble.From.Before(due) && to.After(at) && due.Before(to.Add(j.opts.Patience)) {
				due, changed = to.Add(j.opts.Patience), true
			}
		}
	}
	return due
}

// safe reports whether a player was connected, through the whole of a loss, to an instance that lived
// through it. All others may have lost their places with it.
func (j *judge) safe(player string, loss Loss) bool {
	r, ok := j.byName[player]
	if !ok {
		return false
	}
	for _, c := range r.conns {
		if !c.welcomed.IsZero() && c.welcomed.Before(loss.From) && (c.ended.IsZero() || c.ended.After(loss.To)) {
			return !slices.Contains(loss.Instances, c.instance)
		}
	}
	return false
}

// mayHaveLost reports whether a loss between two moments excuses what one of the players lost.
func (j *judge) mayHaveLost(from, to time.Time, players ...string) bool {
	for _, loss := range j.losses {
		if loss.From.After(to) || loss.To.Before(from) {
			continue
		}
		if slices.ContainsFunc(players, func(p string) bool { return !j.safe(p, loss) }) {
			return true
		}
	}
	return false
}

// Report is the violations, one a line, the first of them where there are many.
func Report(violations []Violation) string {
	const most = 40
	var b strings.Builder
	for i, v := range violations {
		if i == most {
			fmt.Fprintf(&b, "… and %d more\n", len(violations)-most)
			break
		}
		fmt.Fprintln(&b, v)
	}
	return b.String()
}
