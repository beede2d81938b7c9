package allocation

import (
	"slices"

	"muster/internal/ident"
	"muster/store"
)

// brief is what an allocator is told of a match: the body of a webhook's request, an annotation with Agones.
type brief struct {
	MatchID ident.Match `json:"match_id"`
	World   ident.World `json:"world"`
	Realm   string      `json:"realm"`
	// CreatedAt is when the match was formed, in Unix milliseconds by Redis' clock.
	CreatedAt int64         `json:"created_at"`
	Attempt   int           `json:"attempt"`
	Players   []briefPlayer `json:"players"`
	// Rooms are the rooms' UUIDs by their names.
	Rooms map[string]string `json:"rooms"`
}

// briefPlayer is an object, so that more can be told of a player one day.
type briefPlayer struct {
	ID ident.Player `json:"id"`
}

// briefOf tells of a match and of those who are still in it.
func briefOf(realm string, a store.Allocation) brief {
	m := a.Match
	b := brief{
		MatchID: m.ID, World: m.World, Realm: realm, CreatedAt: m.Created.UnixMilli(), Attempt: a.Attempt,
		Players: make([]briefPlayer, 0, len(m.Players)), Rooms: make(map[string]string, len(m.Rooms)),
	}
	for _, p := range m.Players {
		if !slices.Contains(m.Left, p) {
			b.Players = append(b.Players, briefPlayer{ID: p})
		}
	}
	for _, r := range m.Rooms {
		b.Rooms[r.Name] = r.ID
	}
	return b
}
