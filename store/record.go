package store

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"muster/internal/ident"
)

// Ticket is one of a player's tickets as its record has it.
type Ticket struct {
	World ident.World
	Place ident.Place
	// Size is how many players the ticket holds.
	Size int
	// Key and Fingerprint are the client's key for the join and what the join contained. A key that
	// begins with `~` was made by the server.
	Key, Fingerprint string
	// EndedAt is when the ticket ended, in Unix milliseconds; 0 while it waits.
	EndedAt int64
	// Leader leads the ticket's party; empty for a single player.
	Leader ident.Player
}

// ID is the ticket's id on the wire.
func (t Ticket) ID() ident.Ticket { return ident.TicketOf(t.World, t.Place) }

// Waiting tells whether the ticket still stands.
func (t Ticket) Waiting() bool { return t.EndedAt == 0 }

// Record is what Redis has of a player. The zero Record says that it is idle.
type Record struct {
	// Version is the place at which the record was last changed.
	Version ident.Place
	// Match is the player's open match, if any, which ends at MatchEndsAt (Unix milliseconds).
	Match       ident.Match
	MatchEndsAt int64
	Acked       bool
	// Held says that the match does not stand yet: Tickets keep their places meanwhile, out of the queues. Seat says
	// that it is a seat which others would like to have, should the player be gone.
	Held, Seat bool
	Tickets    []Ticket
}

// Idle tells whether the record says nothing that has to be kept.
func (r Record) Idle() bool { return r.Match == "" && len(r.Tickets) == 0 }

// Waiting are the tickets that still stand.
func (r Record) Waiting() []Ticket {
	var waiting []Ticket
	for _, t := range r.Tickets {
		if t.Waiting() {
			waiting = append(waiting, t)
		}
	}
	return waiting
}

// ParseRecord reads a record's text; "" is the zero Record.
func ParseRecord(text string) (Record, error) {
	if text == "" {
		return Record{}, nil
	}
	f := strings.SplitN(text, "|", 5)
	if len(f) != 5 {
		return Record{}, fmt.Errorf("record %q has %d fields, not 5", text, len(f))
	}
	n := numbers{text: text}
	r := Record{
		Version: n.place(f[0]), Match: ident.Match(f[1]), MatchEndsAt: n.optional(f[2]), Acked: f[3] == "1" || f[3] == "t", Held: f[3] == "h", Seat: f[3] == "s" || f[3] == "t",
	}
	for part := range items(f[4]) {
		world, rest, _ := strings.Cut(part, "=")
		t := strings.Split(rest, ",")
		if len(t) != 6 {
			return Record{}, fmt.Errorf("ticket %q in record %q has %d fields, not 6", part, text, len(t))
		}
		fingerprint, _, _ := strings.Cut(t[3], ":") // behind it: the position that a repeated join is answered with
		r.Tickets = append(r.Tickets, Ticket{
			World: ident.World(world), Place: n.place(t[0]), Size: int(n.optional(t[1])), Key: t[2], Fingerprint: fingerprint,
			EndedAt: n.optional(t[4]), Leader: ident.Player(t[5]),
		})
	}
	return r, n.err
}

// Match is a match as Redis has it.
type Match struct {
	ID    ident.Match
	State string
	// Version is the place of the last change, Created that of its formation, Epoch the one it was formed in.
	Version, Created, Epoch ident.Place
	World                   ident.World
	// EndsAt is when it is over, in Unix milliseconds.
	EndsAt  int64
	Rooms   []Room
	Players []ident.Player
	// Left are those of Players who left it. A match with seats strikes them from Players instead.
	Left []ident.Player

	// AcceptBy is until when its players may accept it, in Unix milliseconds; 0 without a ready check. Accepted are
	// those who did, Shown those whose prompt was written to their socket.
	AcceptBy        int64
	Accepted, Shown []ident.Player
	// Endpoint is the server that an allocator gave; nil where there is none.
	Endpoint json.RawMessage
	// Seats says that players come and go one by one: Open more may come, and Taken did since seats were opened.
	Seats       bool
	Open, Taken int
}

// The states of a match.
const (
	Proposed   = "proposed"
	Allocating = "allocating"
	Complete   = "complete"
)

