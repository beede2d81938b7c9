package protocol

import (
	"encoding/json"
	"maps"
	"slices"
)

// Types of requests.
const (
	TypeHello      = "hello"
	TypeJoin       = "join"
	TypeLeave      = "leave"
	TypeStatus     = "status" // of the reply too
	TypeAccept     = "accept"
	TypeDecline    = "decline"
	TypeAck        = "ack"
	TypeLeaveMatch = "leave_match"
	TypePing       = "ping"
)

// requests makes the empty request of a type.
var requests = map[string]func() Request{
	TypeHello:      func() Request { return new(Hello) },
	TypeJoin:       func() Request { return new(Join) },
	TypeLeave:      func() Request { return new(Leave) },
	TypeStatus:     func() Request { return new(Status) },
	TypeAccept:     func() Request { return new(Accept) },
	TypeDecline:    func() Request { return new(Decline) },
	TypeAck:        func() Request { return new(Ack) },
	TypeLeaveMatch: func() Request { return new(LeaveMatch) },
	TypePing:       func() Request { return new(Ping) },
}

// RequestTypes returns the types of all requests, sorted.
func RequestTypes() []string { return slices.Sorted(maps.Keys(requests)) }

// Hello is the first message of a connection. The reply is Welcome.
type Hello struct {
	Envelope
	// Token may also come in the header Authorization of the upgrade.
	Token string `json:"token,omitempty"`
	// PlayerID names the player in dev mode.
	PlayerID string `json:"player_id,omitempty"`
	// Client is the client's name and version, for logs; cut to MaxClientLength characters. An
	// object of the strings name and version is read as `name/version`.
	Client string `json:"client,omitempty"`
	// Party is a code that members of a party share, in dev mode.
	Party string `json:"party,omitempty"`
	// Have is what the client believes; nil where it believes nothing.
	Have *Have `json:"have,omitempty"`
}

// Have is what a client believes when it connects. What does not stand is answered with dequeued or
// match_cancelled.
type Have struct {
	Tickets List[string] `json:"tickets,omitzero"`
	Match   string       `json:"match,omitempty"`
}

// Join asks for a match. The reply is Joined.
type Join struct {
	Envelope
	World string `json:"world"`
	// Party are the other members; the caller leads. No name stands twice in it.
	Party List[string] `json:"party,omitzero"`
	// Attributes is a JSON object, as the client wrote it; nil where it wrote none.
	Attributes json.RawMessage `json:"attributes,omitempty"`
	// Ticket is a key made by the client: a join repeated with it queues nothing anew.
	Ticket string `json:"ticket,omitempty"`
}

// Leave takes the player out of a world, or of all where World is "". The reply is Left.
type Leave struct {
	Envelope
	World string `json:"world,omitempty"`
}

// Status asks for the player's state. The reply is StatusReply.
type Status struct{ Envelope }

// Accept takes part in a proposed match. The reply is Accepted.
type Accept struct {
	Envelope
	MatchID string `json:"match_id"`
}

// Decline refuses a proposed match. The reply is Declined.
type Decline struct {
	Envelope
	MatchID string `json:"match_id"`
}

// Ack tells that the client knows of a match, so that it is not repeated. The reply is Acked.
type Ack struct {
	Envelope
	MatchID string `json:"match_id"`
}

// LeaveMatch leaves the player's open match. The reply is LeftMatch.
type LeaveMatch struct {
	Envelope
	MatchID string `json:"match_id"`
}

// Ping asks for a Pong with the same T.
type Ping struct {
	Envelope
	// T is any integer up to MaxInteger either side of zero; nil where there is none.
	T *int64 `json:"t,omitempty"`
}

// Type is TypeHello.
func (*Hello) Type() string { return TypeHello }

// Type is TypeJoin.
func (*Join) Type() string { return TypeJoin }

// Type is TypeLeave.
func (*Leave) Type() string { return TypeLeave }

// Type is TypeStatus.
func (*Status) Type() string { return TypeStatus }

// Type is TypeAccept.
func (*Accept) Type() string { return TypeAccept }

// Type is TypeDecline.
func (*Decline) Type() string { return TypeDecline }

// Type is TypeAck.
func (*Ack) Type() string { return TypeAck }

// Type is TypeLeaveMatch.
func (*LeaveMatch) Type() string { return TypeLeaveMatch }

// Type is TypePing.
func (*Ping) Type() string { return TypePing }

func (r *Hello) read(f *fields) {
	r.Token = f.text("token")
	r.PlayerID = f.optionalID("player_id")
	r.Client = f.client("client")
	r.Party = f.optionalID("party")
	r.Have = f.have("have")
}

func (r *Join) read(f *fields) {
	r.World = f.id("world")
	r.Party = f.ids("party")
	f.distinct("party", r.Party)
	r.Attributes = f.object("attributes")
	r.Ticket = f.optionalID("ticket")
}

func (r *Leave) read(f *fields)      { r.World = f.optionalID("world") }
func (r *Status) read(*fields)       {}
func (r *Accept) read(f *fields)     { r.MatchID = f.id("match_id") }
func (r *Decline) read(f *fields)    { r.MatchID = f.id("match_id") }
func (r *Ack) read(f *fields)        { r.MatchID = f.id("match_id") }
func (r *LeaveMatch) read(f *fields) { r.MatchID = f.id("match_id") }
func (r *Ping) read(f *fields)       { r.T = f.integer("t") }
