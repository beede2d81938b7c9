package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// JournalGroup reads the stream for the durable record. While it is there, scripts keep JournalBound entries, and
// about 10,000 otherwise.
const (
	JournalGroup = "journal"
	JournalBound = 1_000_000
)

const (
	// groupTTL is how long the stream is kept for a group that nobody reads: an address that is no longer set
	// must not hold it for ever, and a record that is switched off for a night must find it.
	groupTTL = 24 * time.Hour
	// tidyGap is the longest time without a call of Tidy or TidyStream that counts for groupTTL: more than the interval of
	// an instance that reads nothing.
	tidyGap = 15 * time.Minute
	// consumerTTL is how long a reader without entries is remembered; each start of an instance is a new one.
	consumerTTL = time.Hour
)

// plain runs a script that compares no epoch: what it changes belongs to readers of the stream. A full Redis refuses plain
// commands that write, but not these scripts.
func (s *Store) plain(ctx context.Context, c call) error {
	replies, err := s.attempt(ctx, []call{c})
	if err != nil {
		return err
	}
	return replies[0].err()
}

// StreamLength is how many entries the stream has. After Tidy those are all from the first one on that some group
// has not done with.
func (s *Store) StreamLength(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	n, err := s.rdb.XLen(ctx, keyStream(s.opts.Realm)).Result()
	if err != nil {
		return 0, s.unavailable("XLEN", err)
	}
	return n, nil
}

// Tidy notes that the group is read and the stream kept for it, forgets readers of it that are no more, and does what TidyStream does. To be
// called every few seconds. ErrNoGroup where the group is gone.
func (r *StreamReader) Tidy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.store.opts.CallTimeout)
	defer cancel()
	if err := r.dropConsumers(ctx, consumerTTL); err != nil {
		return err
	}
	return r.store.tidyStream(ctx, r.Group)
}

// TidyStream drops groups that nobody has read for a day, and deletes what all groups have done with. An instance
// that reads nothing calls it now and then, so that what it was once set to do does not hold the stream.
func (s *Store) TidyStream(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	return s.tidyStream(ctx, "")
}

func (s *Store) tidyStream(ctx context.Context, group string) error {
	if err := s.tidyGroups(ctx, group, ""); err != nil {
		return err
	}
	groups, err := s.rdb.XInfoGroups(ctx, keyStream(s.opts.Realm)).Result()
	if redis.HasErrorPrefix(err, "ERR no such key") {
		return nil
	}
	if err != nil {
		return s.unavailable("XINFO GROUPS", err)
	}
	return s.trimStream(ctx, groups)
}

// tidyGroups notes that a group is read, if one is named, and drops those that nobody has read for long. With from, the id of the
// entry behind which it begins, the group is made if it is missing. Groups that somebody else made stay.
func (s *Store) tidyGroups(ctx context.Context, group, from string) error {
	return s.plain(ctx, call{script: "tidy_groups", args: []any{group, groupTTL.Milliseconds(), tidyGap.Milliseconds(), from}})
}

// trimStream deletes all entries before the first that some group has not done with.
func (s *Store) trimStream(ctx context.Context, groups []redis.XInfoGroup) error {
	stream := keyStream(s.opts.Realm)
	var oldest streamID
	for i, g := range groups {
		first, err := parseStreamID(g.LastDeliveredID)
		if err != nil {
			return err
		}
		first.seq++ // of what was delivered all is done with, unless it is pending
		if g.Pending > 0 {
			pending, err := s.rdb.XPending(ctx, stream, g.Name).Result()
			if err != nil {
				return s.unavailable("XPENDING", err)
			}
			if pending.Count > 0 {
				if first, err = parseStreamID(pending.Lower); err != nil {
					return err
				}
			}
		}
		if i == 0 || first.before(oldest) {
			oldest = first
		}
	}
	if len(groups) == 0 {
		return nil
	}
	if err := s.rdb.XTrimMinID(ctx, stream, oldest.String()).Err(); err != nil {
		return s.unavailable("XTRIM", err)
	}
	return nil
}

// dropConsumers forgets the group's readers that are no more. One with entries stays until they are taken over:
// with it Redis would forget that they are not done.
func (r *StreamReader) dropConsumers(ctx context.Context, after time.Duration) error {
	stream := keyStream(r.store.opts.Realm)
	consumers, err := r.rdb.XInfoConsumers(ctx, stream, r.Group).Result()
	if err != nil {
		return r.failed("XINFO CONSUMERS", err)
	}
	for _, c := range consumers {
		if c.Pending > 0 || c.Idle < after || c.Name == string(r.store.opts.Instance) {
			continue
		}
		if err := r.rdb.XGroupDelConsumer(ctx, stream, r.Group, c.Name).Err(); err != nil {
			return r.failed("XGROUP DELCONSUMER", err)
		}
	}
	return nil
}

// streamID is the id of an entry: milliseconds, and a number within them.
type streamID struct{ ms, seq uint64 }

func parseStreamID(text string) (id streamID, err error) {
	ms, seq, _ := strings.Cut(text, "-")
	id.ms, err = strconv.ParseUint(ms, 10, 64)
	if err == nil && seq != "" {
		id.seq, err = strconv.ParseUint(seq, 10, 64)
	}
	if err != nil {
		return streamID{}, fmt.Errorf("stream id %q: %w", text, err)
	}
	return id, nil
}

func (id streamID) before(other streamID) bool {
	return id.ms < other.ms || id.ms == other.ms && id.seq < other.seq
}

func (id streamID) String() string { return fmt.Sprintf("%d-%d", id.ms, id.seq) }
