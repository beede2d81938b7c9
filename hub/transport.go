package hub

// Transport is one accepted connection, as a session needs it.
type Transport interface {
	// Write sends text frames and, where ping is set, a ping behind them, whose pong is a sign of life; all at once where
	// the connection takes them. It does not wait: where the client does not take all of it now, flush is not nil and has
	// to be called; it waits for as long as the client does not read, until Abort.
	Write(frames [][]byte, ping bool) (flush func() error, err error)
	// Close sends a close frame and ends the connection, within a second.
	Close(code int, reason string)
	// Abort ends the connection at once.
	Abort()
}
