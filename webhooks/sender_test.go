package webhooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/internal/redistest"
	"muster/store"
)

func TestAReceiverIsToldSignedEventsOfItsTypes(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t))
	rc := receive(t, nil)
	b.happen("before") // it was there
	b.start(io.Discard, Observer{}, rc.target())
	b.add("event=match_proposed", "match=m0", "record="+record)
	b.happen("m1")
	b.add("event=match_cancelled", "match=m2", "reason=declined") // not one of its types
	b.add("event=match_ended", "match=m3", "reason=ended", "record="+record)
	b.told(rc, "m1", "m3")
	b.settled(rc.target())
	for _, g := range rc.all() {
		if !g.signed {
			t.Errorf("%+v has a wrong signature", g)
		}
	}
}

func TestAReceiverThatFailsIsAskedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t))
	rc := receive(t, func(w http.ResponseWriter, _ *http.Request, g got, n int) {
		if n < 3 && g.match == "m1" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	var failed, delivered atomic.Int64
	b.start(io.Discard, Observer{Failed: func() { failed.Add(1) }, Delivered: func(time.Duration) { delivered.Add(1) }}, rc.target())
	b.happen("m1", "m2")
	b.told(rc, "m1", "m1", "m1", "m2")
	b.settled(rc.target())
	if failed.Load() != 2 || delivered.Load() != 2 {
		t.Errorf("%d failed, %d delivered; want 2 and 2", failed.Load(), delivered.Load())
	}
}

// The receiver has the event, and its answer is lost: it is told again, with the same id.
func TestAnAnswerThatIsLostMakesNoNewEvent(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t))
	rc := receive(t, func(_ http.ResponseWriter, _ *http.Request, _ got, n int) {
		if n == 1 {
			panic(http.ErrAbortHandler) // the connection breaks
		}
	})
	b.start(io.Discard, Observer{}, rc.target())
	b.happen("m1")
	b.told(rc, "m1", "m1")
	b.settled(rc.target())
	if all := rc.all(); all[0].id != all[1].id {
		t.Errorf("ids %s and %s", all[0].id, all[1].id)
	}
}

func TestAReceiverThatStallsHoldsNobodyElseUp(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t))
	var once sync.Once
	stalled, release := make(chan struct{}), make(chan struct{})
	slow := receive(t, func(_ http.ResponseWriter, r *http.Request, _ got, _ int) {
		once.Do(func() { close(stalled) })
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	quick := receive(t, nil)
	b.start(io.Discard, Observer{}, slow.target(), quick.target())
	b.happen("m0")
	<-stalled
	var want []string
	for i := range 100 {
		want = append(want, fmt.Sprintf("n%02d", i))
	}
	b.happen(want...)
	b.told(quick, append([]string{"m0"}, want...)...)
	b.settled(quick.target())
}

func TestADeliveryIsGivenUpAndCanBePutBack(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t))
	var broken atomic.Bool
	broken.Store(true)
	rc := receive(t, func(w http.ResponseWriter, _ *http.Request, g got, _ int) {
		if g.match == "bad" && broken.Load() {
			http.Redirect(w, &http.Request{Method: http.MethodPost}, "http://127.0.0.1:1/elsewhere", http.StatusTemporaryRedirect)
		}
	})
	other := receive(t, nil)
	var log bytes.Buffer
	var dead atomic.Int64
	w := b.start(&log, Observer{Dead: func() { dead.Add(1) }}, rc.target(), other.target())
	b.happen("bad", "good")
	s := b.store()
	var letters []store.DeadLetter
	b.eventually(func() (err error) {
		if letters, err = s.DeadLetters(b.ctx, "", 10); err == nil && (len(letters) != 1 || dead.Load() != 1) {
			err = fmt.Errorf("%d dead letters", len(letters))
		}
		return err
	})
	b.told(rc, "bad", "bad", "bad", "good")
	b.told(other, "bad", "good")
	if l := letters[0]; l.Group != Group(rc.target().URL) || l.Reason != "post: the receiver redirects" {
		t.Errorf("%+v", l)
	}
	broken.Store(false)
	b.must(s.PutBack(b.ctx, letters[0].ID))
	b.told(rc, "bad", "bad", "bad", "bad", "good")
	b.settled(rc.target())
	b.settled(other.target())
	b.told(other, "bad", "good")
	w.Stop()
	if !strings.Contains(log.String(), "given up") || strings.Contains(log.String(), "hidden") {
		t.Errorf("log: %s", log.String())
	}
}

