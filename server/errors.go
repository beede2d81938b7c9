package server

import (
	"context"
	"errors"

	"muster/matching"
	"muster/protocol"
	"muster/store"
)

// retryMS is when a request that failed for the moment is worth trying again, in milliseconds.
const retryMS = 1000

// wireCodes say what a client is told of an error of the packages below. What is not here is internal.
var wireCodes = []struct {
	err  error
	code string
}{
	{store.ErrReplaced, protocol.CodeReplaced},
	{store.ErrGone, protocol.CodeNoPresence},
	{store.ErrTooManyWorlds, protocol.CodeTooManyWorlds},
	{store.ErrQueueFull, protocol.CodeQueueFull},
	{store.ErrNoSuchMatch, protocol.CodeNoSuchMatch},
	{store.ErrUnknownWorld, protocol.CodeUnknownWorld},
	{store.ErrWorldClosed, protocol.CodeWorldClosed},
	{store.ErrUnavailable, protocol.CodeUnavailable},
	{store.ErrLostHistory, protocol.CodeUnavailable},
	{store.ErrStaleRevision, protocol.CodeUnavailable},
	{context.DeadlineExceeded, protocol.CodeUnavailable},
	{context.Canceled, protocol.CodeUnavailable},
	{matching.ErrOverloaded, protocol.CodeUnavailable},
	{matching.ErrStopped, protocol.CodeDraining},
}

// wireError is an error as a client is told it.
func (s *Server) wireError(err error) *protocol.Error {
	var (
		wire    *protocol.Error
		queued  *store.AlreadyQueuedError
		inMatch *store.InMatchError
		cooled  *store.CooledDownError
	)
	switch {
	case errors.As(err, &wire):
		return wire
	case errors.As(err, &queued):
		e := protocol.NewError(protocol.CodeAlreadyQueued)
		e.TicketID = string(queued.Ticket)
		return e
	case errors.As(err, &inMatch) && inMatch.Held:
		return protocol.NewError(protocol.CodeInProposal)
	case errors.As(err, &inMatch):
		return protocol.NewError(protocol.CodeInMatch)
	case errors.As(err, &cooled):
		return protocol.Errorf(protocol.CodeRateLimited, "declined a match of this world, or let it pass").
			RetryAfter(max(1, cooled.For.Milliseconds()))
	case errors.Is(err, store.ErrKeyReused):
		return protocol.Errorf(protocol.CodeBadMessage, "ticket: this key was used for a join with other content")
	}
	for _, w := range wireCodes {
		if errors.Is(err, w.err) {
			return retryable(protocol.NewError(w.code))
		}
	}
	s.log.Error().Err(err).Msg("request failed")
	return protocol.NewError(protocol.CodeInternal)
}

// retryable adds when to try again, where that makes sense.
func retryable(e *protocol.Error) *protocol.Error {
	if protocol.LookupCode(e.Code).Retryable && e.RetryAfterMS == nil {
		return e.RetryAfter(retryMS)
	}
	return e
}
