package store

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
)

func TestTheStreamIsKeptForWhoHasNotDoneWithIt(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := newRealm(t, be, 1)
		r, other := b.reader(b.stores[0], "g", time.Hour), b.reader(b.stores[0], "h", time.Hour)
		b.happen("m1", "m2", "m3", "m4")
		entries := b.next(r, "m1 m2 m3 m4")
		b.must(r.Ack(b.ctx, entries...))
		for _, step := range []struct {
			ack  int
			want int64
		}{{ack: 0, want: 3}, {ack: 2, want: 3}, {ack: 1, want: 1}, {ack: 3, want: 0}} {
			if step.ack == 0 {
				b.next(other, "m1 m2 m3 m4")
			}
			b.must(other.Ack(b.ctx, entries[step.ack]))
			b.must(r.Tidy(b.ctx))
			if n, err := b.stores[0].StreamLength(b.ctx); err != nil || n != step.want {
				t.Errorf("after %d: %d entries, want %d (%v)", step.ack, n, step.want, err)
			}
		}
		b.happen("m5")
		b.must(r.Tidy(b.ctx))
		b.next(r, "m5")
		b.next(other, "m5")
	})
}

// keptForReaders fails unless scripts keep the stream for readers, or do not.
func (b *bundle) keptForReaders(want bool) {
	b.Helper()
	got, err := b.rdb.HExists(b.ctx, b.key("meta"), "journal").Result()
	if got != want || err != nil {
		b.Fatalf("the stream is kept for readers: %v, want %v (%v)", got, want, err)
	}
}

// passes has time pass in which an instance tidies the stream that reads no group of it.
func (b *bundle) passes(d time.Duration) {
	b.Helper()
	for ; d > 0; d -= 10 * time.Minute {
		b.set(b.now + (10 * time.Minute).Microseconds())
		b.must(b.stores[0].TidyStream(b.ctx))
	}
}

func TestStream_GroupWithoutReadersIsDroppedAfterADay(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := newRealm(t, be, 1)
		journal, r := b.reader(b.stores[0], JournalGroup, time.Hour), b.reader(b.stores[0], "g", time.Hour)
		b.happen("m1")
		b.must(r.Ack(b.ctx, b.next(r, "m1")...))
		b.next(journal, "m1")
		b.passes(groupTTL - 10*time.Minute)
		b.must(r.Tidy(b.ctx))
		if n, err := b.stores[0].StreamLength(b.ctx); n != 1 || err != nil {
			t.Errorf("%d entries within the day, want 1 (%v)", n, err)
		}
		b.passes(10 * time.Minute)
		if _, err := journal.Read(b.ctx, 1, 0); !errors.Is(err, ErrNoGroup) {
			t.Errorf("the group's reader gets %v", err)
		}
		if n, err := b.stores[0].StreamLength(b.ctx); n != 0 || err != nil {
			t.Errorf("%d entries after it, want none (%v)", n, err)
		}
		b.keptForReaders(true) // for the other group
		b.passes(groupTTL)
		b.keptForReaders(false)
	})
}

// watch is a hook that looks at Redis after each command.
type watch struct{ look func() }

func (h watch) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h watch) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { err := next(ctx, cmd); h.look(); return err }
}

func (h watch) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { err := next(ctx, cmds); h.look(); return err }
}

// A match that is formed while a group is dropped must not cut the stream that another group still reads.
func TestStream_StaysKeptWhileAGroupIsDropped(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := newRealm(t, be, 2)
		r := b.reader(b.stores[0], "g", time.Hour)
		b.reader(b.stores[0], "stale", time.Hour)
		b.passes(groupTTL - 10*time.Minute)
		b.must(r.Tidy(b.ctx))
		b.set(b.now + (10 * time.Minute).Microseconds())
		looked, done := 0, false
		b.rdb.AddHook(watch{func() {
			if done {
				return
			}
			looked++
			if kept, err := b.stores[1].rdb.HGet(b.ctx, b.key("meta"), "journal").Result(); kept != "1" {
				t.Errorf("after command %d the stream is not kept: %q (%v)", looked, kept, err)
			}
		}})
		b.must(b.stores[0].TidyStream(b.ctx))
		done = true
		if n, err := b.stores[1].rdb.HLen(b.ctx, b.key("sg")).Result(); n != 1 || err != nil || looked == 0 {
			t.Errorf("%d groups after %d commands, want one (%v)", n, looked, err)
		}
	})
}

