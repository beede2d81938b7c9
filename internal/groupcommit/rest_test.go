package groupcommit

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestRest has 1 committed, and then 2 and 3 together, which takes from the first to the second second.
func TestRest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		restMax time.Duration
		// next arrive at 2.2 s.
		next []int
		// want is when the commit of the next begins.
		want time.Duration
	}{
		"as long as the commit took":     {10 * time.Second, []int{4}, 3 * time.Second},
		"no longer than its bound":       {500 * time.Millisecond, []int{4}, 2500 * time.Millisecond},
		"until there is a full commit":   {10 * time.Second, []int{4, 5, 6}, 2200 * time.Millisecond},
		"none where there is no bound":   {0, []int{4}, 2200 * time.Millisecond},
		"none that is longer than asked": {100 * time.Millisecond, []int{4}, 2200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, start0 := &recorder{takes: time.Second}, time.Now()
				var began []time.Duration
				committer := start(t, Options{Max: 3, RestMax: c.restMax}, func(ctx context.Context, batch []int) ([]int, bool, error) {
					began = append(began, time.Since(start0))
					return r.commit(ctx, batch)
				})
				var answers []<-chan answer
				ask := func(qs ...int) {
					for _, q := range qs {
						answers = append(answers, do(t.Context(), committer, q))
					}
				}
				ask(1, 2, 3)
				time.Sleep(2200 * time.Millisecond) //nolint:forbidigo // the bubble's clock
				ask(c.next...)
				for _, a := range answers {
					<-a
				}
				r.want(t, []int{1}, []int{2, 3}, c.next)
				if want := []time.Duration{0, time.Second, c.want}; !slices.Equal(began, want) {
					t.Errorf("commits began at %v, want %v", began, want)
				}
			})
		})
	}
}

func TestALoneCommitIsFollowedByNoRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Second}
		c := start(t, Options{RestMax: time.Hour}, r.commit)
		begin := time.Now()
		for q := range 3 {
			wantAnswer(t, do(t.Context(), c, q), 2*q, nil)
		}
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestStopDuringARest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Second}
		c := start(t, Options{RestMax: time.Hour}, r.commit)
		for q := range 3 {
			do(t.Context(), c, q)
		}
		time.Sleep(2500 * time.Millisecond) //nolint:forbidigo // the bubble's clock
		begin, waits := time.Now(), do(t.Context(), c, 3)
		c.Stop()
		wantAnswer(t, waits, 0, ErrStopped)
		if took := time.Since(begin); took != 0 {
			t.Errorf("Stop took %v", took)
		}
	})
}
