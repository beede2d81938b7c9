package webhooks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/internal/ident"
	"muster/store"
)

// Type is what an event tells.
type Type string

// The types of events.
const (
	MatchCompleted Type = "match.completed"
	MatchCancelled Type = "match.cancelled"
	MatchEnded     Type = "match.ended"
	PlayerDequeued Type = "player.dequeued"
)

// typeOf is what is told of an event of the stream; "" for nothing.
var typeOf = map[store.EventKind]Type{
	store.MatchComplete:  MatchCompleted,
	store.MatchCancelled: MatchCancelled,
	store.MatchEnded:     MatchEnded,
	store.PlayerDequeued: PlayerDequeued,
}

// Event is what is told.
type Event struct {
	ID   string
	Type Type
	// Body is the JSON that is sent.
	Body []byte
}

// namespace makes ids of events differ from all other ids that are made of the same names.
var namespace = uuid.MustParse("6f3a1c58-5d0e-4a57-9c3e-2f1f7f0f4b6d")

// EventOf is what is told of an event of the realm's stream; its type is "" where nothing is.
func EventOf(realm string, e store.Event) (Event, error) {
	t := typeOf[e.Kind]
	if t == "" {
		return Event{}, nil
	}
	// A match is completed, cancelled and ended once, and a ticket ends once, however often the stream says so.
	names := []string{realm, string(t), string(e.Match)}
	if t == PlayerDequeued {
		names = []string{realm, string(t), string(e.Player), string(e.World), string(e.Ticket), e.Notice}
	}
	id := uuid.NewSHA1(namespace, []byte(strings.Join(names, "|"))).String()
	b := body{ID: id, Type: t, At: e.At, Realm: realm}
	if t == PlayerDequeued {
		b.Ticket = &ticket{ID: e.Ticket, World: e.World, Player: e.Player, Reason: e.Reason, Notice: e.Notice}
	} else {
		m, err := matchOf(e)
		if err != nil {
			return Event{}, err
		}
		b.Match = &m
	}
	text, err := json.Marshal(b)
	if err != nil {
		return Event{}, fmt.Errorf("event %s of match %s: %w", t, e.Match, err)
	}
	return Event{ID: id, Type: t, Body: text}, nil
}

// body is what is sent. Its fields are a contract: see docs/webhooks.md.
type body struct {
	ID     string  `json:"id"`
	Type   Type    `json:"type"`
	At     int64   `json:"at"`
	Realm  string  `json:"realm"`
	Match  *match  `json:"match,omitempty"`
	Ticket *ticket `json:"ticket,omitempty"`
}

type match struct {
	ID        ident.Match       `json:"id"`
	World     ident.World       `json:"world,omitempty"`
	Reason    string            `json:"reason,omitempty"`
	CreatedAt int64             `json:"created_at,omitempty"`
	ExpiresAt int64             `json:"expires_at,omitempty"`
	Rooms     map[string]string `json:"rooms"`
	Players   []player          `json:"players"`
	Endpoint  json.RawMessage   `json:"endpoint,omitempty"`
}

type player struct {
	ID   ident.Player `json:"id"`
	Left bool         `json:"left,omitempty"`
}

type ticket struct {
	ID     ident.Ticket `json:"id"`
	World  ident.World  `json:"world"`
	Player ident.Player `json:"player_id"`
	Reason string       `json:"reason"`
	Notice string       `json:"notice_id,omitempty"`
}

func matchOf(e store.Event) (match, error) {
	m := match{ID: e.Match, Reason: e.Reason, Rooms: map[string]string{}, Players: []player{}}
	if e.Record == "" {
		return m, nil // of an end, where nothing else was known
	}
	parsed, err := store.ParseMatch(e.Match, e.Record)
	if err != nil {
		return match{}, err
	}
	m.World, m.CreatedAt, m.ExpiresAt, m.Endpoint = parsed.World, parsed.Created.UnixMilli(), parsed.EndsAt, parsed.Endpoint
	for _, room := range parsed.Rooms {
		m.Rooms[room.Name] = room.ID
	}
	for _, p := range parsed.Players {
		m.Players = append(m.Players, player{ID: p, Left: slices.Contains(parsed.Left, p)})
	}
	return m, nil
}
