package store

import (
	"slices"
	"testing"
)

// TestOpenMatches_OfARemovedWorld removes a world while a match of it is open: its counts go with its last match, and are right
// if the world is put back before.
func TestOpenMatches_OfARemovedWorld(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		remove := func(b *bundle) {
			b.declare(trio)
			b.sweep(trio)
			if worlds := b.view().worlds; len(worlds) != 1 {
				t.Fatalf("worlds %v", worlds)
			}
		}
		end := func(b *bundle) {
			if err := b.stores[0].EndMatch(b.ctx, "m1", Ended); err != nil {
				t.Fatal(err)
			}
		}
		open := func(b *bundle, world string) string { return b.rdb.HGet(b.ctx, b.key("ws", world), "open").Val() }

		b := setup(t, be, 2, trio, pairs)
		b.matched()
		remove(b)
		b.declare(trio, pairs)
		if got := open(b, "duel"); got != "1" {
			t.Errorf("%q matches are open, want 1", got)
		}
		end(b)
		if got := open(b, "duel"); got != "0" {
			t.Errorf("%q matches are open, want 0", got)
		}

		b = setup(t, be, 2, trio, check2)
		b.proposed(check2)
		remove(b)
		b.accept("x")
		b.accept("y") // it is complete in a world that is gone
		if got := open(b, "check"); got != "1" {
			t.Errorf("%q matches are open, want 1", got)
		}
		end(b)
		if keys := b.keys(); slices.Contains(keys, b.key("ws", "check")) {
			t.Errorf("the world that is gone leaves its counts: %v", keys)
		}
	})
}
