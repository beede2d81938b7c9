package hub

// Transport is one accepted connection, as a session needs it.
type Transport interface {
	// Write sends text frames, all at once where the connection takes them. It may wait for as long as the
	// client does not read, until Abort.
	Write(frames ...[]byte) error
	// Ping sends a ping; its pong is a sign of life. It may wait as Write does.
	Ping() error
	// Close sends a close frame and ends the connection, within a second.
	Close(code int, reason string)
	// Abort ends the connection at once.
	Abort()
}
