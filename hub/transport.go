package hub

import "context"

// Transport is one accepted connection, as a session needs it.
type Transport interface {
	// Write sends one text frame. It may wait for as long as the client does not read, until Abort.
	Write(frame []byte) error
	// Ping sends a ping and waits for the pong.
	Ping(ctx context.Context) error
	// Close sends a close frame and ends the connection, within a second.
	Close(code int, reason string)
	// Abort ends the connection at once.
	Abort()
}
