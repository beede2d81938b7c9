package allocation

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestStopLetsAnswersComeThatAreOnTheirWay(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}), make(chan struct{})
	rec := receive(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-release
		_, _ = io.WriteString(w, goodReply)
	})
	fake := newFakeStore(aMatch("m1"))
	w, _ := start(t, Options{Store: fake, Settings: always(rec.webhook()), Grace: 20 * time.Second})
	<-asked
	stopped := make(chan struct{})
	go func() { w.Stop(); close(stopped) }()
	waitFor(stopped, 50*time.Millisecond)
	select {
	case <-stopped:
		t.Error("stopped before the answer")
	default:
	}
	fake.add(aMatch("m2")) // nobody's any more
	close(release)
	<-stopped
	if m := fake.look("m1"); m.state != complete {
		t.Errorf("match = %+v", m)
	}
	if m := fake.look("m2"); m.attempt != 0 {
		t.Errorf("claimed after Stop: %+v", m)
	}
}

func TestStopGivesBackWhatIsNotAnswered(t *testing.T) {
	t.Parallel()
	rec := receive(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 0 {
			stall(n, w, r)
			return
		}
		_, _ = io.WriteString(w, goodReply)
	})
	fake := newFakeStore(aMatch("m1"))
	s := rec.webhook()
	s.Attempts = 1 // a stop says nothing of the allocator
	w, seen := start(t, Options{Store: fake, Settings: always(s), Grace: 100 * time.Millisecond})
	fake.until(t, "claim", func() bool { return fake.matches["m1"].attempt == 1 })
	w.Stop()
	w.Stop()
	if m := fake.look("m1"); m.state != allocating || m.due.After(time.Now()) {
		t.Errorf("match = %+v", m)
	}
	if got := seen.all(); !slices.Equal(got, []Outcome{Stopped}) {
		t.Errorf("outcomes = %v", got)
	}
}

func TestStopDoesNotWaitForAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	rec := receive(t, stall)
	fake := newFakeStore(aMatch("m1"))
	fake.away = 1 << 30
	w, seen := start(t, Options{Store: fake, Settings: always(rec.webhook()), Grace: 100 * time.Millisecond})
	fake.until(t, "claim", func() bool { return fake.matches["m1"].attempt == 1 })
	began := time.Now()
	w.Stop()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("Stop took %s", took)
	}
	if seen.abandoned != 1 {
		t.Errorf("%d abandoned", seen.abandoned)
	}
}

func TestStartAndStop(t *testing.T) {
	t.Parallel()
	o := Options{Store: newFakeStore(), Settings: always(Settings{})}
	New(o).Stop()
	w := New(o)
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.Start(t.Context()); err == nil {
		t.Error("started twice")
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(w.Stop)
		all.Go(w.Wake)
	}
	all.Wait()
	if err := w.Start(t.Context()); !errors.Is(err, ErrStopped) {
		t.Errorf("started after Stop: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w = New(o)
	if err := w.Start(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-w.done // the context is enough
}
