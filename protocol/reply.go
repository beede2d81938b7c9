package protocol

// Joined is the reply to Join; it comes before any event about the ticket. The other members of a
// party get the same without id.
type Joined struct {
	Envelope
	World    string `json:"world"`
	TicketID string `json:"ticket_id"`
	// Position and QueueSize are as they were on entering.
	Position   int64 `json:"position"`
	QueueSize  int64 `json:"queue_size"`
	EnqueuedAt int64 `json:"enqueued_at"`
	// EstimatedWaitMS is null while unknown.
	EstimatedWaitMS *int64       `json:"estimated_wait_ms"`
	Party           List[string] `json:"party"`
}

// Left is the reply to Leave.
type Left struct {
	Envelope
	// Worlds are those that were left, none where the player did not wait.
	Worlds List[string] `json:"worlds"`
}

// Accepted is the reply to Accept.
type Accepted struct {
	Envelope
	MatchID string `json:"match_id"`
}

// Declined is the reply to Decline.
type Declined struct {
	Envelope
	MatchID string `json:"match_id"`
}

// Acked is the reply to Ack.
type Acked struct {
	Envelope
	MatchID string `json:"match_id"`
}

// LeftMatch is the reply to LeaveMatch.
type LeftMatch struct {
	Envelope
	MatchID string `json:"match_id"`
}

// Pong is the reply to Ping.
type Pong struct {
	Envelope
	// T is that of the ping, nil where it had none.
	T *int64 `json:"t,omitempty"`
}

func (*Joined) event()    {}
func (*Left) event()      {}
func (*Accepted) event()  {}
func (*Declined) event()  {}
func (*Acked) event()     {}
func (*LeftMatch) event() {}
func (*Pong) event()      {}
func (*Error) event()     {}
