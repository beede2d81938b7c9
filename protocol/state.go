package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
)

// PlayerState is the state of a player, as in Welcome, StatusReply and State, and as the HTTP API
// answers with it.
type PlayerState struct {
	Queued List[Queued] `json:"queued"`
	// Match is the open match, null where there is none.
	Match   *Match  `json:"match"`
	Notices Notices `json:"notices"`
}

// Queued is a ticket that waits in a world.
type Queued struct {
	World    string `json:"world"`
	TicketID string `json:"ticket_id"`
	// Party are all members, the leader first; empty for a player alone.
	Party List[string] `json:"party"`
	// Position is the number of matchable tickets ahead plus one.
	Position int64 `json:"position"`
	// QueueSize is the number of players that could be matched now.
	QueueSize  int64 `json:"queue_size"`
	EnqueuedAt int64 `json:"enqueued_at"`
	WaitedMS   int64 `json:"waited_ms"`
	// EstimatedWaitMS is null while unknown.
	EstimatedWaitMS *int64     `json:"estimated_wait_ms"`
	WaitingFor      WaitingFor `json:"waiting_for"`
}

// WaitingFor tells what a ticket waits for.
type WaitingFor struct {
	Code string `json:"code"`
	// Need is how many players more it takes, with WaitingForPlayers.
	Need int64  `json:"need,omitempty"`
	Text string `json:"text"`
}

// WaitingForPlayers is the code of WaitingFor where there are too few players.
const WaitingForPlayers = "players"

// States of a match, in Match.State.
const (
	StateProposed   = "proposed"
	StateAllocating = "allocating"
	StateComplete   = "complete"
)

// Match is a match as its participants see it. While it is proposed it has AcceptBy, Accepted and
// Size and neither Rooms nor Players; later it is the other way about.
type Match struct {
	ID        string `json:"id"`
	World     string `json:"world"`
	State     string `json:"state"`
	CreatedAt int64  `json:"created_at"`
	ExpiresAt int64  `json:"expires_at"`
	// Acked tells that the player it is sent to has acknowledged it.
	Acked bool `json:"acked"`

	AcceptBy int64 `json:"accept_by,omitempty"`
	// Accepted is how many have accepted, nil for a match that is not proposed.
	Accepted *int64 `json:"accepted,omitempty"`
	Size     int64  `json:"size,omitempty"`

	// Rooms are the UUIDs of the rooms by their names, nil while proposed.
	Rooms map[string]string `json:"rooms,omitzero"`
	// Players is nil while proposed.
	Players List[Player] `json:"players,omitzero"`
	// Attributes is a JSON object, nil where the world's rules give none.
	Attributes json.RawMessage `json:"attributes,omitempty"`
	// Endpoint is the game server that an allocator gave, any JSON; nil where there is none.
	Endpoint json.RawMessage `json:"endpoint,omitempty"`
}

// Player is a participant of a match.
type Player struct {
	ID    string `json:"id"`
	Team  string `json:"team,omitempty"`
	Role  string `json:"role,omitempty"`
	Party string `json:"party,omitempty"`
}

// Notice is an event that is kept for a day and repeated in every state: Dequeued, MatchCancelled or
// MatchEnded. By its key repeats are told apart.
type Notice interface {
	Event
	// NoticeKey is the field notice_id.
	NoticeKey() string
}

// Notices are the last ends of tickets and matches that a player did not ask for, each as its event
// is sent.
type Notices []Notice

// MarshalJSON writes each notice as the event that it is.
func (n Notices) MarshalJSON() ([]byte, error) {
	frames := make([]json.RawMessage, len(n))
	for i, notice := range n {
		frames[i] = Encode(notice)
	}
	return json.Marshal(frames)
}

// UnmarshalJSON reads notices and leaves out those of a type that this version does not know.
func (n *Notices) UnmarshalJSON(raw []byte) error {
	var frames []json.RawMessage
	if err := json.Unmarshal(raw, &frames); err != nil {
		return fmt.Errorf("decode notices: %w", err)
	}
	*n = make(Notices, 0, len(frames))
	for _, frame := range frames {
		event, err := DecodeEvent(frame)
		if errors.Is(err, ErrUnknownEvent) {
			continue
		}
		if err != nil {
			return fmt.Errorf("decode notices: %w", err)
		}
		if notice, ok := event.(Notice); ok {
			*n = append(*n, notice)
		}
	}
	return nil
}
