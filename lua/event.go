package lua

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/musterhq/muster/internal/ident"
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

// MatchText is a match as its text in the stream has it: what ParseMatch reads, and what a ready check, an
// allocation and open seats add.
type MatchText struct {
	Match
	// AcceptBy is until when a proposed match waits for its players, in Unix milliseconds; 0 where it asks nobody.
	AcceptBy int64
	// Accepted have accepted the match; Shown have been told of it.
	Accepted, Shown []ident.Player
	// Endpoint is what the allocator gave, JSON; nil where there is none.
	Endpoint json.RawMessage
	// Open and Taken are seats; 0 where the world has none.
	Open, Taken int
	Terms       string
}

// The fields of a match's text, of older versions only the first.
const (
	fewestMatchFields = 9
	allMatchFields    = 16
)

// ParseMatchText reads a match's text of this version, of an older one, which has fewer fields, or of a newer one,
// whose further fields are passed over.
func ParseMatchText(id ident.Match, text string) (MatchText, error) {
	f := strings.Split(text, "|")
	if len(f) < fewestMatchFields {
		return MatchText{}, fmt.Errorf("match %s: %q has %d fields, not %d", id, text, len(f), fewestMatchFields)
	}
	match, err := ParseMatch(id, strings.Join(f[:fewestMatchFields], "|"))
	if err != nil {
		return MatchText{}, err
	}
	for len(f) < allMatchFields {
		f = append(f, "")
	}
	n := numbers{text: text}
	m := MatchText{
		Match: match, AcceptBy: n.optional(f[9]), Accepted: playersOf(f[10]), Shown: playersOf(f[11]),
		Open: int(n.optional(f[13])), Terms: f[14], Taken: int(n.optional(f[15])),
	}
	if n.err != nil {
		return MatchText{}, fmt.Errorf("match %s: %w", id, n.err)
	}
	if f[12] != "" {
		if m.Endpoint, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(f[12], "=")); err != nil {
			return MatchText{}, fmt.Errorf("match %s: endpoint: %w", id, err)
		}
		if !json.Valid(m.Endpoint) {
			return MatchText{}, fmt.Errorf("match %s: endpoint %q is no JSON", id, m.Endpoint)
		}
	}
	return m, nil
}

func playersOf(text string) []ident.Player {
	var list []ident.Player
	for item := range items(text) {
		list = append(list, ident.Player(item))
	}
	return list
}
