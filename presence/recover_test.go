package presence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/internal/ident"
	"muster/store"
)

// callers are many at once whose calls meet another history.
func (r *realm) callers(n int) {
	r.Helper()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if _, err := r.store.States(r.ctx, []ident.Player{"p"}); err != nil {
				r.Errorf("states: %v", err)
			}
		})
	}
	wg.Wait()
}

// queued is a realm with a session that waits, whose keeper's loops do not run.
func (r *realm) queued() store.Session {
	r.Helper()
	r.startArrivals()
	session := r.arrive("p")
	r.join(session)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = nil
	return session
}

// stands fails the test unless the session is live with its ticket.
func (r *realm) stands(session store.Session) {
	r.Helper()
	states, err := r.store.States(r.ctx, []ident.Player{session.Player})
	if err != nil || states[0].Generation != session.Generation || !strings.Contains(states[0].Record, "duel=") {
		r.Errorf("state %+v, %v; want it live and queued", states, err)
	}
	if err := r.outcome(session); err != nil {
		r.Errorf("the session is %v", err)
	}
}

func TestOneRecoveryIsSharedByMany(t *testing.T) {
	onBackends(t, func(r *realm) {
		session := r.queued()
		r.lose()
		together := make(chan struct{})
		r.store.hook(r.store.before, "openEpoch", func() { <-together })
		time.AfterFunc(50*time.Millisecond, func() { close(together) })
		r.callers(16)
		if n := r.count("assertState"); n != 1 {
			r.Errorf("asserted %d times", n)
		}
		happened := r.of("begin", "declare", "assertState", "setEpoch", "late:")
		for i, e := range happened {
			happened[i], _, _ = strings.Cut(e, " ")
		}
		if want := []string{"begin", "declare", "assertState", "setEpoch"}; !slices.Equal(happened, want) {
			r.Errorf("happened %q, want %q", happened, want)
		}
		if len(r.of("poke")) == 0 {
			r.Error("matches were not tried in the new epoch")
		}
		r.stands(session)
	})
}

func TestHistoryThatIsLostAgainWhileItIsRecovered(t *testing.T) {
	t.Parallel()
	r := onRedis(t)
	session := r.queued()
	r.lose()
	r.store.hook(r.store.before, "assertState", func() {
		r.lose()
		r.store.hook(r.store.before, "assertState", r.lose)
	})
	r.callers(16)
	if n := r.count("assertState"); n < 3 {
		t.Errorf("asserted %d times, want another try after each loss", n)
	}
	if set := r.of("setEpoch"); len(set) != 1 {
		t.Errorf("%q, want the last epoch only", set)
	}
	r.stands(session)
}

func TestHistoryThatIsLostAgainAndAgainIsUnavailable(t *testing.T) {
	t.Parallel()
	r := onRedis(t)
	session := r.queued()
	var again func()
	again = func() {
		r.lose()
		r.store.hook(r.store.before, "assertState", again)
	}
	again()
	if _, err := r.store.States(r.ctx, []ident.Player{"p"}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("states: %v", err)
	}
	if n := r.count("assertState"); n != recoverAttempts {
		t.Errorf("tried %d times, want %d", n, recoverAttempts)
	}
	r.store.hook(r.store.before, "assertState", nil)
	r.callers(1)
	r.stands(session)
}

func TestACallerDoesNotWaitLongerThanItWants(t *testing.T) {
	onBackends(t, func(r *realm) {
		session := r.queued()
		r.lose()
		ctx, cancel := context.WithCancel(r.ctx)
		r.store.hook(r.store.before, "assertState", cancel)
		if err := r.keeper.Recover(ctx); !errors.Is(err, store.ErrUnavailable) && err != nil {
			r.Errorf("recover: %v", err)
		}
		r.callers(1) // the recovery went on without who began it
		if n := r.count("assertState"); n != 1 {
			r.Errorf("asserted %d times", n)
		}
		r.stands(session)
	})
}

func TestRecover_KeepsProgressOfAnEpoch(t *testing.T) {
	onBackends(t, func(r *realm) {
		session := r.queued()
		r.sessions.forget(session) // so that Redis has newer knowledge of it, which the first call of all finds
		r.sessions.play(7, 100)
		r.lose()
		r.store.failAfter(4, "assertState")
		if err := r.keeper.Recover(r.ctx); !errors.Is(err, store.ErrUnavailable) {
			r.Fatalf("the interrupted attempt: %v", err)
		}
		if n := r.count("setEpoch", "doubt"); n != 0 {
			r.Error("the epoch is set although sessions are not asserted yet")
		}
		first := r.count("assertState")
		if err := r.keeper.Recover(r.ctx); err != nil {
			r.Fatalf("the next attempt: %v", err)
		}
		second := r.count("assertState") - first
		if first != 5 || second != 4 { // of the player by itself and seven matches, one of them twice
			r.Errorf("%d calls in the first attempt and %d in the second, want 5 and 4", first, second)
		}
		if got := r.of("doubt"); !slices.Equal(got, []string{"doubt p"}) {
			r.Errorf("%q, want that the state is read which the first attempt found to be newer", got)
		}
		states, err := r.store.States(r.ctx, []ident.Player{"q0-0", "q6-99"})
		if err != nil || states[0].Match == "" || states[1].Match == "" {
			r.Errorf("states %+v, %v", states, err)
		}
		r.lose()
		if err := r.keeper.Recover(r.ctx); err != nil {
			r.Fatalf("the next loss: %v", err)
		}
		if third := r.count("assertState") - first - second; third != 8 {
			r.Errorf("%d calls in the next epoch, want all 8", third)
		}
	})
}

func TestASessionThatEndsWhileItIsAssertedIsDeparted(t *testing.T) {
	onBackends(t, func(r *realm) {
		session := r.queued()
		r.lose()
		r.store.hook(r.store.before, "assertState", func() { r.sessions.leave(session) })
		r.callers(1)
		r.keeper.departUntil(r.ctx)
		if got := r.of("depart"); !slices.Equal(got, []string{"depart p"}) {
			r.Errorf("departed %q", got)
		}
	})
}

func TestTheFloorIsAboveAllThatWasGivenOutSinceTheLastRenewal(t *testing.T) {
	inBubble(t, func(b *fakeBundle) {
		b.store.setLease(store.Lease{LastPlace: 4_000_000, Now: 5_000})
		b.start()
		b.store.fail("renewLease", store.ErrUnavailable)
		pass(2 * time.Second)
		if err := b.keeper.Recover(b.Context()); err != nil {
			t.Fatal(err)
		}
		if got := b.keeper.Floor(); got < 7_000_000 || got > 8_000_000 {
			t.Errorf("floor %d, want two seconds more than 5 s", got)
		}
		b.want("openEpoch", fmt.Sprintf("openEpoch %d", b.keeper.Floor()))
	})
}

func TestTheFloorNeverSinks(t *testing.T) {
	t.Parallel()
	k := newFake(t).keeper
	var wg sync.WaitGroup
	for i := range ident.Place(100) {
		wg.Go(func() { k.raiseFloor(200 - i) })
	}
	wg.Wait()
	if got := k.Floor(); got != 200 {
		t.Errorf("floor %d, want 200", got)
	}
}
