package presence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/internal/ident"
	"muster/store"
)

// inBubble runs a test of a Keeper between fakes, which is stopped at its end.
func inBubble(t *testing.T, test func(b *fakeBundle)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newFake(t)
		defer func() {
			for call := range b.store.errors {
				b.store.fail(call, nil)
			}
			b.keeper.Stop(context.Background())
		}()
		test(b)
	})
}

// pass lets the bubble's time pass.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the bubble's time
	synctest.Wait()
}

// isThere is of a connection that stays.
func isThere() bool { return true }

func (b *fakeBundle) arrive(player ident.Player) store.Session {
	b.Helper()
	st, err := b.keeper.Arrive(b.Context(), store.Session{Player: player}, isThere)
	if err != nil {
		b.Errorf("%s arrives: %v", player, err)
	}
	return b.sessions.enter(st)
}

func TestAThousandPlayersCostAHandfulOfCallsAHeartbeat(t *testing.T) {
	inBubble(t, func(b *fakeBundle) {
		b.store.roundTrip = time.Millisecond
		b.start()
		for i := range 1000 {
			go b.arrive(ident.Player(fmt.Sprintf("p%d", i)))
		}
		pass(time.Second)
		if n := b.count("arrive"); n > 20 {
			t.Errorf("%d calls for a thousand arrivals at once", n)
		}
		const heartbeats = 3
		pass(heartbeats * testHeartbeat)
		const batches = 1000 / refreshBatch
		if n := b.count("refresh"); n < heartbeats*batches || n > (heartbeats+1)*(batches+refreshParts) {
			t.Errorf("%d calls refreshed a thousand players in %d heartbeats", n, heartbeats)
		}
		if n := b.count("renewLease"); n > heartbeats*10+2 {
			t.Errorf("the lease was renewed %d times in %d heartbeats of 10 s", n, heartbeats)
		}
		for _, s := range b.sessions.Sessions() {
			b.keeper.Depart(s, testGrace)
			b.sessions.leave(s)
		}
		pass(time.Second)
		if n := b.count("depart"); n > 20 {
			t.Errorf("%d calls for a thousand departures at once", n)
		}
	})
}

func TestAnArrivalOfWhoWaitsNowherePokesNobody(t *testing.T) {
	inBubble(t, func(b *fakeBundle) {
		b.start()
		b.arrive("p")
		b.want("poke")
	})
}

