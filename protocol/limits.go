package protocol

import (
	"time"

	"muster/internal/ident"
)

// What names the protocol.
const (
	// Version is the value of Welcome.Protocol.
	Version = 1
	// Subprotocol is what a client offers and the server selects in the upgrade.
	Subprotocol = "muster.v1"
	// Path is where the WebSocket is.
	Path = "/v1/ws"
)

// Limits of messages.
const (
	// MaxFrameBytes is the default of the longest frame that a client may send; an operator may
	// set another.
	MaxFrameBytes = 16 << 10
	// MaxDepth is how deep objects and lists may be nested, the outermost counted.
	MaxDepth = 16
	// MaxIDLength is the most characters of an id.
	MaxIDLength = ident.MaxLength
	// MaxTicketIDLength is the most characters of a ticket's id: of the world's name, a dot and a place.
	MaxTicketIDLength = MaxIDLength + 1 + 16
	// MaxCorrelationLength is the most characters of a message's own `id`, which may hold any
	// character, unlike other ids.
	MaxCorrelationLength = 64
	// MaxInteger bounds integers on both sides of zero: beyond it a JavaScript client would round.
	MaxInteger = 1 << 53
	// MaxHaveTickets bounds Have.Tickets. Each ticket that does not stand costs one event, and a
	// player waits in a handful of worlds, so that more is not a belief but an attack.
	MaxHaveTickets = 64
	// MaxClientLength is how much is kept of Hello.Client, in characters; the rest is cut off.
	MaxClientLength = 128
	// MaxWaitingRequests is how many requests of a connection may wait for their turn; one more is
	// answered CodeRateLimited.
	MaxWaitingRequests = 16
	// MaxNotices is how many notices a player's state repeats.
	MaxNotices = 8
)

// Spans of time that both sides rely on.
const (
	// HelloTimeout is how long the server waits for `hello`.
	HelloTimeout = 5 * time.Second
	// PongTimeout is how long a client waits for `pong` before it takes the connection for dead.
	PongTimeout = 5 * time.Second
	// SlowTimeout is how long the server tries to deliver a close code to a client that does not
	// read.
	SlowTimeout = time.Second
	// RateLimitedTimeout is how long a client may run into CodeRateLimited before it is closed.
	RateLimitedTimeout = 10 * time.Second
	// TicketKeyTTL is how long a join's key is remembered after its ticket ended.
	TicketKeyTTL = 5 * time.Minute
	// NoticeTTL is how long a notice is kept for its player.
	NoticeTTL = 24 * time.Hour
	// TokenWarning is how long before its end a token is announced to be expiring.
	TokenWarning = time.Minute
)
