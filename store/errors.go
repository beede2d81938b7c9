package store

import (
	"errors"
	"fmt"
	"time"

	"muster/internal/ident"
)

// What a script may refuse. Each is returned for the player (or the call) that it concerns, and means
// that nothing was changed for it.
var (
	// ErrLostHistory: the epoch that the caller believes in is not Redis' own; assert, then call again.
	ErrLostHistory = errors.New("history lost")
	// ErrStaleRevision: the world's settings have changed; read them and call again.
	ErrStaleRevision = errors.New("stale revision")
	// ErrReplaced: a newer session has the player.
	ErrReplaced = errors.New("replaced by a newer session")
	// ErrGone: the player has no presence; it must arrive (or send a heartbeat) first.
	ErrGone = errors.New("no presence")
	// ErrTooManyWorlds: the player waits in as many worlds as one may.
	ErrTooManyWorlds = errors.New("too many worlds")
	// ErrQueueFull: the world's queue takes no more players.
	ErrQueueFull = errors.New("queue full")
	// ErrKeyReused: the ticket key was used for a join with other content.
	ErrKeyReused = errors.New("ticket key used for other content")
	// ErrNoSuchMatch: the match is not the player's open match, or it is over.
	ErrNoSuchMatch = errors.New("no such match")
	// ErrUnknownWorld: the world is not declared, or on its way out.
	ErrUnknownWorld = errors.New("unknown world")
	// ErrWorldClosed: the world is declared, and closed.
	ErrWorldClosed = errors.New("world closed")
	// ErrUnavailable: Redis could not be reached or refused to serve. Whether the call took effect is
	// not known; a read of the state tells.
	ErrUnavailable = errors.New("redis unavailable")
	// ErrOutlived is an ErrUnavailable: the call took effect, in a history that is lost.
	ErrOutlived = fmt.Errorf("%w: the history that the call changed is lost", ErrUnavailable)
)

// AlreadyQueuedError says that the player waits in the world, with the ticket it has.
type AlreadyQueuedError struct{ Ticket ident.Ticket }

func (e *AlreadyQueuedError) Error() string { return "already queued as " + string(e.Ticket) }

// TakenError says that another live session has the player.
type TakenError struct{ Generation ident.Place }

func (e *TakenError) Error() string { return "session " + e.Generation.String() + " has the player" }

// InMatchError says that the player is in an open match.
type InMatchError struct {
	Match ident.Match
	// Held says that the match does not stand yet: it is proposed, or waits for its server.
	Held bool
	// EndsAt is when the match is over, in Unix milliseconds; Overdue that this had passed by Redis'
	// clock when the script ran, of a match that stands.
	EndsAt  int64
	Overdue bool
}

func (e *InMatchError) Error() string { return "in match " + string(e.Match) }

// CooledDownError says that the player declined a match of the world, or let it pass, and may not join again yet.
type CooledDownError struct {
	// For is how long it still lasts.
	For time.Duration
}

func (e *CooledDownError) Error() string { return "cooled down for " + e.For.String() }

var codeErrors = map[int64]error{
	codeLostHistory:   ErrLostHistory,
	codeStaleRevision: ErrStaleRevision,
	codeReplaced:      ErrReplaced,
	codeGone:          ErrGone,
	codeTooManyWorlds: ErrTooManyWorlds,
	codeQueueFull:     ErrQueueFull,
	codeKeyReused:     ErrKeyReused,
	codeNoSuchMatch:   ErrNoSuchMatch,
	codeTooLate:       ErrUnavailable,
	codeUnknownWorld:  ErrUnknownWorld,
	codeWorldClosed:   ErrWorldClosed,
}

// errorOf is the error that a negative status stands for, nil for others.
func errorOf(status int64) error {
	if status >= 0 {
		return nil
	}
	if err, ok := codeErrors[status]; ok {
		return err
	}
	return fmt.Errorf("script status %d is not in the table of codes", status)
}
