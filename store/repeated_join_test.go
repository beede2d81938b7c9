package store

import (
	"testing"
	"time"
)

// A join whose reply is lost is sent again. Its match may have ended by then: the client's key still makes one ticket of both.
func TestJoin_RepeatedAfterItsMatchEnded(t *testing.T) {
	for _, w := range []WorldRules{duel("pairs", 0), group("two", 2), room("room", 3)} {
		t.Run(string(w.Name), func(t *testing.T) {
			onBackends(t, func(t *testing.T, be backend) {
				b := setup(t, be, 1, w)
				b.waiting(0, w, "y")
				join := Join{Player: "x", Generation: b.arrive(0, "x")[0].Generation, Key: "key", Fingerprint: "f"}
				ids := b.candidates(2)
				send := func() Joined {
					t.Helper()
					result, _, err := b.stores[0].JoinAndMatch(b.ctx, b.rules(w), 8, []Join{join}, "", ids)
					if err == nil {
						err = result.Joined[0].Err
					}
					b.must(err)
					return result.Joined[0]
				}
				first := send()
				match := b.view().records["x"].Match
				if match == "" {
					t.Fatal("the join is not matched")
				}
				b.must(b.stores[0].EndMatch(b.ctx, match, Ended))
				b.pass(time.Minute, w)
				again := send()
				if !again.Repeated || again.Place != first.Place {
					t.Errorf("again: %+v, want the ticket %d", again, first.Place)
				}
				if r := b.view().records["x"]; r.Match != "" || len(r.Waiting()) > 0 || len(b.view().queues[w.Name]) > 0 {
					t.Errorf("x has %+v, and %v wait", r, b.view().queues)
				}
			})
		})
	}
}
