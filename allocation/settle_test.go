package allocation

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"muster/store"
)

// A store that is away while the answer comes in does not cost the server that was found.
func TestAnAnswerOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	rec := receive(t, reply(http.StatusOK, goodReply))
	fake := newFakeStore(aMatch("m1"))
	fake.away = 4
	_, seen := start(t, Options{Store: fake, Settings: always(rec.webhook())})
	if m := fake.settled(t, "m1"); m.state != complete || m.attempt != 1 || len(rec.requests()) != 1 || seen.abandoned != 0 {
		t.Errorf("match = %+v, %d requests", m, len(rec.requests()))
	}
}

func TestACallWhoseReplyWasLostIsMadeOnceMore(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"complete": http.StatusOK, "cancelled": http.StatusForbidden} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := receive(t, reply(status, goodReply))
			fake := newFakeStore(aMatch("m1"))
			fake.deaf = 1
			w, seen := start(t, Options{Store: fake, Settings: always(rec.webhook())})
			m := fake.settled(t, "m1")
			w.Stop()
			if m.state != name || len(rec.requests()) != 1 || seen.abandoned != 0 || fake.look("m1").attempt != 1 {
				t.Errorf("match = %+v, %d requests, %d abandoned", m, len(rec.requests()), seen.abandoned)
			}
		})
	}
}

// The pause begins when the store has heard of it; a retry whose reply was lost has not been begun twice.
func TestARetryWhoseReplyWasLost(t *testing.T) {
	t.Parallel()
	rec := receive(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		reply(http.StatusOK, goodReply)(n, w, r)
	})
	fake := newFakeStore(aMatch("m1"))
	fake.deaf = 1
	start(t, Options{Store: fake, Settings: always(rec.webhook())})
	if m := fake.settled(t, "m1"); m.state != complete || m.attempt != 2 || len(rec.requests()) != 2 {
		t.Errorf("match = %+v, %d requests", m, len(rec.requests()))
	}
}

func TestWhatTheStoreDoesNotTakeIsAbandonedWithTheLease(t *testing.T) {
	t.Parallel()
	fake := newFakeStore(aMatch("m1"))
	w, seen := start(t, Options{Store: newFakeStore(), Settings: always(Settings{})})
	fake.away = 1 << 30
	a := attempt{Allocation: store.Allocation{Match: aMatch("m1"), Attempt: 1}, leaseEnds: time.Now().Add(300 * time.Millisecond)}
	began := time.Now()
	settled := w.settle(t.Context(), a, func(ctx context.Context) error { return fake.FailAllocation(ctx, "m1", 1) })
	if took := time.Since(began); settled || took < 300*time.Millisecond || took > time.Minute || seen.abandoned != 1 {
		t.Errorf("settled %v after %s, %d abandoned", settled, took, seen.abandoned)
	}
	settled = w.settle(t.Context(), a, func(context.Context) error { return errors.New("a fault of ours") })
	if settled || seen.abandoned != 2 {
		t.Errorf("settled %v, %d abandoned", settled, seen.abandoned)
	}
}
