package store

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/redistest"
)

// refusedWhenFull are the scripts that write and that a full Redis refuses, each with the reason. All others must go through:
// an instance that cannot start, assert, sweep or let players leave does not recover, and nothing frees memory.
var refusedWhenFull = map[string]string{
	"extract_group": "a join adds a ticket; players wait until there is memory",
	"find_opponent": "a join adds a ticket; players wait until there is memory",
	"reserve_seats": "a join adds a ticket; players wait until there is memory",
	"open_seats":    "a back end asks for more players, which could not join",
}

func TestFullRedis_FlagsOfScripts(t *testing.T) {
	t.Parallel()
	var refused []string
	for _, name := range scriptNames(t) {
		if readHeader(t, name).shebang == "#!lua" {
			refused = append(refused, name)
		}
	}
	if want := slices.Sorted(maps.Keys(refusedWhenFull)); !slices.Equal(refused, want) {
		t.Errorf("scripts without allow-oom and no-writes: %q, want those with a reason: %q", refused, want)
	}
}

// full has Redis refuse each command that needs memory.
func (b *bundle) full() {
	b.Helper()
	b.must(b.rdb.ConfigSet(b.ctx, "maxmemory", "1").Err())
	if err := b.rdb.Set(b.ctx, b.key("x"), "x", 0).Err(); err == nil || !strings.HasPrefix(err.Error(), "OOM") {
		b.Fatalf("a full Redis says %v to SET", err)
	}
}

// From the start of an instance in a full Redis on each call is carried out but a join, also after the loss of the scripts.
func TestFullRedis_StartAndLoss(t *testing.T) {
	t.Parallel()
	b := newRealm(t, only(redistest.Start(t)), 2)
	b.full()
	w := group("trio", 3)
	b.openEpoch()
	b.step(testRecovery + time.Millisecond)
	b.renew()
	b.declare(w)
	sessions := b.arrive(0, "x", "y")
	if _, _, err := b.stores[0].JoinAndMatch(b.ctx, b.rules(w), 8, []Join{{Player: "x", Generation: sessions[0].Generation, Key: "~k"}}, "", nil); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a join: %v, want %v", err, ErrUnavailable)
	}
	b.must(b.rdb.ScriptFlush(b.ctx).Err())
	b.must(b.rdb.Del(b.ctx, b.key("meta")).Err())
	epoch := b.openEpoch().Number
	b.must(b.stores[0].DeclareWorldsIn(b.ctx, epoch, []DeclaredWorld{{Name: w.Name, State: "open", Hash: "h", Settings: "{}"}}))
	outcomes, err := b.stores[0].AssertState(b.ctx, epoch, playing(1, 100))
	if err != nil || slices.Contains(outcomes, Adopt) {
		t.Errorf("assertions: %v, %v", outcomes, err)
	}
	b.renew()
	b.must(second(b.stores[0].Refresh(b.ctx, sessions)))
	b.must(second(b.stores[1].Depart(b.ctx, testGrace, sessions)))
	b.must(second(b.stores[1].Sweep(b.ctx, 0, []WorldRules{b.rules(w)})))
	b.must(second(b.stores[1].ClaimAllocations(b.ctx, 5, time.Second)))
	b.must(second(b.stores[1].LeaveMatch(b.ctx, Session{Player: "p0-0"}, "m0")))
	b.must(b.stores[1].EndMatch(b.ctx, "m0", Ended))
	if r, _ := b.state("p0-1"); r.Match != "" {
		t.Errorf("the match is not over: %+v", r)
	}
}

// A full stream is emptied by its readers, which note that they read, and give up what cannot be handled.
func TestFullRedis_ReadersMakeRoom(t *testing.T) {
	t.Parallel()
	b := newRealm(t, only(redistest.Start(t)), 1)
	b.happen("m1", "m2", "m3")
	b.full()
	r := b.reader(b.stores[0], JournalGroup, time.Hour)
	entries := b.next(r, "m1 m2 m3")
	b.must(r.Ack(b.ctx, entries[0]))
	b.must(r.Postpone(b.ctx, entries[1], 0))
	claimed, err := r.Claim(b.ctx, 5)
	if err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %v, %v", claimed, err)
	}
	b.must(r.Bury(b.ctx, claimed[0], "no good"))
	b.must(r.Ack(b.ctx, entries[2]))
	b.must(r.Tidy(b.ctx))
	if n, err := b.stores[0].StreamLength(b.ctx); n != 0 || err != nil {
		t.Errorf("%d entries are left, %v", n, err)
	}
	if letters, err := b.stores[0].DeadLetters(b.ctx, "", 5); err != nil || len(letters) != 1 || letters[0].Reason != "no good" || letters[0].At == 0 {
		t.Errorf("dead letters %+v, %v", letters, err)
	}
	if err := b.stores[0].PutBack(b.ctx, "0-1"); !errors.Is(err, ErrNoDeadLetter) {
		t.Error(err)
	}
}
