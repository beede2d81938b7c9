package store

import (
	"testing"
	"time"
)

// clockBack is how far Redis' clock steps back in these tests.
const clockBack = time.Hour

// stepBack sets Redis' clock back, which the next call notices. Keys that end by themselves last longer by the step.
func (b *bundle) stepBack() {
	b.Helper()
	b.set(b.now - clockBack.Microseconds())
	for _, key := range b.keys() {
		if left := b.rdb.PTTL(b.ctx, key).Val(); left > 0 {
			b.rdb.PExpire(b.ctx, key, left+clockBack)
		}
	}
	b.renew()
}

// wait lets time pass by Redis' clock in which calls were made, and a twentieth more, by which a deadline may last longer.
func (b *bundle) wait(d time.Duration) {
	b.Helper()
	b.step(d + d/20 + time.Second)
	b.touch()
	b.renew()
}

// TestClockBack_DeadlinesKeepTheirLength sets Redis' clock back by an hour while deadlines of each kind run: each still comes
// when its setting says, and not an hour later.
func TestClockBack_DeadlinesKeepTheirLength(t *testing.T) {
	t.Parallel()
	sweepAll := func(b *bundle) Swept { return b.sweep(trio, pairs, check2, server, rooms) }
	for name, c := range map[string]struct {
		given func(b *bundle)
		after time.Duration
		want  func(b *bundle) bool
	}{
		"match_hold":           {func(b *bundle) { b.matched() }, testHold, func(b *bundle) bool { return sweepAll(b).MatchesExpired == 1 }},
		"ready_check":          {func(b *bundle) { b.proposed(check2) }, time.Minute, func(b *bundle) bool { return sweepAll(b).MatchesExpired == 1 }},
		"a server's time":      {func(b *bundle) { b.allocating() }, 10 * time.Minute, func(b *bundle) bool { return sweepAll(b).MatchesExpired == 1 }},
		"seat_hold":            {func(b *bundle) { b.seated() }, time.Minute, func(b *bundle) bool { return sweepAll(b).SeatsReleased == 2 }},
		"ticket_ttl":           {func(b *bundle) { b.waiting(0, trio, "x") }, trio.TicketTTL, func(b *bundle) bool { return sweepAll(b).TicketsExpired == 1 }},
		"reconnect_grace":      {func(b *bundle) { b.waiting(0, trio, "x"); b.depart("x") }, testGrace, func(b *bundle) bool { return sweepAll(b).Gone == 1 }},
		"an HTTP presence":     {func(b *bundle) { saidHeartbeat(b, "x") }, testPresenceTTL, func(b *bundle) bool { return sweepAll(b).Gone == 1 }},
		"a request for server": {func(b *bundle) { b.allocating() }, 0, func(b *bundle) bool { return len(b.claimed()) == 1 }},
		"a claim's lease": {func(b *bundle) { b.allocating(); b.claimed() }, time.Minute,
			func(b *bundle) bool { return len(b.claimed()) == 1 }},
		"decline_cooldown": {func(b *bundle) { b.proposed(check2); b.decline("x") }, 10 * time.Minute, func(b *bundle) bool {
			b.arrive(0, "x")
			return b.join(0, check2, b.who["x"])[0].Err == nil
		}},
		"rematch_cooldown": {func(b *bundle) {
			b.waiting(0, apart, "x", "y")
			b.form(0, apart, 1)
			b.must(b.stores[0].EndMatch(b.ctx, "m1", Ended))
		}, apart.RematchCooldown, func(b *bundle) bool {
			b.waiting(0, apart, "x", "y")
			return b.form(0, apart, 1).Matches == 1
		}},
		"the memory of a ticket's key": {func(b *bundle) {
			b.arrive(0, "x")
			b.joinAs(trio, b.joinOf("x", "key", "f"))
			b.leave("x")
		}, 5 * time.Minute, func(b *bundle) bool { sweepAll(b); return len(b.view().records) == 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			onBackends(t, func(t *testing.T, be backend) {
				b := setup(t, be, 2, trio, pairs, apart, check2, server, rooms)
				c.given(b)
				b.stepBack()
				b.wait(c.after)
				if !c.want(b) {
					t.Errorf("%v after its setting it has not come: %v", clockBack, b.dump())
				}
			})
		})
	}
}