// Neither a clock that steps nor a stop of all instances is time in which nobody reads.
func TestStream_ClockStepDropsNoGroup(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := newRealm(t, be, 1)
		r := b.reader(b.stores[0], "g", time.Hour)
		slow := b.reader(b.stores[0], "slow", time.Hour)
		b.passes(time.Hour)
		for _, step := range []time.Duration{25 * time.Hour, -25 * time.Hour, 30 * 24 * time.Hour, -time.Hour} {
			b.set(b.now + step.Microseconds())
			b.must(r.Tidy(b.ctx))
			b.passes(time.Hour)
			if _, err := slow.Read(b.ctx, 1, 0); err != nil {
				t.Fatalf("after a step of %s: %v", step, err)
			}
		}
		b.passes(groupTTL)
		b.keptForReaders(false)
	})
}

func TestReadersThatAreNoMoreAreForgottenUnlessTheyHaveEntries(t *testing.T) {
	t.Parallel()
	b := newRealm(t, backends[0], 1)
	r := b.reader(b.stores[0], "g", time.Hour)
	b.happen("m1", "m2")
	for _, name := range []string{"idle", "busy"} {
		args := &redis.XReadGroupArgs{Group: "g", Consumer: name, Streams: []string{keyStream(b.realm), ">"}, Count: 1, Block: time.Millisecond}
		streams, err := b.rdb.XReadGroup(b.ctx, args).Result()
		b.must(err)
		if name == "idle" {
			b.must(b.rdb.XAck(b.ctx, keyStream(b.realm), "g", streams[0].Messages[0].ID).Err())
		}
	}
	drop := func(after time.Duration) []string {
		b.must(r.dropConsumers(b.ctx, after))
		consumers, err := b.rdb.XInfoConsumers(b.ctx, keyStream(b.realm), "g").Result()
		b.must(err)
		var left []string
		for _, c := range consumers {
			left = append(left, c.Name)
		}
		slices.Sort(left)
		return left
	}
	if got := drop(time.Hour); !slices.Equal(got, []string{"busy", "idle"}) {
		t.Errorf("within the hour: %v", got)
	}
	if got := drop(0); !slices.Equal(got, []string{"busy"}) {
		t.Errorf("after it: %v", got)
	}
}

func TestADeadLetterIsPutBackForItsGroupOnly(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := newRealm(t, be, 1)
		s := b.stores[0]
		r, other := b.reader(s, "g", time.Hour), b.reader(s, "h", time.Hour)
		b.happen("m1", "m2")
		entries := b.next(r, "m1 m2")
		b.must(other.Ack(b.ctx, b.next(other, "m1 m2")...))
		b.must(r.Bury(b.ctx, entries[0], "no good"))
		b.must(r.Ack(b.ctx, entries[1]))
		b.must(r.Tidy(b.ctx))
		if n, err := s.StreamLength(b.ctx); n != 0 || err != nil {
			t.Errorf("the stream keeps %d entries (%v)", n, err)
		}
		letters, err := s.DeadLetters(b.ctx, "", 10)
		b.must(err)
		if len(letters) != 1 || letters[0].Group != "g" || letters[0].Reason != "no good" || letters[0].At == 0 {
			t.Fatalf("dead letters %+v", letters)
		}
		if rest, err := s.DeadLetters(b.ctx, letters[0].ID, 10); len(rest) != 0 || err != nil {
			t.Errorf("after the last: %+v (%v)", rest, err)
		}
		b.must(s.PutBack(b.ctx, letters[0].ID))
		if err := s.PutBack(b.ctx, letters[0].ID); !errors.Is(err, ErrNoDeadLetter) {
			t.Errorf("put back twice: %v", err)
		}
		again := b.next(r, "m1")[0]
		before, err := ParseEvent(entries[0])
		b.must(err)
		after, err := ParseEvent(again)
		b.must(err)
		if diff := cmp.Diff(before, after); diff != "" || !again.For("g") || again.For("h") {
			t.Errorf("entry %+v (-before +after)\n%s", again, diff)
		}
	})
}
