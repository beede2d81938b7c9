package lua

import (
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

func TestAGroupThatNobodyReadsHoldsTheStreamForADay(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := newRealm(t, be, 1)
		b.must(b.stores[0].KeepStream(b.ctx, true))
		journal, r := b.reader(b.stores[0], JournalGroup, time.Hour), b.reader(b.stores[0], "g", time.Hour)
		b.must(journal.Tidy(b.ctx))
		b.happen("m1")
		b.must(r.Ack(b.ctx, b.next(r, "m1")...))
		b.must(r.Tidy(b.ctx))
		b.next(journal, "m1")
		b.must(b.rdb.HSet(b.ctx, keyGroups(b.realm), JournalGroup, time.Now().Add(-groupTTL).UnixMilli()).Err())
		b.must(r.Tidy(b.ctx))
		if _, err := journal.Read(b.ctx, 1, 0); !errors.Is(err, ErrNoGroup) {
			t.Errorf("the group's reader gets %v", err)
		}
		kept := func(want bool) {
			t.Helper()
			length, err := b.stores[0].StreamLength(b.ctx)
			got, keptErr := b.rdb.HExists(b.ctx, keyMeta(b.realm), metaJournal).Result()
			if length != 0 || got != want || err != nil || keptErr != nil {
				t.Errorf("%d entries, kept for readers: %v; want none, %v (%v, %v)", length, got, want, err, keptErr)
			}
		}
		kept(true) // for the other group
		b.must(b.rdb.HSet(b.ctx, keyGroups(b.realm), "g", time.Now().Add(-groupTTL).UnixMilli()).Err())
		b.must(b.stores[0].TidyStream(b.ctx)) // as an instance does that reads nothing
		kept(false)
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
