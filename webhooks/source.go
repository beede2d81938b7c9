package webhooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"muster/store"
)

// Delivery is an event on its way to an address.
type Delivery struct {
	Event
	// Attempt is the number of this one, from 1 on.
	Attempt int
	// Entry is the stream's, where the delivery comes from there.
	Entry store.StreamEntry
	// Unreadable says why the event cannot be read; nil if it can. The delivery is retried and given up as one that
	// fails, without a request: an instance of another version may read it.
	Unreadable error
}

// Source is where the deliveries to one address wait. A delivery that was claimed is nobody else's until something
// is said of it, or until the source's hold is over: its claimer may have died.
type Source interface {
	// Claim waits up to about a second for deliveries that are due, and returns at most n, or none.
	Claim(ctx context.Context, n int) ([]Delivery, error)
	Delivered(ctx context.Context, d Delivery) error
	// Postpone has it due after wait, which is at most MaxPause.
	Postpone(ctx context.Context, d Delivery, wait time.Duration, reason string) error
	// Bury gives it up; it is kept where it can be put back.
	Bury(ctx context.Context, d Delivery, reason string) error
}

// MaxPause is the longest pause between two attempts, and Hold how long a delivery stays with a claimer that says
// nothing: long enough for the pause, and for an attempt.
const (
	MaxPause = time.Minute
	Hold     = MaxPause
)

// Stream is the realm's stream as an address' group reads it; see store.StreamReader.
type Stream interface {
	Begin(ctx context.Context, fromBeginning bool) error
	Read(ctx context.Context, count int, block time.Duration) ([]store.StreamEntry, error)
	Claim(ctx context.Context, count int) ([]store.StreamEntry, error)
	Ack(ctx context.Context, entries ...store.StreamEntry) error
	Postpone(ctx context.Context, entry store.StreamEntry, wait time.Duration) error
	Bury(ctx context.Context, entry store.StreamEntry, reason string) error
	Tidy(ctx context.Context) error
}

// Group names the group of the stream that is an address' own.
func Group(url string) string {
	sum := sha256.Sum256([]byte(url))
	return GroupPrefix + hex.EncodeToString(sum[:8])
}

// GroupPrefix is what the names of all such groups begin with.
const GroupPrefix = "webhook:"

const (
	// block is how long a claim waits for what is new; it is also how long Stop may have to.
	block = 500 * time.Millisecond
	// claimInterval is how often what is due again is looked for, tidyInterval how often the stream is tidied.
	claimInterval = time.Second
	tidyInterval  = 5 * time.Second
)

// streamSource has the deliveries of an address in the realm's stream itself. It is used by one goroutine, but
// for what is said of a delivery.
type streamSource struct {
	stream Stream
	group  string
	realm  string
	wants  map[Type]bool

	begun           bool
	claimed, tidied time.Time
}

// NewStreamSource is the Source of an address in the realm's stream. An address that is new is told what happens
// from then on.
func NewStreamSource(stream Stream, realm string, target Target) Source {
	return &streamSource{stream: stream, group: Group(target.URL), realm: realm, wants: target.wants()}
}

func (s *streamSource) Claim(ctx context.Context, n int) ([]Delivery, error) {
	if !s.begun {
		if err := s.stream.Begin(ctx, false); err != nil {
			return nil, err
		}
		// Not tidied at once: after a long stop the groups of other addresses must be marked as read first.
		s.begun, s.tidied = true, time.Now()
	}
	entries, err := s.next(ctx, n)
	if errors.Is(err, store.ErrNoGroup) {
		// Redis lost its data; what is in the stream happened since.
		return nil, s.stream.Begin(ctx, true)
	}
	if err != nil {
		return nil, err
	}
	return s.deliveries(ctx, entries)
}

func (s *streamSource) next(ctx context.Context, n int) ([]store.StreamEntry, error) {
	if time.Since(s.tidied) >= tidyInterval {
		if err := s.stream.Tidy(ctx); err != nil {
			return nil, err
		}
		s.tidied = time.Now()
	}
	if time.Since(s.claimed) >= claimInterval {
		entries, err := s.stream.Claim(ctx, n)
		if err != nil || len(entries) > 0 {
			return entries, err
		}
		s.claimed = time.Now()
	}
	return s.stream.Read(ctx, n, block)
}

// deliveries are those of entries that the address wants; of the others it is done with at once. An entry that cannot be
// read is a delivery too, so that it stops no other.
func (s *streamSource) deliveries(ctx context.Context, entries []store.StreamEntry) ([]Delivery, error) {
	var deliveries []Delivery
	var unwanted []store.StreamEntry
	for _, entry := range entries {
		if !entry.For(s.group) {
			unwanted = append(unwanted, entry)
			continue
		}
		event, err := s.eventOf(entry)
		if err != nil {
			event = Event{ID: entry.ID}
		} else if !s.wants[event.Type] {
			unwanted = append(unwanted, entry)
			continue
		}
		deliveries = append(deliveries, Delivery{Event: event, Attempt: entry.Deliveries, Entry: entry, Unreadable: err})
	}
	return deliveries, s.stream.Ack(ctx, unwanted...)
}

func (s *streamSource) eventOf(entry store.StreamEntry) (Event, error) {
	e, err := store.ParseEvent(entry)
	if err != nil {
		return Event{}, err
	}
	return EventOf(s.realm, e)
}

func (s *streamSource) Delivered(ctx context.Context, d Delivery) error {
	return s.stream.Ack(ctx, d.Entry)
}

func (s *streamSource) Postpone(ctx context.Context, d Delivery, wait time.Duration, _ string) error {
	return s.stream.Postpone(ctx, d.Entry, wait)
}

func (s *streamSource) Bury(ctx context.Context, d Delivery, reason string) error {
	return s.stream.Bury(ctx, d.Entry, reason)
}
