package journal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/ident"
	"muster/internal/redistest"
	"muster/store"
)

// deadline is how long a test waits for what is to come: long, since the machine may be busy.
const deadline = 30 * time.Second

// bundle is a realm with a database, and what a test does to them.
type bundle struct {
	*testing.T
	ctx       context.Context
	realm     string
	redis     *redistest.Server
	url       string // of PostgreSQL
	database  *Database
	instances int
}

// setup makes a realm on a Redis and a PostgreSQL; the schema is there.
func setup(t *testing.T, server *redistest.Server, url string) *bundle {
	t.Helper()
	b := &bundle{T: t, ctx: context.Background(), realm: redistest.Realm(t), redis: server, url: url}
	var err error
	b.database, err = OpenDatabase(b.ctx, url, b.realm)
	b.must(err)
	t.Cleanup(b.database.Close)
	b.must(b.database.migrate(b.ctx))
	return b
}

func (b *bundle) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// store is an instance's access to the realm, as long as the test.
func (b *bundle) store() *store.Store {
	b.Helper()
	b.instances++
	s, err := store.Open(store.Options{URL: b.redis.URL(), Realm: b.realm, Instance: ident.Instance(fmt.Sprintf("i%d", b.instances)),
		CallTimeout: 30 * time.Second}) // the machine may be busy
	b.must(err)
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// stream is an instance's reader, which holds entries for as long as is given.
func (b *bundle) stream(s *store.Store, hold time.Duration) *store.StreamReader {
	b.Helper()
	stream, err := s.Stream(store.JournalGroup, hold)
	b.must(err)
	return stream
}

// start starts an instance's journal, which change may have changed.
func (b *bundle) start(change func(*Options)) *Journal {
	b.Helper()
	s := b.store()
	opts := Options{
		URL: b.url, Realm: b.realm, Store: s, Stream: b.stream(s, time.Second), Attempts: 3, Log: zerolog.Nop(),
	}
	if change != nil {
		change(&opts)
	}
	j, err := New(b.ctx, opts)
	b.must(err)
	b.must(j.Start(b.ctx))
	b.Cleanup(j.Stop)
	return j
}

// happen adds an entry to the stream, as scripts do.
func (b *bundle) happen(fields ...string) {
	b.Helper()
	values := []any{"XADD", b.key(), "*"}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		values = append(values, name, value)
	}
	_, err := b.redis.Do(b.ctx, values...)
	b.must(err)
}

func (b *bundle) key() string { return "mm:{" + b.realm + "}:st" }

// matchText is a match's text of a version, with what stands behind its first fields.
func matchText(state string, version int, players, left, more string) string {
	ends := time.Now().Add(time.Hour).UnixMilli()
	return fmt.Sprintf("%s|%d|7|arena|1796000000000000|%d|game=u-game;chat=u-chat|%s|%s|%s", state, version, ends, players, left, more)
}

// complete has a match of a and b be complete.
func (b *bundle) complete(id string) {
	b.Helper()
	b.happen("event=match_complete", "match="+id, "at=1796000000001", "record="+matchText("complete", 10, "a;b", "", "||||||"))
}

// eventually waits until check is content.
func (b *bundle) eventually(check func() error) {
	b.Helper()
	until := time.After(deadline)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-until:
			b.Fatal(err)
		case <-tick.C:
		}
	}
}

// written waits until the record has a match in a state.
func (b *bundle) written(id ident.Match, state string) Match {
	b.Helper()
	var m Match
	b.eventually(func() (err error) {
		if m, err = b.database.Match(b.ctx, id); err == nil && m.State != state {
			err = fmt.Errorf("match %s is %s, want %s", id, m.State, state)
		}
		return err
	})
	return m
}

// drained waits until the stream has nothing that is not done.
func (b *bundle) drained() {
	b.Helper()
	b.eventually(func() error {
		summary, err := b.redis.Do(b.ctx, "XPENDING", b.key(), store.JournalGroup)
		if err != nil {
			return err
		}
		if list, ok := summary.([]any); !ok || list[0] != int64(0) {
			return fmt.Errorf("pending: %v", summary)
		}
		return nil
	})
}

// faulty is a stream whose acknowledgements can be lost, as by an instance that dies before them.
type faulty struct {
	Stream
	mu      sync.Mutex
	dead    bool // guarded by mu
	reached chan struct{}
}

var errDead = errors.New("the instance is dead")

func (f *faulty) Ack(context.Context, ...store.StreamEntry) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.dead {
		f.dead = true
		close(f.reached)
	}
	return errDead
}

func (f *faulty) Read(ctx context.Context, count int, block time.Duration) ([]store.StreamEntry, error) {
	if err := f.alive(); err != nil {
		return nil, err
	}
	return f.Stream.Read(ctx, count, block)
}

func (f *faulty) Claim(ctx context.Context, count int) ([]store.StreamEntry, error) {
	if err := f.alive(); err != nil {
		return nil, err
	}
	return f.Stream.Claim(ctx, count)
}

func (f *faulty) alive() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return errDead
	}
	return nil
}
