package matching

import (
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/internal/faultproxy"
	"muster/internal/ident"
	"muster/internal/redistest"
	"muster/store"
)

func isInMatch(err error) bool {
	var in *store.InMatchError
	return errors.As(err, &in)
}

func TestEverybodyIsMatchedExactlyOnce(t *testing.T) {
	for _, w := range []World{groupWorld("w", 3), duelWorld("w")} {
		t.Run(string(w.Mode), func(t *testing.T) {
			onBackends(t, func(t *testing.T, url string) {
				r := startRealm(t, url, 0, w)
				players := r.arrive(300)
				r.joinAll(players, "w")
				r.awaitMatched(players, 0)
				r.checkMatches(players)
			})
		})
	}
}

func TestNobodyIsMatchedInTwoWorldsAtOnce(t *testing.T) {
	onBackends(t, func(t *testing.T, url string) {
		r := startRealm(t, url, 0, groupWorld("v", 3), duelWorld("w"))
		players := r.arrive(120)
		r.joinAll(players, "v", "w")
		r.awaitMatched(players, 1) // pairs take whoever threes leave, but one that is over
		r.checkMatches(players)
	})
}

func TestTheLastJoinFormsTheMatch(t *testing.T) {
	onBackends(t, func(t *testing.T, url string) {
		r := startRealm(t, url, 0, groupWorld("w", 3))
		players := r.arrive(3)
		for i, p := range players {
			joined, err := r.join(p, "w")
			if err != nil || joined.Place == 0 || joined.Position != i+1 || joined.Size != i+1 {
				t.Errorf("join %d: %+v, %v", i, joined, err)
			}
			// The match is there when Join returns: nobody waits for a tick.
			if n, want := r.matched(players), 3*(i/2); n != want {
				t.Errorf("%d are matched after join %d, want %d", n, i, want)
			}
		}
		r.checkMatches(players)
		if _, err := r.join(players[0], "w"); !isInMatch(err) {
			t.Errorf("joined from within a match: %v", err)
		}
	})
}

func TestAPlayerWhoReturnsIsMatchedByAPoke(t *testing.T) {
	onBackends(t, func(t *testing.T, url string) {
		r := startRealm(t, url, 0, groupWorld("w", 2))
		players := r.arrive(2)
		r.joinAll(players[:1], "w")
		if _, err := r.stores[0].Depart(r.ctx, testGrace, []store.Session{players[0].Session}); err != nil {
			t.Fatal(err)
		}
		r.joinAll(players[1:], "w")
		if n := r.matched(players); n != 0 {
			t.Fatalf("%d are matched while one is away", n)
		}
		if _, err := r.stores[0].Arrive(r.ctx, []store.Session{{Player: players[0].Player}}); err != nil {
			t.Fatal(err)
		}
		r.instances[0].Wake("w")
		r.awaitMatched(players, 0)
		r.checkMatches(players)
	})
}

func TestOnePokeMatchesAWholeQueue(t *testing.T) {
	for _, w := range []World{groupWorld("w", 3), duelWorld("w")} {
		t.Run(string(w.Mode), func(t *testing.T) {
			onBackends(t, func(t *testing.T, url string) {
				r := startRealm(t, url, 0, w)
				players := r.arrive(240) // more than one call looks at
				r.queue(players, "w")
				r.instances[1].Wake("w")
				r.awaitMatched(players, 0)
				r.checkMatches(players)
			})
		})
	}
}

func TestWhatALostPokeWouldHaveDoneHappensATickLater(t *testing.T) {
	onBackends(t, func(t *testing.T, url string) {
		w := groupWorld("w", 3)
		w.Tick = 100 * time.Millisecond
		r := startRealm(t, url, 50*time.Millisecond, w)
		players := r.arrive(30)
		r.queue(players, "w")
		r.awaitMatched(players, 0)
		r.checkMatches(players)
	})
}

