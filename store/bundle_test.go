package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"muster/internal/ident"
	"muster/internal/redistest"
	"muster/lua"
)

// testStart is where the steered clock of every test begins, in microseconds: all numbers of a test are
// told apart by how far they lie behind it.
const testStart = 1_800_000_000_000_000

// The times of the tests' realms. They are long, since keys end by real time while the rest is steered.
const (
	testPresenceTTL = 10 * time.Minute
	testDrain       = 5 * time.Minute
	testGrace       = 6 * time.Minute
	testHold        = time.Hour
	testRecovery    = time.Second
)

// failer is what a bundle needs of a test, or of one check of a property.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// bundle is a realm with several instances, whose clock the test steers.
type bundle struct {
	failer
	ctx    context.Context
	realm  string
	now    int64 // of the steered clock, in microseconds
	stores []*Store
	rdb    redis.UniversalClient
	ids    int // of the matches made up so far
	kept   ArchivedMatch
	// who are the sessions that arrived last, by player.
	who map[ident.Player]Session

	mu   sync.Mutex
	told []string // what calls told their own instance; guarded by mu
}

// newRealm opens a realm with n instances named a, b, c…, which have no epoch yet.
func newRealm(t testing.TB, be backend, n int) *bundle {
	t.Helper()
	scripts, err := lua.Load(be.embedded, codeNames)
	if err != nil {
		t.Fatal(err)
	}
	b := &bundle{failer: t, ctx: context.Background(), realm: redistest.Realm(t), now: testStart, who: map[ident.Player]Session{}}
	for i := range n {
		b.open(t, be.url(t), ident.Instance(rune('a'+i))).scripts = scripts
	}
	b.rdb = b.stores[0].rdb
	t.Cleanup(b.lose)
	return b
}

func (b *bundle) open(t testing.TB, url string, instance ident.Instance) *Store {
	t.Helper()
	var within *embedded
	if url == embeddedURL {
		url, within = "", embeddedServer.e
	}
	s, err := Open(Options{
		URL: url, within: within, Realm: b.realm, Instance: instance,
		PresenceTTL: testPresenceTTL, Drain: testDrain, Recovery: testRecovery, CallTimeout: testCallTimeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.nowMicros.Store(b.now)
	s.OnNotification(func(told Notification) bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.told = append(b.told, fmt.Sprintf("%s told %s", instance, toldText(told)))
		return true
	})
	b.stores = append(b.stores, s)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// setup is newRealm with an epoch, good leases and, if any are given, worlds; matching is open.
func setup(t testing.TB, be backend, n int, worlds ...WorldRules) *bundle {
	t.Helper()
	b := newRealm(t, be, n)
	b.openEpoch()
	b.step(testRecovery + time.Millisecond)
	b.renew()
	if len(worlds) > 0 {
		b.declare(worlds...)
	}
	return b
}

// openEpoch has every instance adopt Redis' epoch.
func (b *bundle) openEpoch() Epoch {
	b.Helper()
	var e Epoch
	for _, s := range b.stores {
		var err error
		if e, err = s.OpenEpoch(b.ctx, 0); err != nil {
			b.Fatal(err)
		}
		s.SetEpoch(e.Number)
	}
	return e
}

// set steers the clock, without the keys' own times.
func (b *bundle) set(micros int64) {
	b.now = micros
	for _, s := range b.stores {
		s.nowMicros.Store(micros)
	}
}

// step lets time pass for the scripts and for the keys that end by themselves.
func (b *bundle) step(d time.Duration) {
	b.Helper()
	b.set(b.now + d.Microseconds())
	keys := b.keys()
	ends := make([]*redis.DurationCmd, len(keys))
	b.pipelined(func(pipe redis.Pipeliner) {
		for i, key := range keys {
			ends[i] = pipe.PTTL(b.ctx, key)
		}
	})
	b.pipelined(func(pipe redis.Pipeliner) {
		for i, key := range keys {
			switch left := ends[i].Val(); {
			case left <= 0: // it does not end
			case left <= d:
				pipe.Del(b.ctx, key)
			default:
				pipe.PExpire(b.ctx, key, left-d)
			}
		}
	})
}

// pipelined sends what fill puts into the pipeline.
func (b *bundle) pipelined(fill func(redis.Pipeliner)) {
	b.Helper()
	if _, err := b.rdb.Pipelined(b.ctx, func(pipe redis.Pipeliner) error {
		fill(pipe)
		return nil
	}); err != nil && !errors.Is(err, redis.Nil) {
		b.Fatal(err)
	}
}

// pass lets time pass in which instances renewed their leases, and sweeps at its end.
func (b *bundle) pass(d time.Duration, worlds ...WorldRules) Swept {
	b.Helper()
	b.step(d)
	b.touch()
	b.renew()
	return b.sweep(worlds...)
}

// key is the name of a key of the realm.
func (b *bundle) key(parts ...string) string {
	return "mm:{" + b.realm + "}:" + strings.Join(parts, ":")
}

// lose empties the realm, as a Redis does that came back without its data.
func (b *bundle) lose() {
	b.Helper()
	if keys := b.keys(); len(keys) > 0 {
		if err := b.rdb.Del(b.ctx, keys...).Err(); err != nil {
			b.Fatal(err)
		}
	}
}

// newEpoch says that Redis' data are of another history, as after a restart, and opens the epoch.
func (b *bundle) newEpoch() Epoch {
	b.Helper()
	if err := b.rdb.HSet(b.ctx, b.key("meta"), "history", "other").Err(); err != nil {
		b.Fatal(err)
	}
	return b.openEpoch()
}

func (b *bundle) wantErr(what string, got, want error) {
	b.Helper()
	if !errors.Is(got, want) {
		b.Errorf("%s: error %v, want %v", what, got, want)
	}
}

// touch says that calls were made until now, so that it does not become calm.
func (b *bundle) touch() {
	b.Helper()
	b.rdb.HSet(b.ctx, b.key("meta"), "touched", (b.now+b.ahead())/1000)
}

// ahead is how far the realm's time is ahead of Redis' clock, in microseconds.
func (b *bundle) ahead() int64 {
	b.Helper()
	ahead, err := b.rdb.HGet(b.ctx, b.key("meta"), "ahead").Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		b.Fatal(err)
	}
	return ahead
}
