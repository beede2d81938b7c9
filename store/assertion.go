package store

import (
	"context"
	"fmt"

	"muster/internal/ident"
)

// Assertion is what an instance last saw of one of its sessions.
type Assertion struct {
	Session
	// AsOf is the last place at which Record was known to be the truth.
	AsOf ident.Place
	// Record is the record's text; "" for an idle player.
	Record string
	// Match is the text of the match that the record names, if any.
	Match string
}

// Asserted is what became of an assertion.
type Asserted int

const (
	// Stands: Redis has it now.
	Stands Asserted = iota + 1
	// Adopt: Redis has newer knowledge; the session has to look again.
	Adopt
	// Replaced: a newer session has the player.
	Replaced
)

// AssertState brings what sessions last saw into an epoch that the Store has not set yet. Every assertion
// gets its answer. At most about 100 players a call, those of the matches counted; see AssertionBatches.
func (s *Store) AssertState(ctx context.Context, epoch ident.Place, assertions []Assertion) ([]Asserted, error) {
	if len(assertions) == 0 {
		return nil, nil
	}
	var players, matches []any
	at := map[ident.Match]int{} // where its text is, the newest that any of them saw
	for _, a := range assertions {
		record, err := ParseRecord(a.Record)
		if err != nil {
			return nil, err
		}
		players = append(players, string(a.Player), a.Generation.String(), a.AsOf.String(), a.Record)
		if record.Match == "" || a.Match == "" {
			continue
		}
		if i, ok := at[record.Match]; !ok {
			matches = append(matches, string(record.Match), a.Match)
			at[record.Match] = len(matches) - 1
		} else if matches[i] != a.Match && isNewer(record.Match, a.Match, matches[i]) {
			matches[i] = a.Match
		}
	}
	args := append([]any{len(assertions), len(at)}, append(players, matches...)...)
	replies, err := s.attempt(ctx, []call{{script: "assert_state", args: args, epoch: epoch}})
	if err != nil {
		return nil, err
	}
	r := replies[0]
	if err := r.err(); err != nil {
		return nil, err
	}
	s.deliver(r)
	outcomes := make([]Asserted, len(assertions))
	for i := range assertions {
		switch status := r.number(statusFieldsBefore + i); status {
		case statusDone:
			outcomes[i] = Stands
		case statusAdopt:
			outcomes[i] = Adopt
		case codeReplaced:
			outcomes[i] = Replaced
		default:
			return nil, fmt.Errorf("assert_state: status %d", status)
		}
	}
	return outcomes, nil
}

// isNewer tells of two texts of a match whether the first is of a later version.
func isNewer(id ident.Match, text string, than any) bool {
	other, _ := than.(string)
	m, err := ParseMatch(id, text)
	known, knownErr := ParseMatch(id, other)
	return err == nil && (knownErr != nil || m.Version > known.Version)
}

// AssertionBatches cuts assertions so that no call touches more than about 100 players. All assertions that name a match
// share a call: the script restores the match once, whatever the number of its players on this instance.
func AssertionBatches(all []Assertion) [][]Assertion {
	var batches [][]Assertion
	var batch []Assertion
	weight := 0
	for _, g := range byMatch(all) {
		if len(batch) > 0 && weight+g.weight() > maxPlayersPerCall {
			batches = append(batches, batch)
			batch, weight = nil, 0
		}
		batch = append(batch, g.assertions...)
		weight += g.weight()
	}
	if len(batch) > 0 {
		batches = append(batches, batch)
	}
	return batches
}

// matchGroup is the assertions that name one match, or a single one that names none.
type matchGroup struct {
	match      ident.Match
	assertions []Assertion
	// touched are the players that the assertions concern: their own and those of each version of the match.
	touched map[ident.Player]struct{}
	// text is the last version of the match that was counted; "" before the first.
	text string
}

// byMatch groups assertions by match, in the order of the first assertion of each.
func byMatch(all []Assertion) []*matchGroup {
	var groups []*matchGroup
	of := map[ident.Match]*matchGroup{}
	for _, a := range all {
		var match ident.Match
		if record, err := ParseRecord(a.Record); err == nil {
			match = record.Match
		}
		g := of[match]
		if g == nil {
			g = &matchGroup{match: match, touched: map[ident.Player]struct{}{}}
			groups = append(groups, g)
			if match != "" {
				of[match] = g
			}
		}
		g.add(a)
	}
	return groups
}

func (g *matchGroup) add(a Assertion) {
	g.assertions = append(g.assertions, a)
	g.touched[a.Player] = struct{}{}
	if a.Match == g.text {
		return
	}
	if m, err := ParseMatch(g.match, a.Match); err == nil {
		g.text = a.Match
		for _, p := range m.Players {
			g.touched[p] = struct{}{}
		}
	}
}

// weight is how many players the group's call touches. Redis may have a match that no session here knows: it has up to
// maxPlayersPerCall players.
func (g *matchGroup) weight() int {
	if g.match != "" && g.text == "" {
		return max(maxPlayersPerCall, len(g.touched))
	}
	return len(g.touched)
}