func TestAwayIsSaidOnce(t *testing.T) {
	inBubble(t, func(b *fakeBundle) {
		b.store.fail("renewLease", store.ErrUnavailable)
		b.start()
		pass(10 * time.Second)
		if b.keeper.Ready() {
			t.Error("ready though Redis was never there")
		}
		b.store.fail("renewLease", nil)
		pass(5 * time.Second)
		if !b.keeper.Ready() {
			t.Error("not ready though Redis is there")
		}
		want := []string{"redis is away; waiting for it", "redis is back"}
		var got []string
		for line := range strings.Lines(b.log.String()) {
			_, message, _ := strings.Cut(line, `"message":"`)
			got = append(got, strings.TrimSuffix(message, "\"}\n"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("logged %q, want %q", got, want)
		}
		b.store.fail("renewLease", store.ErrUnavailable)
		pass(3 * time.Second)
		if b.keeper.Ready() {
			t.Error("ready though Redis is away for the length of a lease")
		}
	})
}

func TestRenewal_SaysEachTroubleOnce(t *testing.T) {
	inBubble(t, func(b *fakeBundle) {
		b.store.fail("renewLease", store.ErrUnavailable)
		b.start()
		for _, sentence := range []string{"add +info", "add +xadd"} {
			pass(3 * time.Second)
			b.store.fail("renewLease", &store.SetupError{Sentence: sentence})
		}
		pass(3 * time.Second)
		if b.keeper.Ready() {
			t.Error("ready without a lease")
		}
		b.store.fail("renewLease", nil)
		pass(3 * time.Second)
		want := []string{`warn "redis is away; waiting for it"`, `error "add +info"`, `error "add +xadd"`, `info "redis is back"`}
		if got := b.logged(); !slices.Equal(got, want) {
			t.Errorf("logged %q, want %q", got, want)
		}
	})
}

// logged are the lines of the log, as level and message.
func (b *fakeBundle) logged() []string {
	var lines []string
	for text := range strings.Lines(b.log.String()) {
		var line struct{ Level, Message string }
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			b.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s %q", line.Level, line.Message))
	}
	return lines
}

func TestALeaseThatLapsedHasAllArriveAgain(t *testing.T) {
	inBubble(t, func(b *fakeBundle) {
		b.start()
		for _, p := range []ident.Player{"p", "q"} {
			b.arrive(p)
		}
		b.store.setLease(store.Lease{Lapsed: true, Published: 7})
		pass(renewInterval)
		b.store.setLease(store.Lease{Published: 7})
		pass(5 * renewInterval)
		b.want("restart", "restart 7")
		if got := b.of("apply"); len(got) != 2 {
			t.Errorf("%q, want p and q once each", got)
		}
	})
}

// The reply of a renewal that was lost may have been the one that said that the lease had lapsed.
func TestAfterARenewalThatFailedAllArriveAgain(t *testing.T) {
	inBubble(t, func(b *fakeBundle) {
		b.start()
		b.arrive("p")
		pass(3 * renewInterval)
		b.want("apply")
		b.store.fail("renewLease", store.ErrUnavailable)
		pass(renewInterval)
		b.store.fail("renewLease", nil)
		pass(5 * renewInterval)
		b.want("apply", "apply p")
	})
}

func TestAnArrivalAgainThatFailsIsDoneAgain(t *testing.T) {
	inBubble(t, func(b *fakeBundle) {
		b.start()
		b.arrive("p")
		b.store.fail("arrive", store.ErrUnavailable)
		b.store.setLease(store.Lease{Lapsed: true})
		pass(renewInterval)
		b.store.setLease(store.Lease{})
		pass(3 * renewInterval)
		b.want("apply")
		b.store.fail("arrive", nil)
		pass(3 * renewInterval)
		b.want("apply", "apply p")
	})
}

func TestWhatIsMissedIsReadIfItDoesNotComeShortly(t *testing.T) {
	inBubble(t, func(b *fakeBundle) {
		b.store.setLease(store.Lease{Published: 5})
		b.start()
		pass(3 * renewInterval)
		b.want("look")
		b.sessions.setBehind(true)
		time.AfterFunc(renewInterval+publishDelay/2, func() { b.sessions.setBehind(false) })
		pass(renewInterval + publishDelay)
		b.want("look")
		b.sessions.setBehind(true)
		pass(renewInterval + publishDelay)
		b.want("look", "look 5")
		b.keeper.Gap()
		synctest.Wait()
		b.want("look", "look 5", "look 0")
	})
}

func TestDeparturesWaitUntilRedisTakesThem(t *testing.T) {
	for name, failure := range map[string]error{"away": store.ErrUnavailable, "at fault": errors.New("script error")} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *fakeBundle) {
				b.start()
				b.store.fail("depart", failure)
				b.keeper.Depart(store.Session{Player: "p", Generation: 1}, testGrace)
				pass(time.Minute)
				b.keeper.Depart(store.Session{Player: "q", Generation: 2}, time.Second)
				pass(time.Minute)
				failed := b.count("depart")
				if failed < 100 || failed > 3*int(2*time.Minute/retryInterval) {
					t.Errorf("tried %d times in two minutes", failed)
				}
				b.store.fail("depart", nil)
				pass(time.Minute)
				done := b.of("depart")[failed:]
				slices.Sort(done)
				if want := []string{"depart p 30s", "depart q 1s"}; !slices.Equal(done, want) {
					t.Errorf("departed %q, want %q", done, want)
				}
				logged := strings.Count(b.log.String(), "players not departed")
				if want := map[string]int{"away": 0, "at fault": 1}[name]; logged != want {
					t.Errorf("logged %d times, want %d", logged, want)
				}
			})
		})
	}
}

