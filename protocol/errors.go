package protocol

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// Codes of errors, in the reply `error` and in HTTP problems alike.
const (
	CodeBadMessage        = "bad_message"
	CodeUnknownType       = "unknown_type"
	CodeNotHello          = "not_hello"
	CodeUnauthorized      = "unauthorized"
	CodeUnknownWorld      = "unknown_world"
	CodeAlreadyQueued     = "already_queued"
	CodeTooManyWorlds     = "too_many_worlds"
	CodeInMatch           = "in_match"
	CodeInProposal        = "in_proposal"
	CodeNoSuchMatch       = "no_such_match"
	CodeNoPresence        = "no_presence"
	CodeReplaced          = "replaced"
	CodePartyTooLarge     = "party_too_large"
	CodePartyMemberAbsent = "party_member_absent"
	CodePartyMemberBusy   = "party_member_busy"
	CodeBadAttributes     = "bad_attributes"
	CodeWorldClosed       = "world_closed"
	CodeQueueFull         = "queue_full"
	CodeRateLimited       = "rate_limited"
	CodeUnavailable       = "unavailable"
	CodeDraining          = "draining"
	CodeInternal          = "internal"
)

// CodeInfo is what there is to know of an error code.
type CodeInfo struct {
	// Text is the message for a person where there is nothing more exact to say.
	Text string
	// Retryable tells that the same request can succeed later without the client doing anything
	// else: exactly such errors carry retry_after_ms.
	Retryable bool
	// HTTPStatus is the status of the HTTP API's answer.
	HTTPStatus int
}

var codes = map[string]CodeInfo{
	CodeBadMessage:        {"the message is malformed", false, http.StatusBadRequest},
	CodeUnknownType:       {"this type of message is unknown", false, http.StatusBadRequest},
	CodeNotHello:          {"the first message must be hello", false, http.StatusBadRequest},
	CodeUnauthorized:      {"the token is missing, wrong or expired", false, http.StatusUnauthorized},
	CodeUnknownWorld:      {"there is no such world", false, http.StatusNotFound},
	CodeAlreadyQueued:     {"you already wait in this world", false, http.StatusConflict},
	CodeTooManyWorlds:     {"you wait in as many worlds as you may", false, http.StatusConflict},
	CodeInMatch:           {"you are in a match; leave it first", false, http.StatusConflict},
	CodeInProposal:        {"a match is proposed to you; answer it first", false, http.StatusConflict},
	CodeNoSuchMatch:       {"there is no such match, or it is not yours", false, http.StatusNotFound},
	CodeNoPresence:        {"the player is not connected and sent no heartbeat", false, http.StatusConflict},
	CodeReplaced:          {"a newer session of this player took over", false, http.StatusConflict},
	CodePartyTooLarge:     {"the party is larger than this world takes", false, http.StatusBadRequest},
	CodePartyMemberAbsent: {"a member of the party is not there", false, http.StatusConflict},
	CodePartyMemberBusy:   {"a member of the party already waits or is in a match", false, http.StatusConflict},
	CodeBadAttributes:     {"the attributes do not fit the world's rules", false, http.StatusBadRequest},
	CodeWorldClosed:       {"this world is closed", false, http.StatusConflict},
	CodeQueueFull:         {"this world's queue is full", true, http.StatusServiceUnavailable},
	CodeRateLimited:       {"too many requests", true, http.StatusTooManyRequests},
	CodeUnavailable:       {"the service is out of reach for the moment", true, http.StatusServiceUnavailable},
	CodeDraining:          {"this instance is stopping; connect again", true, http.StatusServiceUnavailable},
	CodeInternal:          {"something went wrong here", false, http.StatusInternalServerError},
}

// Codes returns all codes, sorted.
func Codes() []string { return slices.Sorted(maps.Keys(codes)) }

// LookupCode tells what there is to know of a code. An unknown code is treated as CodeInternal.
func LookupCode(code string) CodeInfo {
	if info, ok := codes[code]; ok {
		return info
	}
	return codes[CodeInternal]
}

// Error is the reply to a request that was refused. It is a Go error too: the server returns it from
// where it finds out, the client from the call that was refused.
type Error struct {
	Envelope
	Code    string `json:"code"`
	Message string `json:"message"`
	// RetryAfterMS is set exactly where the same request can succeed later.
	RetryAfterMS *int64 `json:"retry_after_ms,omitempty"`
	// TicketID is the ticket that stands, with CodeAlreadyQueued.
	TicketID string `json:"ticket_id,omitempty"`
	// Match is the open match, with CodeInMatch and CodeInProposal.
	Match *Match `json:"match,omitempty"`
}

// NewError is an error of the code, with the code's default text. For a retryable code the caller
// adds RetryAfterMS, by [Error.RetryAfter] for instance.
func NewError(code string) *Error {
	return &Error{Code: code, Message: LookupCode(code).Text}
}

// Errorf is an error of the code with a text of its own.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// RetryAfter sets RetryAfterMS and returns e.
func (e *Error) RetryAfter(ms int64) *Error {
	e.RetryAfterMS = &ms
	return e
}

// Error is the code and the message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }
