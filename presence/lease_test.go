package presence

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"muster/internal/ident"
	"muster/internal/redistest"
	"muster/store"
)

func TestWhoLosesItsLeaseArrivesAgain(t *testing.T) {
	onBackends(t, func(r *realm) {
		r.start()
		session := r.arrive("p")
		r.eventually("ready", r.keeper.Ready)
		if err := r.store.EndLease(r.ctx); err != nil {
			r.Fatal(err)
		}
		before := r.count("apply")
		r.eventually("p has arrived again", func() bool { return r.count("apply") > before })
		if err := r.outcome(session); err != nil {
			r.Errorf("the session is %v", err)
		}
	})
}

func TestWhosePresenceIsGoneArrivesAgain(t *testing.T) {
	onBackends(t, func(r *realm) {
		r.start()
		session := r.arrive("p")
		r.join(session)
		if _, err := r.store.Store.Depart(r.ctx, testGrace, []store.Session{session}); err != nil {
			r.Fatal(err)
		}
		r.eventually("p is live again", func() bool { return r.outcome(session) == nil })
		r.eventually("its world is poked", func() bool { return slices.Contains(r.of("poke"), "poke [duel]") })
		r.eventually("its session is told", func() bool { return r.count("apply") > 0 })
	})
}

func TestWhoIsReplacedElsewhereIsEnded(t *testing.T) {
	t.Parallel()
	server, name := redistest.Shared(t), redistest.Realm(t)
	r := newRealm(t, server.URL(), name)
	r.start()
	session := r.arrive("p")
	other := openStore(t, server.URL(), name, "there")
	other.SetEpoch(r.store.Epoch())
	states, err := other.Arrive(r.ctx, []store.Session{{Player: "p"}})
	if err != nil {
		t.Fatal(err)
	}
	r.eventually("p is replaced", func() bool { return r.count("replaced") > 0 })
	if err := r.outcome(session); !errors.Is(err, store.ErrReplaced) {
		t.Errorf("the older session is %v", err)
	}
	if errs, err := other.Refresh(r.ctx, []store.Session{{Player: "p", Generation: states[0].Generation}}); err != nil || errs[0] != nil {
		t.Errorf("the newer session is %v, %v", errs, err)
	}
}

// A player's first connection has its call held up, and is gone when the second has come elsewhere: it takes nothing over. One
// that is there does.
func TestWhoIsGoneTakesNothingOver(t *testing.T) {
	t.Parallel()
	server, name := redistest.Shared(t), redistest.Realm(t)
	r := newRealm(t, server.URL(), name)
	r.start()
	r.arrive("q") // from then on there is an epoch
	other := openStore(t, server.URL(), name, "there")
	other.SetEpoch(r.store.Epoch())
	if _, err := other.RenewLease(r.ctx); err != nil {
		t.Fatal(err)
	}
	states, err := other.Arrive(r.ctx, []store.Session{{Player: "p"}})
	if err != nil {
		t.Fatal(err)
	}
	newer := []store.Session{{Player: "p", Generation: states[0].Generation}}
	if _, err := r.keeper.Arrive(r.ctx, store.Session{Player: "p"}, func() bool { return false }); !errors.Is(err, store.ErrReplaced) {
		t.Errorf("who is gone arrives: %v", err)
	}
	if errs, err := other.Refresh(r.ctx, newer); err != nil || errs[0] != nil {
		t.Errorf("the session that is there is %v, %v", errs, err)
	}
	if st, err := r.keeper.Arrive(r.ctx, store.Session{Player: "p"}, isThere); err != nil || st.Generation <= newer[0].Generation {
		t.Errorf("who is there arrives: %+v, %v", st, err)
	}
	if errs, err := other.Refresh(r.ctx, newer); err != nil || !errors.Is(errs[0], store.ErrReplaced) {
		t.Errorf("the session before is %v, %v", errs, err)
	}
}

