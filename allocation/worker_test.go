package allocation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/ident"
	"muster/store"
)

func TestAnInstanceThatDiedIsTakenOver(t *testing.T) {
	t.Parallel()
	rec := receive(t, reply(http.StatusOK, goodReply))
	fake := newFakeStore(aMatch("m1"))
	if claimed, err := fake.ClaimAllocations(t.Context(), 1, 300*time.Millisecond); err != nil || len(claimed) != 1 {
		t.Fatal(claimed, err) // and is heard of no more
	}
	leaseEnds := time.Now().Add(300 * time.Millisecond)
	start(t, Options{Store: fake, Settings: always(rec.webhook())})
	if m := fake.settled(t, "m1"); m.state != complete || m.attempt != 2 {
		t.Errorf("match = %+v", m)
	}
	if asked := rec.requests(); len(asked) != 1 || asked[0].at.Before(leaseEnds.Add(-10*time.Millisecond)) {
		t.Errorf("asked %+v, lease until %s", asked, leaseEnds)
	}
}

// An instance that was held up for longer than its lease answers for nothing any more.
func TestALateAnswerDoesNotCountAgainstAnotherInstance(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	rec := receive(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 0 {
			<-release
			_, _ = io.WriteString(w, `{"endpoint":"late"}`)
			return
		}
		_, _ = io.WriteString(w, goodReply)
	})
	fake := newFakeStore(aMatch("m1"))
	fake.leaseFactor = 0.02 // as if the first instance's clock had stood still
	s := rec.webhook()
	first, _ := start(t, Options{Store: fake, Settings: always(s), PollInterval: time.Hour, Grace: 20 * time.Second})
	fake.until(t, "first claim", func() bool { return fake.matches["m1"].attempt == 1 })
	start(t, Options{Store: fake, Settings: always(s)})
	fake.settled(t, "m1")
	close(release)
	first.Stop() // waits until it has settled, too
	if got := fake.look("m1"); got.state != complete || got.endpoint != goodEndpoint || got.attempt != 2 {
		t.Errorf("match = %+v", got)
	}
}

func TestAttemptsThatOthersUsedUpAreNotMadeAgain(t *testing.T) {
	t.Parallel()
	rec := receive(t, reply(http.StatusOK, goodReply))
	fake := newFakeStore(aMatch("m1"))
	fake.matches["m1"].attempt = 3
	_, seen := start(t, Options{Store: fake, Settings: always(rec.webhook())})
	if m := fake.settled(t, "m1"); m.state != cancelled || len(rec.requests()) != 0 {
		t.Errorf("match = %+v, %d requests", m, len(rec.requests()))
	}
	if got := seen.all(); !slices.Equal(got, []Outcome{Exhausted}) || seen.took[0] != 0 {
		t.Errorf("outcomes = %v after %v", got, seen.took)
	}
}

func TestAWorldWithoutAnAllocatorGivesItsMatchesBack(t *testing.T) {
	t.Parallel()
	fake := newFakeStore(aMatch("m1"))
	_, seen := start(t, Options{Store: fake, Settings: func(ident.World) (Settings, bool) { return Settings{}, false }})
	if m := fake.settled(t, "m1"); m.state != cancelled || m.attempt != unknownAttempts || m.pauses[0] != unknownPause {
		t.Errorf("match = %+v", m)
	}
	if got := seen.all(); !slices.Equal(got, []Outcome{NoAllocator, NoAllocator, NoAllocator}) {
		t.Errorf("outcomes = %v", got)
	}
}

// An instance may hear of a match before it hears of the settings under which it was formed.
func TestSettingsThatComeLaterAreInTime(t *testing.T) {
	t.Parallel()
	rec := receive(t, reply(http.StatusOK, goodReply))
	fake := newFakeStore(aMatch("m1"))
	var looked atomic.Int32
	start(t, Options{Store: fake, Settings: func(ident.World) (Settings, bool) { return rec.webhook(), looked.Add(1) > 1 }})
	if m := fake.settled(t, "m1"); m.state != complete || m.attempt != 2 {
		t.Errorf("match = %+v", m)
	}
}

func TestRequestsInFlightAreBounded(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	full, release := make(chan struct{}), make(chan struct{})
	rec := receive(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n == 3 {
			close(full)
		}
		<-release
		_, _ = io.WriteString(w, goodReply)
	})
	var matches []store.Match
	for i := range 10 {
		matches = append(matches, aMatch(ident.Match(fmt.Sprintf("m%d", i))))
	}
	fake := newFakeStore(matches...)
	start(t, Options{Store: fake, Settings: always(rec.webhook()), InFlight: 3, PollInterval: 20 * time.Millisecond})
	<-full
	wait(t.Context(), 200*time.Millisecond) // several polls
	claims := fake.claimed()
	close(release)
	for _, m := range matches {
		fake.settled(t, m.ID)
	}
	if most.Load() != 3 {
		t.Errorf("%d requests at a time", most.Load())
	}
	if claims != 3 {
		t.Errorf("%d matches were claimed when 3 could be begun", claims)
	}
}

