package protocol

// Types of events. TypeStatus is one too.
const (
	TypeWelcome        = "welcome"
	TypeJoined         = "joined"
	TypeLeft           = "left"
	TypeState          = "state"
	TypeQueueUpdate    = "queue_update"
	TypeDequeued       = "dequeued"
	TypeRequeued       = "requeued"
	TypeMatchProposed  = "match_proposed"
	TypeMatchCancelled = "match_cancelled"
	TypeMatchComplete  = "match_complete"
	TypeMatchUpdate    = "match_update"
	TypeMatchEnded     = "match_ended"
	TypeTokenExpiring  = "token_expiring" //nolint:gosec // G101: a name, no secret
	TypeGoingAway      = "going_away"
	TypeAccepted       = "accepted"
	TypeDeclined       = "declined"
	TypeAcked          = "acked"
	TypeLeftMatch      = "left_match"
	TypePong           = "pong"
	TypeError          = "error"
)

// Reasons of Dequeued, MatchCancelled and MatchEnded.
const (
	ReasonExpired          = "expired"           // dequeued, match_ended
	ReasonPresenceLost     = "presence_lost"     // dequeued
	ReasonWorldClosed      = "world_closed"      // dequeued
	ReasonPartyChanged     = "party_changed"     // dequeued
	ReasonRemoved          = "removed"           // dequeued
	ReasonDeclined         = "declined"          // dequeued, match_cancelled
	ReasonLost             = "lost"              // dequeued, match_cancelled
	ReasonTimeout          = "timeout"           // match_cancelled
	ReasonAllocationFailed = "allocation_failed" // match_cancelled
	ReasonLeft             = "left"              // match_cancelled
	ReasonEnded            = "ended"             // match_ended
)

// Welcome is the reply to Hello. It is the truth: a ticket or match that it does not name does not
// stand.
type Welcome struct {
	Envelope
	Protocol         int64  `json:"protocol"` // Version
	PlayerID         string `json:"player_id"`
	SessionID        string `json:"session_id"`
	Instance         string `json:"instance"`
	Now              int64  `json:"now"`
	HeartbeatMS      int64  `json:"heartbeat_ms"`
	PresenceTTLMS    int64  `json:"presence_ttl_ms"`
	ReconnectGraceMS int64  `json:"reconnect_grace_ms"`
	// TokenExpiresAt is 0 where there is no token.
	TokenExpiresAt int64 `json:"token_expires_at,omitempty"`
	PlayerState
}

// StatusReply is the reply to Status.
type StatusReply struct {
	Envelope
	PlayerState
}

// State is sent when the server had to look again: Redis was away, or a message was lost.
type State struct {
	Envelope
	PlayerState
}

// QueueUpdate tells that position, size or estimate of a ticket changed.
type QueueUpdate struct {
	Envelope
	Queued
}

// Requeued tells that a proposed match fell through and the ticket is back at its old place.
type Requeued struct {
	Envelope
	Queued
	// MatchID is the match that fell through.
	MatchID string `json:"match_id"`
}

// Dequeued tells that a ticket ended without a match and without being asked.
type Dequeued struct {
	Envelope
	NoticeID string `json:"notice_id"`
	World    string `json:"world"`
	TicketID string `json:"ticket_id"`
	Reason   string `json:"reason"`
}

// MatchCancelled tells that a match fell through.
type MatchCancelled struct {
	Envelope
	NoticeID string `json:"notice_id"`
	MatchID  string `json:"match_id"`
	Reason   string `json:"reason"`
}

// MatchEnded tells that a complete match is over for this player without its doing.
type MatchEnded struct {
	Envelope
	NoticeID string `json:"notice_id"`
	MatchID  string `json:"match_id"`
	Reason   string `json:"reason"`
}

// MatchProposed asks the player to accept or decline; repeated as others answer.
type MatchProposed struct {
	Envelope
	Match *Match `json:"match"`
}

// MatchCompleted tells that a match stands (`match_complete`). It may come more than once.
type MatchCompleted struct {
	Envelope
	Match *Match `json:"match"`
}

// MatchUpdate tells that the players of an open match changed.
type MatchUpdate struct {
	Envelope
	Match *Match `json:"match"`
}

// TokenExpiring tells that the token ends soon; a Hello with a new one renews it.
type TokenExpiring struct {
	Envelope
	TokenExpiresAt int64 `json:"token_expires_at"`
}

// GoingAway tells that the instance stops. Places in queues are kept.
type GoingAway struct {
	Envelope
	// ReconnectInMS is how long to wait before connecting again, to any instance.
	ReconnectInMS int64 `json:"reconnect_in_ms"`
}

func (*Welcome) event()        {}
func (*StatusReply) event()    {}
func (*State) event()          {}
func (*QueueUpdate) event()    {}
func (*Requeued) event()       {}
func (*Dequeued) event()       {}
func (*MatchCancelled) event() {}
func (*MatchEnded) event()     {}
func (*MatchProposed) event()  {}
func (*MatchCompleted) event() {}
func (*MatchUpdate) event()    {}
func (*TokenExpiring) event()  {}
func (*GoingAway) event()      {}

// NoticeKey is the field notice_id.
func (e *Dequeued) NoticeKey() string { return e.NoticeID }

// NoticeKey is the field notice_id.
func (e *MatchCancelled) NoticeKey() string { return e.NoticeID }

// NoticeKey is the field notice_id.
func (e *MatchEnded) NoticeKey() string { return e.NoticeID }
