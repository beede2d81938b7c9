package store

import (
	"slices"
	"testing"

	"muster/internal/ident"
)

// The state that a back end reads is no prompt for a player that is asked over its WebSocket, be it away or not.
func TestShowMatches_ByHTTP(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := setup(t, be, 2, check2)
		shows := func(player ident.Player, byHTTP, counts bool) {
			t.Helper()
			b.must(b.stores[1].ShowMatches(b.ctx, []Shown{{Player: player, Match: "m1", ByHTTP: byHTTP}}))
			m, err := ParseMatch("m1", b.raw("m", "m1"))
			if got := slices.Contains(m.Shown, player); got != counts || err != nil {
				t.Errorf("%s, by HTTP %v: shown %v, want %v (%v)", player, byHTTP, got, counts, err)
			}
		}
		b.must(second(b.stores[0].Heartbeat(b.ctx, "bot")))
		_, _, err := b.stores[0].JoinAndMatch(b.ctx, b.rules(check2), 8, []Join{{Player: "bot", Key: "~k"}}, "", nil)
		b.must(err)
		b.waiting(0, check2, "x")
		b.form(0, check2, 1)
		shows("x", true, false)
		b.must(second(b.stores[0].Depart(b.ctx, testGrace, []Session{b.who["x"]})))
		shows("x", true, false)
		shows("bot", true, true)
		shows("x", false, true)
	})
}
