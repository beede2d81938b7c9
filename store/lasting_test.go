package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/internal/ident"
)

// TestNothingGrows lets everything happen and end: what is left is of the realm, not of its players.
func TestNothingGrows(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w, d := group("trio", 3), duel("duel", time.Minute)
		b := setup(t, be, 2, w, d)
		callAll(b, w, d)
		b.waiting(1, w, players("p", 7)...)
		b.form(1, w, 2)
		b.arrive(0, "p0000") // it moves, and what b knew of it has to go as well
		kept := b.arrive(0, "k1", "k2")
		for _, key := range []string{"key1", "key2"} { // joined with keys of their own, and left
			for _, who := range kept {
				joins := []Join{{Player: who.Player, Generation: who.Generation, Key: key}}
				if _, _, err := b.stores[0].JoinAndMatch(b.ctx, b.rules(d), 8, joins, "", nil); err != nil {
					t.Fatal(err)
				}
				if _, err := b.stores[0].RemoveFromQueue(b.ctx, who); err != nil {
					t.Fatal(err)
				}
			}
		}
		b.newEpoch()
		b.pass(2*testRecovery, w, d)
		// Both instances die, and another takes their place.
		b.stores = b.stores[:1]
		b.stores[0].opts.Instance = "heir"
		b.step(4 * time.Second)
		b.touch()
		for range 5 {
			b.pass(26*time.Hour, w, d)
		}
		var kinds []string
		for _, key := range b.keys() {
			kind, _, _ := strings.Cut(strings.TrimPrefix(key, b.key("")), ":")
			kinds = append(kinds, kind)
		}
		want := []string{"ins", "meta", "sd", "sg", "st", "w", "wc", "ws", "wt"} // sd and sg have bounds of their own
		if diff := cmp.Diff(want, slices.Compact(kinds)); diff != "" {
			t.Errorf("%s%s", diff, strings.Join(b.dump(), "\n"))
		}
		if v := b.view(); len(v.leases) != 1 {
			t.Errorf("instances %v, counted publishes %v: only the heir lives", v.leases, v.published)
		}
		// A world that goes leaves nothing.
		b.declare(w)
		b.sweep(w, d)
		for _, line := range b.dump() {
			if strings.Contains(line, "duel") && !strings.HasPrefix(line, "st ") {
				t.Errorf("left of a world: %s", line)
			}
		}
	})
}

