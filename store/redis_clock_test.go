package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/internal/redistest"
)

// A call that nobody waits for any more has no effect; one that somebody waits for, as Redis' clock went forward, is
// sent again.
func TestStore_DropsCallsThatComeTooLate(t *testing.T) {
	t.Parallel()
	w := duel("duel", 0)
	b := setup(t, only(redistest.Start(t)), 1, w)
	s := b.stores[0]
	who := b.waiting(0, w, "x")[0]
	before, anHourAgo := b.dump(), time.Now().Add(-time.Hour).UnixMilli()
	s.nowMicros.Store(0)
	s.clock.observe(time.Now(), anHourAgo)
	call := []call{{script: "remove_from_queue", args: []any{string(who.Player), who.Generation.String(), 0}}}
	if err := loadAll(s); err != nil {
		t.Fatal(err)
	}
	replies, undone, err := s.send(b.ctx, call, nil)
	if err != nil || len(undone) != 1 || replies[0].status() != codeTooLate {
		t.Fatalf("answered %v, undone %v, %v", replies, undone, err)
	}
	if diff := cmp.Diff(before, b.dump()); diff != "" {
		t.Errorf("changed: %s", diff)
	}
	s.clock.observe(time.Now(), anHourAgo)
	if _, err := s.attempt(b.ctx, call); err != nil {
		t.Errorf("a call that somebody waits for: %v", err)
	}
	if waiting := b.view().records["x"].Waiting(); len(waiting) != 0 {
		t.Errorf("x waits still: %v", waiting)
	}
}

func TestRedisClock_IgnoresRepliesReadLate(t *testing.T) {
	t.Parallel()
	began := time.Now().Add(-time.Hour)
	clock := redisClock{began: began}
	if got := clock.after(0); got != 0 {
		t.Errorf("before the first reply %d, want 0", got)
	}
	// read is a reply in which Redis' clock shows now, to a call that was sent some time ago.
	read := func(now time.Time, ago time.Duration) { clock.observe(time.Now().Add(-ago), now.UnixMilli()) }
	behind := func() time.Duration { return time.Duration(time.Now().UnixMicro()-clock.after(0)) * time.Microsecond }

	read(time.Now(), 0)
	if got := behind(); got < 0 || got > time.Minute {
		t.Fatalf("the estimate is %v behind, want as long as the reply took", got)
	}
	before := behind()
	read(time.Now().Add(-10*time.Minute), 11*time.Minute)
	if got := behind(); got > before+5*time.Minute {
		t.Errorf("a reply that was read late set the estimate %v back", got)
	}
	read(time.Now().Add(-time.Hour), time.Minute)
	if got := behind(); got < 50*time.Minute {
		t.Errorf("the estimate is %v behind, want about an hour: Redis' clock was set back", got)
	}
	read(time.Now(), time.Minute)
	if got := behind(); got > 10*time.Minute {
		t.Errorf("the estimate is %v behind after Redis' clock was set forward", got)
	}
}
