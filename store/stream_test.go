package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"muster/internal/redistest"
)

// reader is a store's reader of a group that reads from the beginning.
func (b *bundle) reader(s *Store, group string, hold time.Duration) *StreamReader {
	b.Helper()
	r, err := s.Stream(group, hold)
	if err == nil {
		err = r.Begin(b.ctx, true)
	}
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// happen adds entries to the stream as a script does.
func (b *bundle) happen(names ...string) {
	b.Helper()
	for _, name := range names {
		args := &redis.XAddArgs{Stream: keyStream(b.realm), Values: []any{"event", "match_ended", "match", name}}
		if err := b.rdb.XAdd(b.ctx, args).Err(); err != nil {
			b.Fatal(err)
		}
	}
}

// names are the matches of entries, with how often each was delivered where that is more than once.
func names(entries []StreamEntry) string {
	var list []string
	for _, e := range entries {
		name := e.Fields["match"]
		if e.Deliveries != 1 {
			name += fmt.Sprintf("(%d)", e.Deliveries)
		}
		list = append(list, name)
	}
	return strings.Join(list, " ")
}

// read reads, or claims where there is nothing to read, and fails where that is not what is wanted.
func (b *bundle) read(read func() ([]StreamEntry, error), want string) []StreamEntry {
	b.Helper()
	entries, err := read()
	if err != nil {
		b.Fatal(err)
	}
	if got := names(entries); got != want {
		b.Fatalf("read %q, want %q", got, want)
	}
	return entries
}

func (b *bundle) next(r *StreamReader, want string) []StreamEntry {
	b.Helper()
	return b.read(func() ([]StreamEntry, error) { return r.Read(b.ctx, 100, 0) }, want)
}

func (b *bundle) claim(r *StreamReader, want string) []StreamEntry {
	b.Helper()
	return b.read(func() ([]StreamEntry, error) { return r.Claim(b.ctx, 100) }, want)
}

// claimSoon claims until something is to be had.
func (b *bundle) claimSoon(r *StreamReader, want string) {
	b.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		entries, err := r.Claim(b.ctx, 100)
		if err != nil {
			b.Fatal(err)
		}
		if got := names(entries); got == want {
			return
		} else if got != "" || time.Now().After(deadline) {
			b.Fatalf("claimed %q, want %q", got, want)
		}
	}
}

func (b *bundle) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func TestReadersOfAGroupShareTheStream(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := newRealm(t, be, 2)
		first, second := b.reader(b.stores[0], "g", time.Hour), b.reader(b.stores[1], "g", time.Hour)
		other := b.reader(b.stores[0], "h", time.Hour)
		b.happen("m1", "m2")
		b.next(first, "m1 m2")
		b.happen("m3")
		b.next(second, "m3")
		b.next(first, "")
		b.next(other, "m1 m2 m3")
	})
}

func TestAReaderWaitsForWhatComes(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := newRealm(t, be, 1)
		r := b.reader(b.stores[0], "g", time.Hour)
		done := make(chan string)
		go func() {
			entries, err := r.Read(b.ctx, 1, 20*time.Second)
			done <- fmt.Sprint(names(entries), err)
		}()
		b.happen("m1")
		if got := <-done; got != "m1<nil>" {
			t.Errorf("read %s", got)
		}
	})
}

func TestAReaderOfWhatIsNewDoesNotSeeTheOld(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := newRealm(t, be, 1)
		b.happen("old")
		r, err := b.stores[0].Stream("g", time.Hour)
		b.must(err)
		b.must(r.Begin(b.ctx, false))
		b.must(r.Begin(b.ctx, true)) // the group is there: nothing changes
		b.happen("new")
		b.next(r, "new")
	})
}

func TestWhatASilentReaderHasGoesToAnother(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := newRealm(t, be, 2)
		first := b.reader(b.stores[0], "g", time.Hour)
		b.happen("m1", "m2", "m3")
		b.must(first.Ack(b.ctx, b.next(first, "m1 m2 m3")[1]))
		b.claim(b.reader(b.stores[1], "g", time.Hour), "")
		b.claimSoon(b.reader(b.stores[1], "g", 50*time.Millisecond), "m1(2) m3(2)")
		b.claimSoon(b.reader(b.stores[0], "g", 50*time.Millisecond), "m1(3) m3(3)")
	})
}

func TestWhatIsPostponedComesAfterItsTimeAndNotBefore(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := newRealm(t, be, 1)
		r := b.reader(b.stores[0], "g", time.Hour)
		b.happen("m1", "m2")
		entries := b.next(r, "m1 m2")
		b.must(r.Postpone(b.ctx, entries[0], 30*time.Minute))
		b.claim(r, "")
		b.must(r.Postpone(b.ctx, entries[0], 100*time.Millisecond))
		b.claimSoon(r, "m1(2)")
		b.claim(r, "")
	})
}

func TestAGroupIsGoneWithRedisDataAndBeginsAnew(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	b := newRealm(t, only(server), 1)
	r := b.reader(b.stores[0], "g", time.Hour)
	waiting := make(chan error)
	go func() {
		_, err := r.Read(b.ctx, 1, 20*time.Second)
		waiting <- err
	}()
	for { // until the reader waits
		clients, err := b.rdb.Info(b.ctx, "clients").Result()
		b.must(err)
		if strings.Contains(clients, "blocked_clients:1") {
			break
		}
	}
	server.FlushAll()
	if err := <-waiting; !errors.Is(err, ErrNoGroup) {
		t.Errorf("the read that waited: %v", err)
	}
	b.happen("m1")
	for name, call := range map[string]func() error{
		"Read":  func() error { _, err := r.Read(b.ctx, 1, 0); return err },
		"Claim": func() error { _, err := r.Claim(b.ctx, 1); return err },
		"Tidy":  func() error { return r.Tidy(b.ctx) },
	} {
		if err := call(); !errors.Is(err, ErrNoGroup) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.must(r.Begin(b.ctx, true))
	b.next(r, "m1")
}

// All that readers do works on a Redis Cluster, whose nodes refuse what is of several slots.
func TestTheStreamIsReadOnACluster(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartNodes(t, 3, 10*time.Second)
	b := newRealm(t, backend{url: func(testing.TB) string { return nodes.URL() }}, 2)
	s := b.stores[0]
	r := b.reader(s, "g", 50*time.Millisecond)
	b.happen("m1", "m2", "m3")
	entries := b.next(r, "m1 m2 m3")
	b.must(r.Ack(b.ctx, entries[0]))
	b.must(r.Bury(b.ctx, entries[1], "no good"))
	b.must(r.Postpone(b.ctx, entries[2], 20*time.Millisecond))
	b.claimSoon(b.reader(b.stores[1], "g", 50*time.Millisecond), "m3(2)")
	letters, err := s.DeadLetters(b.ctx, "", 10)
	if err != nil || len(letters) != 1 {
		t.Fatalf("dead letters %+v (%v)", letters, err)
	}
	b.must(s.PutBack(b.ctx, letters[0].ID))
	b.next(r, "m2")
	b.must(r.Tidy(b.ctx))
	if n, err := s.StreamLength(b.ctx); err != nil || n != 2 {
		t.Errorf("%d entries (%v), want m3 and m2", n, err)
	}
}
