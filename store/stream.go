package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// StreamEntry is an entry of the realm's stream as a group's reader gets it.
type StreamEntry struct {
	ID     string
	Fields map[string]string
	// Deliveries is how often the entry was handed to a reader of the group, this time included.
	Deliveries int
}

// ErrNoGroup: Redis has no such group, since it lost its data or nobody has begun to read; see Begin.
var ErrNoGroup = errors.New("no such group of the stream")

// StreamReader reads the realm's stream as a member of a group: each entry goes to one reader of the group, until
// one has done with it. What a reader neither acknowledges nor postpones within Hold goes to another. All methods
// are safe for concurrent use, Claim by one at a time.
type StreamReader struct {
	store *Store
	rdb   redis.UniversalClient
	// Group names the readers that share the work.
	Group string
	hold  time.Duration

	mu     sync.Mutex
	cursor string // where Claim goes on; guarded by mu
}

// Stream is this instance's reader for a group. hold is how long an entry stays with a reader that says nothing.
func (s *Store) Stream(group string, hold time.Duration) (*StreamReader, error) {
	rdb, err := s.stream.get(s)
	if err != nil {
		return nil, err
	}
	return &StreamReader{store: s, rdb: rdb, Group: group, hold: hold, cursor: "0-0"}, nil
}

// streamClient is the client of all readers, built for the first. It is not that of the scripts: a read that waits
// has its connection for itself, and matching must never wait for one.
type streamClient struct {
	once sync.Once
	rdb  redis.UniversalClient
	err  error
}

func (c *streamClient) get(s *Store) (redis.UniversalClient, error) {
	c.once.Do(func() {
		c.rdb, c.err = s.newClient()
	})
	return c.rdb, c.err
}

func (c *streamClient) close() error {
	c.once.Do(func() { c.err = redis.ErrClosed })
	if c.rdb == nil {
		return nil
	}
	return c.rdb.Close()
}

// Begin makes the group where it is missing, notes that it is read, and has the stream kept for it. It reads from the stream's beginning, or
// only what is new.
func (r *StreamReader) Begin(ctx context.Context, fromBeginning bool) error {
	from := "$"
	if fromBeginning {
		from = "0"
	}
	return r.store.tidyGroups(ctx, r.Group, from)
}

// Read waits up to block for entries that no reader of the group has had, and returns at most count. ErrNoGroup.
func (r *StreamReader) Read(ctx context.Context, count int, block time.Duration) ([]StreamEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, block+r.store.opts.CallTimeout)
	defer cancel()
	streams, err := r.rdb.XReadGroup(ctx, &redis.XReadGroupArgs{
		Group: r.Group, Consumer: string(r.store.opts.Instance), Streams: []string{keyStream(r.store.opts.Realm), ">"},
		Count: int64(count), Block: max(block, time.Millisecond), // 0 would wait for ever
	}).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, r.failed("XREADGROUP", err)
	}
	var entries []StreamEntry
	for _, stream := range streams {
		entries = append(entries, entriesOf(stream.Messages)...)
	}
	return entries, nil
}

// claimRounds bounds how often one Claim asks: each looks at ten times as many entries as it may take.
const claimRounds = 10

// Claim takes over at most count entries whose reader has said nothing for the hold, and those whose
// postponement is over. ErrNoGroup.
func (r *StreamReader) Claim(ctx context.Context, count int) ([]StreamEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, r.store.opts.CallTimeout)
	defer cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	for range claimRounds {
		messages, next, err := r.rdb.XAutoClaim(ctx, &redis.XAutoClaimArgs{
			Stream: keyStream(r.store.opts.Realm), Group: r.Group, Consumer: string(r.store.opts.Instance),
			MinIdle: r.hold, Start: r.cursor, Count: int64(count),
		}).Result()
		if err != nil {
			return nil, r.failed("XAUTOCLAIM", err)
		}
		r.cursor = next
		if len(messages) > 0 {
			return r.counted(ctx, entriesOf(messages))
		}
		if next == "0-0" {
			break
		}
	}
	return nil, nil
}

// counted says of each entry how often it was delivered. One that is pending no more counts as new.
func (r *StreamReader) counted(ctx context.Context, entries []StreamEntry) ([]StreamEntry, error) {
	pipe := r.rdb.Pipeline()
	counts := make([]*redis.XPendingExtCmd, len(entries))
	for i, e := range entries {
		counts[i] = pipe.XPendingExt(ctx, &redis.XPendingExtArgs{
			Stream: keyStream(r.store.opts.Realm), Group: r.Group, Start: e.ID, End: e.ID, Count: 1,
		})
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, r.failed("XPENDING", err)
	}
	for i := range entries {
		if pending := counts[i].Val(); len(pending) > 0 {
			entries[i].Deliveries = int(pending[0].RetryCount)
		}
	}
	return entries, nil
}

// Ack says that the group has done with entries.
func (r *StreamReader) Ack(ctx context.Context, entries ...StreamEntry) error {
	if len(entries) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.store.opts.CallTimeout)
	defer cancel()
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	if err := r.rdb.XAck(ctx, keyStream(r.store.opts.Realm), r.Group, ids...).Err(); err != nil {
		return r.failed("XACK", err)
	}
	return nil
}

// Postpone has Claim of any reader return an entry after wait, which is at most the hold. Redis keeps the time: it
// takes the entry for as long idle as makes the hold end then.
func (r *StreamReader) Postpone(ctx context.Context, entry StreamEntry, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, r.store.opts.CallTimeout)
	defer cancel()
	idle := max(0, r.hold-wait)
	err := r.rdb.Do(ctx, "XCLAIM", keyStream(r.store.opts.Realm), r.Group, string(r.store.opts.Instance), 0, entry.ID,
		"IDLE", idle.Milliseconds(), "RETRYCOUNT", entry.Deliveries, "JUSTID").Err()
	if err != nil {
		return r.failed("XCLAIM", err)
	}
	return nil
}

// failed names the command and says ErrNoGroup where the group is gone.
func (r *StreamReader) failed(command string, err error) error {
	for _, prefix := range []string{"NOGROUP", "UNBLOCKED", "ERR no such key"} {
		if redis.HasErrorPrefix(err, prefix) {
			return fmt.Errorf("%s: %w", command, ErrNoGroup)
		}
	}
	return r.store.unavailable(command, err)
}

func entriesOf(messages []redis.XMessage) []StreamEntry {
	entries := make([]StreamEntry, 0, len(messages))
	for _, m := range messages {
		e := StreamEntry{ID: m.ID, Fields: make(map[string]string, len(m.Values)), Deliveries: 1}
		for name, value := range m.Values {
			if text, ok := value.(string); ok {
				e.Fields[name] = text
			}
		}
		entries = append(entries, e)
	}
	return entries
}