func TestWorldsThatAnotherInstanceChanged(t *testing.T) {
	onBackends(t, func(t *testing.T, url string) {
		r := startRealm(t, url, 0, groupWorld("v", 3), groupWorld("w", 3))
		players := r.arrive(5)
		r.joinAll(players[:2], "w")
		closed := groupWorld("w", 4)
		r.declare(closed)
		r.joinAll(players[2:4], "w")
		r.awaitMatched(players, 1)
		r.checkMatches(players)
		if w, _ := r.instances[players[2].on].World("w"); w.Size != 4 {
			t.Errorf("the world still has the size %d", w.Size)
		}
		if _, err := r.join(players[4], "v"); !errors.Is(err, store.ErrUnknownWorld) {
			t.Errorf("joined a world that is gone: %v", err)
		}
		closed.State = Closed
		r.declare(closed)
		if _, err := r.join(players[4], "w"); !errors.Is(err, store.ErrWorldClosed) {
			t.Errorf("joined a closed world: %v", err)
		}
	})
}

func TestStopUnderLoad(t *testing.T) {
	onBackends(t, func(t *testing.T, url string) {
		r := startRealm(t, url, 0, groupWorld("w", 3))
		players := r.arrive(300)
		joined := make([]bool, len(players))
		var done atomic.Int64
		var wg sync.WaitGroup
		for i, p := range players {
			wg.Go(func() {
				_, err := r.join(p, "w")
				joined[i] = err == nil
				if err != nil && !errors.Is(err, ErrStopped) {
					t.Errorf("%s: %v", p.Player, err)
				}
				if done.Add(1) == 30 {
					wg.Go(r.instances[0].Stop)
				}
			})
		}
		wg.Wait()
		// Who got a ticket has one, or a match; who was refused has neither.
		for i, record := range r.records(players) {
			if has := !record.Idle(); has != joined[i] {
				t.Errorf("%s joined: %v, and has %+v", players[i].Player, joined[i], record)
			}
		}
		r.checkMatches(players)
	})
}

// The first try of a call takes effect and its reply is lost: the second says what the first did.
func TestAReplyThatIsLostOnTheWay(t *testing.T) {
	t.Parallel()
	target, err := url.Parse(redistest.Shared(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := faultproxy.Start(t, target.Host)
	r := startRealm(t, fmt.Sprintf("redis://%s/0", proxy.Addr()), 0, groupWorld("w", 2))
	players := r.arrive(2)

	proxy.SwallowRepliesTo("add_to_queue_marker", 1)
	if _, err := r.instances[0].Join(r.ctx, "w", store.Join{
		Player: players[0].Player, Generation: players[0].Generation, Fingerprint: "add_to_queue_marker",
	}); err != nil {
		t.Errorf("joined alone: %v", err)
	}

	proxy.SwallowRepliesTo("the_other_marker", 1)
	_, err = r.instances[1].Join(r.ctx, "w", store.Join{
		Player: players[1].Player, Generation: players[1].Generation, Fingerprint: "the_other_marker",
	})
	if !errors.Is(err, store.ErrUnavailable) { // its ticket was taken by the match: only the state tells
		t.Errorf("joined into a match: %v, want %v", err, store.ErrUnavailable)
	}
	r.awaitMatched(players, 0)
	r.checkMatches(players)
}

func BenchmarkJoinToMatch(b *testing.B) {
	for _, backend := range []struct {
		name string
		url  func(testing.TB) string
	}{
		{"redis", func(t testing.TB) string { return redistest.Shared(t).URL() }},
		{"embedded", func(testing.TB) string { return "" }},
	} {
		for _, w := range []World{groupWorld("w", 3), duelWorld("w")} {
			for _, crowd := range []int{6, 600} {
				b.Run(fmt.Sprintf("%s/%s/players=%d", backend.name, w.Mode, crowd), func(b *testing.B) {
					benchmarkJoinToMatch(b, backend.url(b), w, crowd)
				})
			}
		}
	}
}

// benchmarkJoinToMatch has a crowd join at the same time, again and again, until all are matched.
func benchmarkJoinToMatch(b *testing.B, url string, w World, crowd int) {
	r := startRealm(b, url, 0, w)
	players := r.arrive(crowd)
	b.ReportAllocs()
	for b.Loop() {
		r.joinAll(players, "w")
		b.StopTimer()
		r.awaitMatched(players, 0)
		ended := map[ident.Match]bool{}
		for _, record := range r.records(players) {
			if !ended[record.Match] {
				ended[record.Match] = true
				if err := r.stores[0].EndMatch(r.ctx, record.Match, store.Ended); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N*crowd)/b.Elapsed().Seconds(), "players/s")
}
