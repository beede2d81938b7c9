package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"muster/internal/ident"
)

// unreadable are texts of matches that no version wrote.
var unreadable = []string{
	"", "nonsense", "allocating", "allocating|x|0|server|1|1|r|x|",
	"allocating|1|0|server|1|1|r|x|||||!|||", "allocating|1|0|server|1|1|r|x||||||seats||",
}

// A match that cannot be read stops no other that waits for its server, and stays for an instance that can read it.
func TestClaim_UnreadableMatchStopsNoOther(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := setup(t, be, 2, trio, pairs, apart, server)
		b.allocating() // m1
		for i, text := range unreadable {
			id := fmt.Sprintf("bad%d", i)
			b.must(b.rdb.HSet(b.ctx, b.key("m"), id, text).Err())
			b.must(b.rdb.ZAdd(b.ctx, b.key("al"), redis.Z{Member: id, Score: float64(i)}).Err()) // before m1
		}
		claimed, err := b.stores[0].ClaimAllocations(b.ctx, 100, time.Minute)
		if len(claimed) != 1 || claimed[0].Match.ID != "m1" {
			t.Errorf("claimed %+v (%v)", claimed, err)
		}
		if n := b.rdb.ZCard(b.ctx, b.key("al")).Val(); int(n) != len(unreadable)+1 {
			t.Errorf("%d matches wait for a server, want all", n)
		}
		if again, err := b.stores[0].ClaimAllocations(b.ctx, 100, time.Minute); len(again) != 0 || err != nil {
			t.Errorf("claimed again %+v (%v)", again, err)
		}
	})
}

func TestRestore_UnreadableMatchStopsNoOther(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := setup(t, be, 1, trio)
		good := fmt.Sprintf("complete|1|1|trio|1|%d|play=r|x;y;z|", b.now/1000+time.Hour.Milliseconds())
		var kept []ArchivedMatch
		for i, text := range append(unreadable, good) {
			kept = append(kept, ArchivedMatch{ident.Match(fmt.Sprintf("m%d", i)), strings.Replace(text, "allocating", "complete", 1)})
		}
		if n, err := b.stores[0].RestoreMatches(b.ctx, kept); n < 1 || err != nil {
			t.Errorf("%d restored (%v)", n, err)
		}
		if _, err := b.stores[0].ReadMatch(b.ctx, kept[len(kept)-1].ID); err != nil {
			t.Errorf("the readable one: %v", err)
		}
	})
}
