package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/internal/ident"
)

// EventKind is what an entry of the realm's stream says.
type EventKind string

// The kinds of events. Scripts write them in the run that makes them true.
const (
	MatchProposed   EventKind = "match_proposed"
	MatchAllocating EventKind = "match_allocating"
	MatchComplete   EventKind = "match_complete"
	MatchUpdate     EventKind = "match_update" // seats taken or given back, a player left
	MatchCancelled  EventKind = "match_cancelled"
	MatchEnded      EventKind = "match_ended"
	PlayerDequeued  EventKind = "player_dequeued"
)

var matchEvents = []EventKind{MatchProposed, MatchAllocating, MatchComplete, MatchUpdate, MatchCancelled, MatchEnded}

// Event is what happened to a match, or how a ticket ended. An event may come twice, and late; Record's version
// orders those of a match.
type Event struct {
	Kind EventKind
	// At is when, in Unix milliseconds by Redis' clock.
	At int64
	// Match and Record are the match and its text after the change; of a match that is over, as it was last.
	Match  ident.Match
	Record string
	Reason string
	// Player, World, Ticket and Notice are those of PlayerDequeued.
	Player ident.Player
	World  ident.World
	Ticket ident.Ticket
	Notice string
}

// Over tells whether nothing can happen to the match after the event.
func (e Event) Over() bool { return e.Kind == MatchCancelled || e.Kind == MatchEnded }

// ParseEvent reads an entry. What an instance of another version wrote may be an error here and none there.
func ParseEvent(entry StreamEntry) (Event, error) {
	f := entry.Fields
	e := Event{
		Kind: EventKind(f["event"]), Match: ident.Match(f["match"]), Record: f["record"], Reason: f["reason"],
		Player: ident.Player(f["player"]), World: ident.World(f["world"]), Ticket: ident.Ticket(f["ticket"]), Notice: f["notice"],
	}
	at := f["at"]
	if at == "" {
		at, _, _ = strings.Cut(entry.ID, "-") // Redis numbers entries by its clock
	}
	var err error
	if e.At, err = strconv.ParseInt(at, 10, 64); err != nil {
		return Event{}, fmt.Errorf("entry %s: time %q is no number", entry.ID, at)
	}
	switch {
	case e.Kind == PlayerDequeued:
		if !ident.Valid(string(e.Player)) || !ident.Valid(string(e.World)) {
			return Event{}, fmt.Errorf("entry %s: player %q or world %q is no id", entry.ID, e.Player, e.World)
		}
	case !slices.Contains(matchEvents, e.Kind):
		return Event{}, fmt.Errorf("entry %s: event %q is not known", entry.ID, e.Kind)
	case !ident.Valid(string(e.Match)):
		return Event{}, fmt.Errorf("entry %s: match %q is no id", entry.ID, e.Match)
	case e.Record == "" && !e.Over():
		return Event{}, fmt.Errorf("entry %s: %s without a record", entry.ID, e.Kind)
	}
	return e, nil
}