func TestRefresh_LeavesInEvenBatches(t *testing.T) {
	const players = 10_000
	inBubble(t, func(b *fakeBundle) {
		for i := range ident.Place(players) {
			b.sessions.enter(store.PlayerState{Player: ident.Player(fmt.Sprintf("p%d", i)), Generation: i + 1})
		}
		b.start()
		pass(testHeartbeat / 2)
		before := len(b.of("refresh"))
		for second := range 5 {
			pass(time.Second)
			refreshed := 0
			calls := b.of("refresh")[before:]
			before += len(calls)
			for _, call := range calls {
				n := strings.Count(call, ",") + 1
				if refreshed += n; n > refreshBatch {
					t.Errorf("one call refreshed %d players, want at most %d", n, refreshBatch)
				}
			}
			if even := players / int(testHeartbeat/time.Second); refreshed < even/2 || refreshed > even*3/2 {
				t.Errorf("second %d: %d players were refreshed, want about %d", second, refreshed, even)
			}
		}
	})
}

func TestARefreshThatFailsIsTriedAgainSoon(t *testing.T) {
	inBubble(t, func(b *fakeBundle) {
		b.sessions.enter(store.PlayerState{Player: "p", Generation: 4}) // of the fifth beat
		b.store.fail("refresh", errors.New("script error"))
		b.start()
		pass(testHeartbeat/refreshParts + 2*retryInterval)
		b.want("refresh", "refresh failed p", "refresh failed p", "refresh failed p")
		b.store.fail("refresh", nil)
		pass(retryInterval)
		b.want("refresh", "refresh failed p", "refresh failed p", "refresh failed p", "refresh p")
		pass(testHeartbeat / 2)
		b.want("refresh", "refresh failed p", "refresh failed p", "refresh failed p", "refresh p")
		if n := strings.Count(b.log.String(), "presence not refreshed"); n != 1 {
			t.Errorf("logged %d times, want once", n)
		}
	})
}

func TestAPlayerThatLeftIsNotRefreshedLater(t *testing.T) {
	inBubble(t, func(b *fakeBundle) {
		session := b.sessions.enter(store.PlayerState{Player: "p", Generation: 4})
		b.store.fail("refresh", store.ErrUnavailable)
		b.start()
		pass(testHeartbeat / refreshParts)
		b.sessions.leave(session)
		b.store.fail("refresh", nil)
		pass(testHeartbeat)
		b.want("refresh", "refresh failed p")
	})
}

func TestStopDepartsThenGivesTheLeaseBack(t *testing.T) {
	inBubble(t, func(b *fakeBundle) {
		b.keeper.Stop(b.Context())
		b.want("endLease")
		b.start()
		if err := b.keeper.Start(b.Context()); err == nil {
			t.Error("started twice")
		}
		b.store.fail("depart", store.ErrUnavailable)
		b.keeper.Depart(store.Session{Player: "p", Generation: 1}, testGrace)
		pass(renewInterval / 10)
		time.AfterFunc(time.Second, func() { b.store.fail("depart", nil) })
		b.keeper.Stop(b.Context())
		b.keeper.Stop(b.Context())
		happened := b.of("depart", "endLease")
		if want := []string{"depart p 30s", "endLease "}; !slices.Equal(happened[len(happened)-2:], want) {
			t.Errorf("it ended with %q, want %q", happened, want)
		}
		beats := b.count("beat")
		pass(time.Minute)
		if b.count("beat") != beats || b.count("endLease") != 1 {
			t.Error("something goes on after Stop")
		}
	})
}

func TestStopEndsWhileRedisIsAway(t *testing.T) {
	inBubble(t, func(b *fakeBundle) {
		b.start()
		b.store.fail("depart", store.ErrUnavailable)
		b.keeper.Depart(store.Session{Player: "p", Generation: 1}, testGrace)
		ctx, cancel := context.WithTimeout(b.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		b.keeper.Stop(ctx)
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
