package client

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/coder/websocket"

	"muster/protocol"
)

var (
	// ErrSlowConsumer ends a connection whose events were not taken in time.
	ErrSlowConsumer = errors.New("events were not taken in time")
	// ErrBadEvent ends a connection whose server sent something that is not the protocol.
	ErrBadEvent = errors.New("the server broke the protocol")
)

// CloseError tells that the connection ended.
type CloseError struct {
	// Code is the close code, -1 where the connection broke without one.
	Code   int
	Reason string
	// Err is what the WebSocket said.
	Err error
}

// Error is the code and the reason, or the cause where there is no code.
func (e *CloseError) Error() string {
	if e.Code < 0 {
		return fmt.Sprintf("connection lost: %v", e.Err)
	}
	return fmt.Sprintf("connection closed: %d %s", e.Code, e.Reason)
}

// Unwrap is what the WebSocket said.
func (e *CloseError) Unwrap() error { return e.Err }

// closeError is the error of a connection whose reading ended with err.
func closeError(err error) error {
	if errors.Is(err, ErrSlowConsumer) || errors.Is(err, ErrBadEvent) {
		return err
	}
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		return &CloseError{Code: int(closed.Code), Reason: closed.Reason, Err: err}
	}
	return &CloseError{Code: -1, Err: err}
}

// HandshakeError tells that no WebSocket came about.
type HandshakeError struct {
	// Status is the HTTP status, 0 where there was no answer.
	Status int
	// RetryAfter is what the server asked to wait, 0 where it did not.
	RetryAfter time.Duration
	Err        error
}

// Error is the status, if there was one, and the cause.
func (e *HandshakeError) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("dial: %v", e.Err)
	}
	return fmt.Sprintf("upgrade refused with status %d: %v", e.Status, e.Err)
}

// Unwrap is the cause.
func (e *HandshakeError) Unwrap() error { return e.Err }

func handshakeError(response *http.Response, err error) error {
	e := &HandshakeError{Err: err}
	if response != nil {
		e.Status = response.StatusCode
		if seconds, err := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 16); err == nil {
			e.RetryAfter = time.Duration(seconds) * time.Second
		}
	}
	return e
}

// retry tells whether connecting again can help after err, and how long the server asked to wait at
// least.
func retry(err error) (wait time.Duration, ok bool) {
	var (
		handshake *HandshakeError
		refused   *protocol.Error
		closed    *CloseError
	)
	switch {
	case errors.As(err, &handshake):
		final := handshake.Status >= 400 && handshake.Status < 500 &&
			handshake.Status != http.StatusTooManyRequests && handshake.Status != http.StatusRequestTimeout
		return handshake.RetryAfter, !final
	case errors.As(err, &refused):
		if refused.RetryAfterMS != nil {
			wait = time.Duration(*refused.RetryAfterMS) * time.Millisecond
		}
		return wait, protocol.LookupCode(refused.Code).Retryable || refused.Code == protocol.CodeInternal
	case errors.As(err, &closed):
		return 0, protocol.MayReconnect(closed.Code)
	}
	// A deadline of the attempt; whereas a consumer that is too slow or a server that is not one will
	// be the same the next time.
	return 0, !errors.Is(err, ErrSlowConsumer) && !errors.Is(err, ErrBadEvent)
}