// claimed claims the servers that are to be asked for.
func (b *bundle) claimed() []Allocation {
	b.Helper()
	list, err := b.stores[0].ClaimAllocations(b.ctx, 10, time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	return list
}

// TestClockBack_SilentInstance parks the players of an instance that dies in the second in which the clock steps back.
func TestClockBack_SilentInstance(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := setup(t, be, 2, trio)
		b.waiting(1, trio, "x")
		b.set(b.now - clockBack.Microseconds())
		b.renewOnly(0)
		b.step(4 * time.Second)
		b.touch()
		b.renewOnly(0)
		if swept := b.sweep(trio); swept.Parked != 1 {
			t.Errorf("swept %+v, want its player parked", swept)
		}
	})
}

// TestClockBack_RealmsTimeGoesOn: the realm's time never runs back, at most a twentieth slower than Redis', and is that again
// in the end.
func TestClockBack_RealmsTimeGoesOn(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		const back, second = 5 * time.Second, time.Second
		b := setup(t, be, 1)
		now := func() int64 {
			lease, err := b.stores[0].RenewLease(b.ctx)
			if err != nil {
				t.Fatal(err)
			}
			if lease.Lapsed {
				t.Error("the lease lapsed by the step")
			}
			return lease.Now
		}
		last := now()
		b.set(b.now - back.Microseconds())
		if next := now(); next != last {
			t.Errorf("the step moves the realm's time by %d ms", next-last)
		}
		steps := 0
		for ; last != b.now/1000 && steps < 120; steps++ {
			b.set(b.now + second.Microseconds())
			next := now()
			if passed := next - last; passed < second.Milliseconds()*19/20-1 || passed > second.Milliseconds() {
				t.Fatalf("%d ms passed within a second", passed)
			}
			last = next
		}
		if want := 20 * int(back/second); steps < want || steps > want+20 {
			t.Errorf("Redis' clock has caught up after %d s, want %d or little more", steps, want)
		}
	})
}

// TestClockBack_AndForthIsNoStep: a clock that is corrected back to where it was ends nothing early.
func TestClockBack_AndForthIsNoStep(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := setup(t, be, 2, pairs)
		b.matched()
		b.stepBack()
		b.set(b.now + clockBack.Microseconds())
		b.renew()
		if swept := b.sweep(pairs); swept.MatchesExpired != 0 {
			t.Errorf("swept %+v", swept)
		}
		if ahead := b.rdb.HGet(b.ctx, b.key("meta"), "ahead").Val(); ahead != "0" {
			t.Errorf("the realm is %s us ahead of a clock that is right again", ahead)
		}
	})
}

// TestClockBack_GoesOnInANewEpoch: a promoted replica whose clock is behind, with the data or without, does not set the realm's
// time back, as callers know the last place.
func TestClockBack_GoesOnInANewEpoch(t *testing.T) {
	for name, lose := range map[string]func(b *bundle){
		"with the data": func(b *bundle) { b.rdb.HSet(b.ctx, b.key("meta"), "history", "other") },
		"with none":     func(b *bundle) { b.lose() },
	} {
		t.Run(name, func(t *testing.T) {
			onBackends(t, func(t *testing.T, be backend) {
				b := setup(t, be, 1, pairs)
				last, err := b.stores[0].RenewLease(b.ctx)
				if err != nil {
					t.Fatal(err)
				}
				lose(b)
				b.set(b.now - clockBack.Microseconds())
				e, err := b.stores[0].OpenEpoch(b.ctx, last.LastPlace)
				if err != nil {
					t.Fatal(err)
				}
				b.stores[0].SetEpoch(e.Number)
				lease, err := b.stores[0].RenewLease(b.ctx)
				if before := int64(last.LastPlace) / 1000; err != nil || lease.Now < before || lease.Now > before+1000 {
					t.Errorf("the realm's time is %d, %d before: %v", lease.Now, before, err)
				}
				if e.OpensIn > testRecovery {
					t.Errorf("matching opens in %v", e.OpensIn)
				}
			})
		})
	}
}
