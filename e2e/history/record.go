package history

import (
	"slices"
	"sync"
	"time"

	"muster/protocol"
)

// Kind is what an Entry tells.
type Kind int

// The kinds of entries.
const (
	Dialed Kind = iota + 1 // the client begins a connection
	Sent                   // a request is about to be sent
	Heard                  // a message of the server has come
	Ended                  // the connection has ended
)

// Entry is one line of a player's log.
type Entry struct {
	At   time.Time
	Conn int // the player's connection, counted from 1
	Kind Kind

	Request protocol.Request // of Sent
	Event   protocol.Event   // of Heard
	Code    int              // of Ended: the close code, -1 for none
}

// message is the request or the event, nil for none.
func (e Entry) message() protocol.Message {
	switch e.Kind {
	case Sent:
		return e.Request
	case Heard:
		return e.Event
	default:
		return nil
	}
}

// Span is a stretch of time. A zero To is open.
type Span struct{ From, To time.Time }

// Loss is a moment at which Redis lost what it knew, until everything was to be healed.
type Loss struct {
	Span
	// Instances died or were cut off from Redis in the same loss: their players may lose their places.
	Instances []string
}

// History is what all clients of a realm sent and heard.
type History struct {
	mu       sync.Mutex
	logs     map[string]*Log // guarded by mu
	losses   []Loss          // guarded by mu
	troubles []Span          // guarded by mu
	outages  []Span          // guarded by mu
}

// New is an empty history.
func New() *History { return &History{logs: map[string]*Log{}} }

// Player is the log of a player, new at the first call.
func (h *History) Player(id string) *Log {
	h.mu.Lock()
	defer h.mu.Unlock()
	log, ok := h.logs[id]
	if !ok {
		log = &Log{belief: newReplay(id, nil)}
		h.logs[id] = log
	}
	return log
}

// Lost declares a loss of history.
func (h *History) Lost(loss Loss) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.losses = append(h.losses, loss)
}

// Troubled declares a time in which nothing could be expected to come in time: Redis was out of reach,
// or instances stood still.
func (h *History) Troubled(span Span) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.troubles = append(h.troubles, span)
}

// Unreachable declares a time, longer than two seconds, in which Redis was out of the reach of all instances.
// That this is trouble has to be declared as well.
func (h *History) Unreachable(span Span) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.outages = append(h.outages, span)
}

// Log is what one player sent and heard, in order, over all its connections.
type Log struct {
	mu      sync.Mutex
	conns   int     // guarded by mu
	entries []Entry // guarded by mu
	belief  *replay // of entries; guarded by mu
}

// Dial notes that a connection begins and returns its number.
func (l *Log) Dial() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns++
	l.add(Entry{Conn: l.conns, Kind: Dialed})
	return l.conns
}

// Send notes a request; to be called before it goes out, so that the server cannot be faster.
func (l *Log) Send(conn int, r protocol.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(Entry{Conn: conn, Kind: Sent, Request: r})
}

// Hear notes a message of the server.
func (l *Log) Hear(conn int, e protocol.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(Entry{Conn: conn, Kind: Heard, Event: e})
}

// End notes that a connection ended; only the first call for it counts.
func (l *Log) End(conn, code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range slices.Backward(l.entries) {
		if e.Conn == conn && e.Kind == Ended {
			return
		}
		if e.Conn == conn && e.Kind == Dialed {
			break
		}
	}
	l.add(Entry{Conn: conn, Kind: Ended, Code: code})
}

// Entries is a copy of the log so far.
func (l *Log) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

// add notes an entry of this moment. The caller holds mu.
func (l *Log) add(e Entry) {
	e.At = time.Now()
	l.entries = append(l.entries, e)
	l.belief.take(e)
}
