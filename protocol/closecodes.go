package protocol

// Close codes of the WebSocket. 1000 comes from clients only.
const (
	CloseNormal          = 1000 // the client is done
	CloseGoingAway       = 1001 // the server stops, after going_away
	CloseUnsupported     = 1003 // a binary frame
	CloseInvalidText     = 1007 // a text frame that is not UTF-8
	CloseTooLarge        = 1009 // a frame over the limit
	CloseInternal        = 1011 // a fault of the server
	CloseTooMany         = 1013 // too many connections, of this address or in all
	CloseSlow            = 4002 // the client reads too slowly; best effort
	CloseNoHeartbeat     = 4003 // nothing was heard for presence.ttl
	CloseUnauthorized    = 4401 // after an error unauthorized
	CloseHelloTimeout    = 4408 // no hello in time
	CloseReplaced        = 4409 // a newer session of the same player took over
	CloseTooManyMessages = 4429 // ten seconds of rate_limited
)

// MaxCloseReasonBytes is the most that a close frame's reason may hold (RFC 6455, 5.5).
const MaxCloseReasonBytes = 123

var closeNames = map[int]string{
	CloseNormal:          "normal",
	CloseGoingAway:       "going away",
	CloseUnsupported:     "binary frames are not supported",
	CloseInvalidText:     "invalid utf-8",
	CloseTooLarge:        "frame too large",
	CloseInternal:        "internal error",
	CloseTooMany:         "too many connections",
	CloseSlow:            "too slow to read",
	CloseNoHeartbeat:     "no heartbeat",
	CloseUnauthorized:    "unauthorized",
	CloseHelloTimeout:    "no hello in time",
	CloseReplaced:        "replaced by a newer session",
	CloseTooManyMessages: "too many messages",
}

// CloseName is the reason that the server sends with a close code, and "" for a code that it does not
// use.
func CloseName(code int) string { return closeNames[code] }

// MayReconnect reports whether a client whose connection ended with the code should connect again,
// with back-off. Where it is false, connecting again unchanged would end the same way. A connection
// that ended without a code (websocket.CloseStatus gives -1) may be opened again.
func MayReconnect(code int) bool {
	switch code {
	case CloseUnsupported, CloseInvalidText, CloseTooLarge:
		return false
	}
	return code < 4400 || code > 4499
}