func TestAPokeIsFollowedAtOnce(t *testing.T) {
	t.Parallel()
	rec := receive(t, reply(http.StatusOK, goodReply))
	fake := newFakeStore()
	w, _ := start(t, Options{Store: fake, Settings: always(rec.webhook()), PollInterval: time.Hour})
	for i := range 3 {
		id := ident.Match(fmt.Sprintf("m%d", i))
		fake.add(aMatch(id))
		w.Wake()
		fake.settled(t, id)
	}
}

// Neither what could not be begun at once nor what failed waits for a poll.
func TestWhatIsDueIsNotLeftToThePoll(t *testing.T) {
	t.Parallel()
	rec := receive(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n%2 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, goodReply)
	})
	fake := newFakeStore(aMatch("m1"), aMatch("m2"), aMatch("m3"))
	s := rec.webhook()
	s.Attempts = 10
	start(t, Options{Store: fake, Settings: always(s), InFlight: 1, PollInterval: time.Hour})
	for _, id := range fake.order {
		if m := fake.settled(t, id); m.state != complete {
			t.Errorf("match = %+v", m)
		}
	}
}

func TestLeasesAreAsLongAsTheLongestTimeout(t *testing.T) {
	t.Parallel()
	for longest, want := range map[time.Duration]time.Duration{
		0:               settleWithin,
		2 * time.Second: 2*time.Second + settleWithin,
		time.Hour:       MaxTimeout + settleWithin,
	} {
		fake := newFakeStore()
		start(t, Options{Store: fake, Settings: always(Settings{}), Longest: func() time.Duration { return longest }})
		fake.until(t, "claim", func() bool { return len(fake.leases) > 0 })
		if got := fake.leases[0]; got != want {
			t.Errorf("lease = %s, want %s", got, want)
		}
	}
}

// A request never goes on when its lease may have ended, whatever the settings have become.
func TestTheLeaseBoundsTheRequest(t *testing.T) {
	t.Parallel()
	rec := receive(t, stall)
	fake := newFakeStore(aMatch("m1"))
	s := rec.webhook()
	s.Timeout, s.Attempts = 30*time.Second, 1
	began := time.Now()
	start(t, Options{Store: fake, Settings: always(s), Longest: func() time.Duration { return 300 * time.Millisecond }})
	if m := fake.settled(t, "m1"); m.state != cancelled || time.Since(began) > settleWithin {
		t.Errorf("match = %+v after %s", m, time.Since(began))
	}
}

func TestFailures_LogEachReasonOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	f := newFailures(zerolog.New(&log).Level(zerolog.InfoLevel))
	for range 5 {
		f.note("a", "m", errors.New("connection refused"))
		f.note("b", "m", nil)
	}
	for range 5 {
		f.note("a", "m", errors.New("allocator answered 401"))
	}
	f.note("a", "m", nil)
	var got []string
	for line := range strings.Lines(log.String()) {
		var fields struct{ World, Message, Error string }
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimSpace(fields.World+" "+fields.Message+" "+fields.Error))
	}
	want := []string{
		"a allocation fails until further notice connection refused", "b allocator reached",
		"a allocation fails until further notice allocator answered 401", "a allocation works again",
	}
	if !slices.Equal(got, want) {
		t.Errorf("logged %q, want %q", got, want)
	}
}

// An outage of Redis is not a warning of allocators: the instance may have none.
func TestFailures_RedisOutageIsNoWarning(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	f := newFailures(zerolog.New(&log).Level(zerolog.InfoLevel))
	f.noteClaim(fmt.Errorf("script claim_allocations: %w", store.ErrUnavailable))
	f.noteClaim(store.ErrLostHistory)
	f.noteClaim(nil)
	if log.Len() > 0 {
		t.Errorf("logged %s", log.String())
	}
	f.noteClaim(errors.New("match m1: no number"))
	f.noteClaim(nil)
	if got := strings.Count(log.String(), "\n"); got != 2 {
		t.Errorf("a claim that fails for another reason: %s", log.String())
	}
}

// TestFailures_ForgetsRemovedWorlds has an allocator fail for worlds that are removed then.
func TestFailures_ForgetsRemovedWorlds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFailures(zerolog.Nop())
		f.note("removed", "m", errors.New("the world has no allocator"))
		time.Sleep(worldLogLife + time.Second) //nolint:forbidigo // the bubble's clock
		f.note("used", "m", nil)
		if len(f.worlds) != 1 {
			t.Errorf("logs of %d worlds, want one", len(f.worlds))
		}
	})
}