// TestSessionsThatMoved leave nothing in the index of the instance that held them.
func TestSessionsThatMoved(t *testing.T) {
	for name, hear := range map[string]func(b *bundle, old Session) error{
		"it departs": func(b *bundle, old Session) error {
			return second(b.stores[0].Depart(b.ctx, testGrace, []Session{old}))
		},
		"it arrives again": func(b *bundle, old Session) error {
			return second(b.stores[0].Arrive(b.ctx, []Session{old}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBackends(t, func(t *testing.T, be backend) {
				b := setup(t, be, 2)
				old := b.arrive(0, "x")[0]
				b.step(testPresenceTTL + time.Second) // Redis was away
				b.arrive(1, "x")
				if err := hear(b, old); err != nil {
					t.Fatal(err)
				}
				want := map[string][]string{"b": {"x"}}
				if diff := cmp.Diff(want, b.view().holders); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestInstanceThatNeverHadALease: the sweep finds whom it held all the same.
func TestInstanceThatNeverHadALease(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w := group("trio", 3)
		b := setup(t, be, 1, w)
		b.stores[0].opts.Instance = "late"
		b.waiting(0, w, "x")
		b.stores[0].opts.Instance = "a"
		if swept := b.pass(time.Second); swept.Parked != 1 {
			t.Errorf("swept %+v, want x parked", swept)
		}
		if v := b.view(); len(v.holders) != 0 || v.leases["late"] != 0 || len(v.away) != 1 {
			t.Errorf("holders %v, leases %v, away %v", v.holders, v.leases, v.away)
		}
	})
}

// TestParkedByMistake: an instance whose lease had lapsed for a moment missed to have its sessions arrive
// again. Its players keep their tickets.
func TestParkedByMistake(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w := duel("duel", 0)
		b := setup(t, be, 2, w)
		x := b.waiting(0, w, "x")
		b.waiting(1, w, "y")
		b.step(3500 * time.Millisecond)
		b.touch()
		if _, err := b.stores[1].RenewLease(b.ctx); err != nil {
			t.Fatal(err)
		}
		if f := b.form(1, w, 1); f.Matches != 0 || f.Parked != 1 {
			t.Fatalf("formed %+v", f)
		}
		var due []ident.World
		for d := time.Duration(0); d < testPresenceTTL+testDrain; d += 5 * time.Minute {
			for i := range b.stores {
				if _, err := b.stores[i].Refresh(b.ctx, []Session{x[0]}); err != nil {
					t.Fatal(err)
				}
			}
			due = append(due, b.pass(5*time.Minute).Due...)
		}
		if !slices.Contains(due, w.Name) {
			t.Errorf("worlds to look at are %v, want %s, in whose queue x is again", due, w.Name)
		}
		if got := b.view().live("duel"); !slices.Contains(got, "x") {
			t.Errorf("in the queue: %v; x: %+v", got, b.view().records["x"])
		}
	})
}

// TestNumbersKeepTheirDigits: places have 16 of them.
func TestNumbersKeepTheirDigits(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w := duel("duel", time.Minute)
		b := newRealm(t, be, 1)
		b.set(7_999_999_999_999_991) // the year 2223; a score is exact below 2^53
		b.openEpoch()
		b.step(2 * testRecovery)
		b.renew()
		b.declare(w)
		b.waiting(0, w, "x", "y", "z")
		f := b.form(0, w, 1)
		v := b.view()
		if m := v.matches["m1"]; f.Matches != 1 || m.Created <= b.stores[0].Epoch() || m.EndsAt != b.now/1000+testHold.Milliseconds() {
			t.Errorf("match %+v", m)
		}
		if at := v.records["z"].Tickets[0].Place; at%10 == 0 && v.queues["duel"]["z"]%10 == 0 || v.queues["duel"]["z"] != at || at < ident.Place(b.now) {
			t.Errorf("place %d, in the queue %d", at, v.queues["duel"]["z"])
		}
		q, err := b.stores[0].Positions(b.ctx, "duel", 5, []ident.Player{"z"})
		if err != nil || q.OldestAt != v.records["z"].Tickets[0].Place.UnixMilli() || q.Ranks[0] != 1 {
			t.Errorf("positions %+v, %v", q, err)
		}
		// A walk gets the place back whole that it goes on behind.
		for _, who := range b.waiting(0, w, players("p", 100)...) {
			b.rdb.Del(b.ctx, b.key("pr", string(who.Player)))
		}
		b.rdb.Del(b.ctx, b.key("pr", "z"))
		f = b.form(0, w, 1)
		last := b.view().records["p0098"].Tickets[0].Place
		if f.Matches != 0 || f.Parked != 100 || f.After != Cursor(fmt.Sprintf("%d,0,0,0", last)) {
			t.Errorf("formed %+v, want to go on behind %d", f, last)
		}
	})
}

// TestOthersAreTold: the instance that holds a player hears of its match, once for a call, and numbered.
func TestOthersAreTold(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w := duel("duel", 0)
		b := setup(t, be, 2, w)
		ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
		defer cancel()
		told, ready, done := make(chan Notification, 10), make(chan bool, 10), make(chan bool)
		go func() {
			defer close(done)
			b.stores[1].Subscribe(ctx, func(part Notification) { told <- part }, func() { ready <- true })
		}()
		defer func() { cancel(); <-done }()
		await(t, ctx, ready)
		b.waiting(0, w, "x", "p")
		y := b.waiting(1, w, "y", "z")
		b.form(0, w, 3)
		got := await(t, ctx, told)
		v := b.view()
		want := Notification{
			Number: 2, Epoch: v.epoch, // the first was its own join, which the reply tells of
			Matches: map[ident.Match]string{"m2": b.rdb.HGet(b.ctx, b.key("m"), "m2").Val()},
			Changes: []Change{
				{Session: y[0], Record: b.rdb.HGet(b.ctx, b.key("pl"), "y").Val()},
				{Session: y[1], Record: b.rdb.HGet(b.ctx, b.key("pl"), "z").Val()},
			},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if err := b.stores[0].EndMatch(b.ctx, "m2", Ended); err != nil {
			t.Fatal(err)
		}
		got = await(t, ctx, told)
		if got.Number != 3 || len(got.Changes) != 2 || !strings.Contains(got.Changes[0].Notice, "|match_ended|duel|m2|ended|") {
			t.Errorf("told of the end: %+v", got)
		}
		b.arrive(0, "y")
		if got = await(t, ctx, told); got.Number != 4 || len(got.Replaced) != 1 || got.Replaced[0].Player != "y" {
			t.Errorf("told of the newer session: %+v", got)
		}
		if lease, err := b.stores[1].RenewLease(b.ctx); err != nil || lease.Published != 4 {
			t.Errorf("lease %+v, %v", lease, err)
		}
	})
}

func await[T any](t *testing.T, ctx context.Context, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-ctx.Done():
		t.Fatal("nothing was told in time")
		panic("unreachable")
	}
}
