package groupcommit

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestRest has 1 committed, and then 2 and 3 together; the next arrive a fifth of a commit behind that.
func TestRest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes time.Duration
		next  []int
		// want is how long after the second commit the third begins.
		want time.Duration
	}{
		"as long as the commit took":   {time.Millisecond, []int{4}, time.Millisecond},
		"no longer than its bound":     {5 * time.Millisecond, []int{4}, restMax},
		"until there is a full commit": {time.Millisecond, []int{4, 5, 6}, time.Millisecond / 5},
		"none where it is over":        {time.Second, []int{4}, time.Second / 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, origin := &recorder{takes: c.takes}, time.Now()
				var began []time.Duration
				committer := start(t, Options{Max: 3}, func(ctx context.Context, batch []int) ([]int, bool, error) {
					began = append(began, time.Since(origin))
					return r.commit(ctx, batch)
				})
				var answers []<-chan answer
				ask := func(qs ...int) {
					for _, q := range qs {
						answers = append(answers, do(t.Context(), committer, q))
					}
				}
				ask(1, 2, 3)
				time.Sleep(2*c.takes + c.takes/5) //nolint:forbidigo // the bubble's clock
				ask(c.next...)
				for _, a := range answers {
					<-a
				}
				r.want(t, []int{1}, []int{2, 3}, c.next)
				if want := []time.Duration{0, c.takes, 2*c.takes + c.want}; !slices.Equal(began, want) {
					t.Errorf("commits began at %v, want %v", began, want)
				}
			})
		})
	}
}

func TestALoneCommitIsFollowedByNoRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Millisecond}
		c := start(t, Options{}, r.commit)
		begin := time.Now()
		for q := range 3 {
			wantAnswer(t, do(t.Context(), c, q), 2*q, nil)
		}
		if took := time.Since(begin); took != 3*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

func TestStopDuringARest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Millisecond}
		c := start(t, Options{}, r.commit)
		for q := range 3 {
			do(t.Context(), c, q)
		}
		time.Sleep(2500 * time.Microsecond) //nolint:forbidigo // the bubble's clock
		begin, waits := time.Now(), do(t.Context(), c, 3)
		c.Stop()
		wantAnswer(t, waits, 0, ErrStopped)
		if took := time.Since(begin); took != 0 {
			t.Errorf("Stop took %v", took)
		}
	})
}
