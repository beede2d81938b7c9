package lua

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/musterhq/muster/internal/redistest"
)

// A call that nobody waits for any more has no effect; one that somebody waits for, as Redis' clock went forward, is
// sent again.
func TestACallThatComesTooLateHasNoEffect(t *testing.T) {
	t.Parallel()
	w := duel("duel", 0)
	b := setup(t, only(redistest.Start(t)), 1, w)
	s := b.stores[0]
	who := b.waiting(0, w, "x")[0]
	before, anHourAgo := b.dump(), time.Now().Add(-time.Hour).UnixMilli()
	s.nowMicros.Store(0)
	s.clock.saw(anHourAgo)
	call := []call{{script: "remove_from_queue", args: []any{string(who.Player), who.Generation.String(), 0}}}
	if err := s.load(b.ctx, call); err != nil {
		t.Fatal(err)
	}
	replies, undone, err := s.send(b.ctx, call)
	if err != nil || len(undone) != 1 || replies[0].status() != codeTooLate {
		t.Fatalf("answered %v, undone %v, %v", replies, undone, err)
	}
	if diff := cmp.Diff(before, b.dump()); diff != "" {
		t.Errorf("changed: %s", diff)
	}
	s.clock.saw(anHourAgo)
	if _, err := s.attempt(b.ctx, call); err != nil {
		t.Errorf("a call that somebody waits for: %v", err)
	}
	if waiting := b.view().records["x"].Waiting(); len(waiting) != 0 {
		t.Errorf("x waits still: %v", waiting)
	}
}