func TestWhatADeadInstanceHadIsDeliveredByAnother(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t))
	arrived, release := make(chan struct{}), make(chan struct{})
	rc := receive(t, func(_ http.ResponseWriter, r *http.Request, _ got, n int) {
		if n == 1 {
			close(arrived)
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
	})
	defer close(release)
	first := b.start(io.Discard, Observer{}, rc.target())
	b.happen("m1")
	<-arrived
	first.Stop() // in the middle of the delivery: nothing is said of it
	first.Stop()
	b.start(io.Discard, Observer{}, rc.target())
	b.told(rc, "m1", "m1")
	b.settled(rc.target())
}

func TestSender_DeadReceiverLogsFewLines(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t))
	rc := receive(t, func(w http.ResponseWriter, _ *http.Request, g got, _ int) {
		switch g.match {
		case "good":
		case "other":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	target := rc.target()
	target.Attempts = 1
	var log bytes.Buffer
	var dead atomic.Int64
	w := b.start(&log, Observer{Dead: func() { dead.Add(1) }}, target)
	died := func(want int64) {
		b.eventually(func() error {
			if n := dead.Load(); n != want {
				return fmt.Errorf("%d dead, want %d", n, want)
			}
			return nil
		})
	}
	b.happen("good")
	b.told(rc, "good")
	b.settled(target)
	for i := range 40 {
		b.happen(fmt.Sprintf("bad%d", i))
	}
	died(40)
	b.happen("other")
	died(41)
	w.Stop()
	for message, want := range map[string]int{
		"webhook receiver reached": 1, "webhook receiver does not take": 2, "given up": 2, `"status 401"`: 2,
	} {
		if n := strings.Count(log.String(), message); n != want {
			t.Errorf("%d lines with %q, want %d:\n%s", n, message, want, log.String())
		}
	}
}

func TestSender_BoundsResponseHeaders(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t))
	rc := receive(t, func(w http.ResponseWriter, _ *http.Request, _ got, n int) {
		if n == 1 {
			w.Header().Set("X-Long", strings.Repeat("x", 64<<10))
		}
	})
	b.start(io.Discard, Observer{}, rc.target())
	b.happen("m1")
	b.told(rc, "m1", "m1") // the first reply was none
	b.settled(rc.target())
}

func TestStream_UnreadableEntryIsRetriedThenDead(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t))
	rc := receive(t, nil)
	var failed, dead atomic.Int64
	b.start(io.Discard, Observer{Failed: func() { failed.Add(1) }, Dead: func() { dead.Add(1) }}, rc.target())
	b.add("event=match_complete", "match=m1", "record=nonsense")
	b.add("event=match_complete", "match=m3", "record=nonsense", "only=another group")
	b.happen("m2")
	b.told(rc, "m2")
	b.settled(rc.target())
	b.eventually(func() error {
		if failed.Load() != 3 || dead.Load() != 1 {
			return fmt.Errorf("%d failed, %d dead; want 3 and 1", failed.Load(), dead.Load())
		}
		return nil
	})
	if letters, err := b.store().DeadLetters(b.ctx, "", 10); err != nil || len(letters) != 1 || letters[0].Entry.Fields["match"] != "m1" {
		t.Errorf("%+v (%v)", letters, err)
	}
}

// full is a stream on a Redis without memory: it takes no dead letter.
type full struct{ Stream }

func (full) Bury(context.Context, store.StreamEntry, string) error { return errors.New("OOM") }

func TestStream_EntryThatCannotBeBuriedStopsNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t))
	target := receive(t, nil).target()
	stream, err := b.store().Stream(Group(target.URL), hold)
	b.must(err)
	b.must(stream.Begin(b.ctx, true))
	b.add("event=match_complete", "match=m1", "record=nonsense")
	b.happen("m2")
	got, err := NewStreamSource(full{stream}, b.realm, target).Claim(b.ctx, 8)
	if err != nil || len(got) != 2 || got[0].Unreadable == nil || got[1].Unreadable != nil {
		t.Errorf("%+v (%v)", got, err)
	}
}

func TestARedisThatLostItsDataIsReadFromItsBeginning(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	b := setup(t, server)
	rc := receive(t, nil)
	b.start(io.Discard, Observer{}, rc.target())
	b.happen("m1")
	b.told(rc, "m1")
	server.FlushAll()
	b.happen("m2")
	b.told(rc, "m1", "m2")
	server.Kill()
	server.Restart()
	b.happen("m3")
	b.told(rc, "m1", "m2", "m3")
	b.settled(rc.target())
}
