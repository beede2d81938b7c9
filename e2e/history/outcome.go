package history

import (
	"muster/protocol"
)

// Outcome is what players were told last of a match.
type Outcome struct {
	ID string
	// Match is the match as it stood when it was first told, nil where it fell through; Players are all who were ever
	// told to be in it.
	Match   *protocol.Match
	Players []string
	// Reason is why it fell through.
	Reason string
}

// Outcomes are those of all matches that stood or fell through, by what the clients were told. What a loss took is not
// among them.
func (h *History) Outcomes(worlds map[string]World) []Outcome {
	j := h.newJudge(Options{Worlds: worlds})
	var all []Outcome
	for _, m := range j.sortedMatches() {
		all = append(all, Outcome{ID: m.ID, Match: m.Match, Players: m.members})
	}
	fell := map[string]bool{}
	for _, r := range j.players {
		for _, f := range r.falls {
			if j.matches[f.match] == nil && !fell[f.match] && f.reason != protocol.ReasonLost {
				fell[f.match] = true
				all = append(all, Outcome{ID: f.match, Reason: f.reason})
			}
		}
	}
	return all
}
