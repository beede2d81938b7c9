package protocol

import "bytes"

// Body is the body of a request to the HTTP API: a pointer to one of the structs of this file.
type Body interface {
	read(f *fields)
}

// JoinBody is the body of POST /v1/matching/join.
type JoinBody struct {
	Join
	// PlayerID is whom a back end joins for; "" for the caller.
	PlayerID string `json:"player_id,omitempty"`
}

// LeaveBody is the body of POST /v1/matching/leave.
type LeaveBody struct {
	Leave
	// PlayerID is whom a back end takes out; "" for the caller.
	PlayerID string `json:"player_id,omitempty"`
}

// HeartbeatBody is the body of POST /v1/matching/heartbeat.
type HeartbeatBody struct {
	// PlayerID is for whom a back end speaks; "" for the caller.
	PlayerID string `json:"player_id,omitempty"`
}

// OfMatchBody is the body of POST /v1/matching/accept, decline, ack and leave_match.
type OfMatchBody struct {
	MatchID string `json:"match_id"`
	// PlayerID is the player that a back end speaks for; "" for the caller.
	PlayerID string `json:"player_id,omitempty"`
}

// SeatsBody is the body of POST /v1/matches/{id}/seats.
type SeatsBody struct {
	// Open is how many seats are to be open for backfill; 0 closes.
	Open int64 `json:"open"`
	// Taken, if set, has nothing changed unless so many seats were taken: a request that is sent again because its
	// answer was lost cannot open a seat twice.
	Taken *int64 `json:"taken,omitempty"`
}

func (b *JoinBody) read(f *fields) {
	b.Join.read(f)
	b.PlayerID = f.optionalID("player_id")
}

func (b *LeaveBody) read(f *fields) {
	b.Leave.read(f)
	b.PlayerID = f.optionalID("player_id")
}

func (b *HeartbeatBody) read(f *fields) { b.PlayerID = f.optionalID("player_id") }

func (b *OfMatchBody) read(f *fields) {
	b.MatchID = f.id("match_id")
	b.PlayerID = f.optionalID("player_id")
}

func (b *SeatsBody) read(f *fields) {
	open := f.integer("open")
	b.Taken = f.integer("taken")
	switch {
	case b.Taken != nil && *b.Taken < 0:
		f.refuse("taken", "must not be negative")
	case f.raw("open") == nil:
		f.refuse("open", "is required")
	case open != nil && *open < 0:
		f.refuse("open", "must not be negative")
	case open != nil:
		b.Open = *open
	}
}

// DecodeBody reads the body of an HTTP request into b by the rules of DecodeRequest: the same faults,
// as *Error with CodeBadMessage. An empty body is as if `{}`. After an error b is not to be used.
func DecodeBody(body []byte, b Body) error {
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}")
	}
	members, fault := scanObject(body)
	f := fields{members: members}
	if fault == "" {
		b.read(&f)
		fault = f.fault
	}
	if fault != "" {
		return &Error{Code: CodeBadMessage, Message: fault}
	}
	return nil
}