// Held tells whether the match does not stand yet.
func (m Match) Held() bool { return m.State != Complete }

// matchFields are what every match has; matchMore stand behind them where it is held, or was, or has seats.
const (
	matchFields = 9
	matchMore   = 7
)

// Room is where the members of a match go.
type Room struct{ Name, ID string }

// ParseMatch reads a match's text of this version, of an older one, which has fewer fields, or of a newer one, whose
// further fields are passed over.
func ParseMatch(id ident.Match, text string) (Match, error) {
	f := strings.Split(text, "|")
	if len(f) < matchFields {
		return Match{}, fmt.Errorf("match %s: %q has %d fields, not %d", id, text, len(f), matchFields)
	}
	for len(f) < matchFields+matchMore {
		f = append(f, "")
	}
	n := numbers{text: text}
	m := Match{
		ID: id, State: f[0], Version: n.place(f[1]), Epoch: n.place(f[2]), World: ident.World(f[3]),
		Created: n.place(f[4]), EndsAt: n.optional(f[5]),
	}
	for part := range items(f[6]) {
		name, uuid, _ := strings.Cut(part, "=")
		m.Rooms = append(m.Rooms, Room{Name: name, ID: uuid})
	}
	m.Players, m.Left = playersOf(f[7]), playersOf(f[8])
	m.readMore(f[matchFields:], &n)
	if n.err != nil {
		return m, fmt.Errorf("match %s: %w", id, n.err)
	}
	return m, nil
}

// readMore reads by, accepted, shown, endpoint, open, terms (which are the scripts' own) and taken.
func (m *Match) readMore(f []string, n *numbers) {
	m.AcceptBy, m.Accepted, m.Shown = n.optional(f[0]), playersOf(f[1]), playersOf(f[2])
	m.Seats, m.Open, m.Taken = f[4] != "", int(n.optional(f[4])), int(n.optional(f[6]))
	if f[3] != "" {
		endpoint, err := base64.RawURLEncoding.DecodeString(f[3])
		if err == nil && !json.Valid(endpoint) {
			err = errors.New("no JSON")
		}
		if err != nil && n.err == nil {
			n.err = fmt.Errorf("endpoint %q: %w", f[3], err)
		}
		m.Endpoint = endpoint
	}
}

// playersOf are those that `;` separates.
func playersOf(text string) []ident.Player {
	var list []ident.Player
	for part := range items(text) {
		list = append(list, ident.Player(part))
	}
	return list
}

// Notice is an end that a player did not ask for: of a ticket (Kind dequeued) or of a match
// (match_cancelled, match_ended).
type Notice struct {
	ID     string
	Kind   string
	World  ident.World
	Ticket ident.Ticket
	Match  ident.Match
	Reason string
	// At is when, in Unix milliseconds.
	At int64
}

// ParseNotice reads a notice's text.
func ParseNotice(text string) (Notice, error) {
	f := strings.Split(text, "|")
	if len(f) != 6 {
		return Notice{}, fmt.Errorf("notice %q has %d fields, not 6", text, len(f))
	}
	num := numbers{text: text}
	n := Notice{ID: f[0], Kind: f[1], World: ident.World(f[2]), Reason: f[4], At: num.optional(f[5])}
	if n.Kind == "dequeued" {
		n.Ticket = ident.Ticket(f[3])
	} else {
		n.Match = ident.Match(f[3])
	}
	return n, num.err
}

// items yields what `;` separates; nothing for "".
func items(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for text != "" {
			var item string
			item, text, _ = strings.Cut(text, ";")
			if !yield(item) {
				return
			}
		}
	}
}

// numbers reads a text's numbers and remembers the first that is none.
type numbers struct {
	text string
	err  error
}

func (n *numbers) place(s string) ident.Place { return ident.Place(n.parse(s)) }

func (n *numbers) optional(s string) int64 {
	if s == "" {
		return 0
	}
	return n.parse(s)
}

func (n *numbers) parse(s string) int64 {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil && n.err == nil {
		n.err = fmt.Errorf("number in %q: %w", n.text, err)
	}
	return v
}