// Two connections of a player end up on one instance, and the lease lapses before the older has gone.
func TestArrivingAgainEndsTheOlderOfTwoSessionsOnly(t *testing.T) {
	onBackends(t, func(r *realm) {
		r.startArrivals()
		older, newer := r.arrive("p"), r.arrive("p")
		if err := r.keeper.rearrive(r.ctx, []store.Session{older, newer}); err != nil {
			r.Fatal(err)
		}
		if r.sessions.Has(older) || !r.sessions.Has(newer) {
			r.Errorf("left are %v, want %v", r.sessions.Sessions(), newer)
		}
		if err := r.outcome(newer); err != nil {
			r.Errorf("the newer session is %v", err)
		}
	})
}

func TestASessionThatEndsWhileItIsMadeLiveIsDeparted(t *testing.T) {
	onBackends(t, func(r *realm) {
		r.start()
		session := r.arrive("p")
		// As a server does: it leaves, and its departure is on its way before the arrival.
		r.store.hook(r.store.after, "arrive", func() { r.sessions.leave(session) })
		if _, err := r.store.Store.Depart(r.ctx, testGrace, []store.Session{session}); err != nil {
			r.Fatal(err)
		}
		r.eventually("p is departed", func() bool { return slices.Contains(r.of("depart"), "depart p") })
		if err := r.outcome(session); !errors.Is(err, store.ErrGone) {
			r.Errorf("the session is %v, want gone", err)
		}
	})
}

func TestAnArrivalThatNobodyWaitsForIsDeparted(t *testing.T) {
	onBackends(t, func(r *realm) {
		r.start()
		ctx, cancel := context.WithCancel(r.ctx)
		gaveUp := make(chan struct{})
		r.store.hook(r.store.after, "arrive", func() { cancel(); <-gaveUp })
		_, err := r.keeper.Arrive(ctx, store.Session{Player: "p"}, isThere)
		close(gaveUp)
		if !errors.Is(err, context.Canceled) {
			r.Fatalf("arrive: %v", err)
		}
		r.eventually("p is departed", func() bool { return slices.Contains(r.of("depart"), "depart p") })
		states, err := r.store.States(r.ctx, []ident.Player{"p"})
		if err != nil || states[0].Generation != 0 {
			r.Errorf("state %+v, %v; want no presence", states, err)
		}
	})
}

func TestStopGivesTheLeaseBack(t *testing.T) {
	onBackends(t, func(r *realm) {
		r.start()
		session := r.arrive("p")
		r.sessions.leave(session)
		r.eventually("ready", r.keeper.Ready)
		r.keeper.Depart(session, testGrace)
		r.keeper.Stop(r.ctx)
		if got := r.of("depart"); !slices.Equal(got, []string{"depart p"}) {
			r.Errorf("departed %q", got)
		}
		lease, err := r.store.RenewLease(r.ctx)
		if err != nil || !lease.Lapsed {
			r.Errorf("lease %+v, %v; want it to have been given back", lease, err)
		}
	})
}

func TestRedisThatComesLateAndWithoutItsData(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	server.Stop()
	r := newRealm(t, server.URL(), redistest.Realm(t))
	r.start()
	if _, err := r.keeper.Arrive(r.ctx, store.Session{Player: "early"}, isThere); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("arrive without Redis: %v", err)
	}
	server.Restart()
	r.eventually("ready", r.keeper.Ready)
	stays, leaves := r.arrive("stays"), r.arrive("leaves")
	r.join(stays)
	r.join(leaves)
	server.Kill()
	r.sessions.leave(leaves)
	r.keeper.Depart(leaves, testGrace)
	server.Restart()
	r.eventually("the one that is here is live", func() bool {
		states, err := r.store.States(r.ctx, []ident.Player{"stays", "leaves"})
		return err == nil && states[0].Generation == stays.Generation && strings.Contains(states[0].Record, "duel")
	})
	r.eventually("the departure has been tried", func() bool { return slices.Contains(r.of("depart"), "depart leaves") })
	if err := r.outcome(leaves); !errors.Is(err, store.ErrGone) {
		t.Errorf("the one that left is %v", err)
	}
}
