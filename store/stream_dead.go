package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// deadBound is about how many dead letters are kept; the oldest go first.
const deadBound = 10_000

// Fields of a dead letter beside those of the entry. A field of the entry never begins like them.
const (
	deadGroup  = "dead.group"
	deadReason = "dead.reason"
	deadAt     = "dead.at"
	// onlyFor is the group that an entry which was put back is for; other groups have done with it before.
	onlyFor = "only"
)

// DeadLetter is an entry that a group gave up.
type DeadLetter struct {
	ID string
	// Group gave it up, for Reason, At (Unix milliseconds).
	Group, Reason string
	At            int64
	Entry         StreamEntry
}

// For tells whether an entry concerns a group: one that was put back concerns only the group that had given it up.
func (e StreamEntry) For(group string) bool {
	only := e.Fields[onlyFor]
	return only == "" || only == group
}

// Bury gives an entry up: it becomes a dead letter and is done with, both or neither.
func (r *StreamReader) Bury(ctx context.Context, entry StreamEntry, reason string) error {
	args := []any{entry.ID, r.Group, reason, deadBound}
	for _, name := range slices.Sorted(maps.Keys(entry.Fields)) {
		args = append(args, name, entry.Fields[name])
	}
	if entry.Fields["at"] == "" {
		at, _, _ := strings.Cut(entry.ID, "-") // it gets another id when it is put back
		args = append(args, "at", at)
	}
	return r.store.plain(ctx, call{script: "bury_entry", args: args})
}

// DeadLetters are at most count dead letters after an id, the oldest first; after "" from the first on.
func (s *Store) DeadLetters(ctx context.Context, after string, count int) ([]DeadLetter, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	from := "-"
	if after != "" {
		from = "(" + after
	}
	messages, err := s.rdb.XRangeN(ctx, keyDead(s.opts.Realm), from, "+", int64(count)).Result()
	if err != nil {
		return nil, s.unavailable("XRANGE", err)
	}
	letters := make([]DeadLetter, 0, len(messages))
	for _, e := range entriesOf(messages) {
		letters = append(letters, deadLetterOf(e))
	}
	return letters, nil
}

func deadLetterOf(e StreamEntry) DeadLetter {
	d := DeadLetter{ID: e.ID, Group: e.Fields[deadGroup], Reason: e.Fields[deadReason]}
	d.At, _ = strconv.ParseInt(e.Fields[deadAt], 10, 64) // Bury wrote a number
	for _, name := range []string{deadGroup, deadReason, deadAt} {
		delete(e.Fields, name)
	}
	d.Entry = e
	return d
}

// ErrNoDeadLetter: there is no dead letter of that id.
var ErrNoDeadLetter = errors.New("no such dead letter")

// PutBack puts a dead letter at the end of the stream again, for its group only, and takes it off the dead
// letters, both or neither. ErrNoDeadLetter.
func (s *Store) PutBack(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	messages, err := s.rdb.XRange(ctx, keyDead(s.opts.Realm), id, id).Result()
	if err != nil {
		return s.unavailable("XRANGE", err)
	}
	if len(messages) == 0 {
		return fmt.Errorf("%s: %w", id, ErrNoDeadLetter)
	}
	d := deadLetterOf(entriesOf(messages)[0])
	fields := []any{onlyFor, d.Group}
	for _, name := range slices.Sorted(maps.Keys(d.Entry.Fields)) {
		if name != onlyFor {
			fields = append(fields, name, d.Entry.Fields[name])
		}
	}
	_, err = s.rdb.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		tx.XAdd(ctx, &redis.XAddArgs{Stream: keyStream(s.opts.Realm), Values: fields})
		tx.XDel(ctx, keyDead(s.opts.Realm), id)
		return nil
	})
	if err != nil {
		return s.unavailable("XADD", err)
	}
	return nil
}
