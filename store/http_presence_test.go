package store

import (
	"testing"

	"muster/internal/ident"
)

// atDeadline sets the clock to the end of the presence of players who live by heartbeats, plus some milliseconds. Their keys
// stay, as they may in Redis, which removes a key only after the millisecond in which it ends.
func (b *bundle) atDeadline(plusMS int64) {
	b.Helper()
	b.set(b.now + testPresenceTTL.Microseconds() + plusMS*1000)
	b.touch()
	b.renew()
}

// TestHTTPPresence_TheIndexDecides has players who live by heartbeats vanish: the deadline in the index ends their presence,
// whether their keys are there or not.
func TestHTTPPresence_TheIndexDecides(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := setup(t, be, 1, trio, pairs, rooms)
		for _, p := range []ident.Player{"seated", "queued"} {
			saidHeartbeat(b, p)
		}
		b.joinAs(rooms, Join{Player: "seated"})
		b.form(0, rooms, 1)
		b.joinAs(pairs, Join{Player: "queued"})
		if m := b.view().records["seated"].Match; m != "m1" {
			t.Fatalf("the player has no seat, but %q", m)
		}
		key := b.key("pr", "seated")
		if left := b.rdb.PTTL(b.ctx, key).Val(); left <= testPresenceTTL {
			t.Errorf("the key ends in %v, not after the deadline in the index", left)
		}
		b.atDeadline(0)
		b.waiting(0, pairs, "other")
		if formed := b.form(0, pairs, 1); formed.Matches > 0 {
			t.Error("a player whose presence has ended was matched")
		}
		if swept := b.sweep(pairs, rooms); swept.Gone != 2 {
			t.Errorf("swept %+v, want two players gone", swept)
		}
		v := b.view()
		if v.records["seated"].Match != "" || len(v.records["queued"].Waiting()) > 0 || len(v.away) > 0 {
			t.Errorf("records %+v, away %v", v.records, v.away)
		}
		if got := b.joinAs(pairs, Join{Player: "queued"}); got != ErrGone.Error() {
			t.Errorf("a join without presence: %s", got)
		}
	})
}

// TestHTTPPresence_ALateJoinIsRefused: between the deadline and the sweep a join is refused as behind it.
func TestHTTPPresence_ALateJoinIsRefused(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := setup(t, be, 1, pairs)
		saidHeartbeat(b, "x")
		b.atDeadline(1)
		if got := b.joinAs(pairs, Join{Player: "x"}); got != ErrGone.Error() {
			t.Errorf("joined behind the deadline: %s", got)
		}
		saidHeartbeat(b, "x")
		if got := b.joinAs(pairs, Join{Player: "x"}); got == ErrGone.Error() {
			t.Error("a join behind the next heartbeat was refused")
		}
	})
}
