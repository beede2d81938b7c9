package groupcommit

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestRest has 1 committed, then others that came during that commit, and the next half a millisecond behind the end of it.
func TestRest(t *testing.T) {
	t.Parallel()
	const brief, long, pause = time.Millisecond, 5 * time.Millisecond, time.Millisecond / 2
	for name, c := range map[string]struct {
		takes          time.Duration
		during, behind []int
		commits        [][]int
		began          []time.Duration
	}{
		"behind a commit during which another came": {
			brief, []int{2, 3}, []int{4}, [][]int{{1}, {2, 3, 4}}, []time.Duration{0, apart},
		},
		"and behind one of several": {
			brief, []int{2, 3}, []int{4, 5}, [][]int{{1}, {2, 3, 4, 5}, {6}}, []time.Duration{0, apart, 2 * apart},
		},
		"no longer than its bound behind one that took long": {
			long, []int{2}, []int{3}, [][]int{{1}, {2, 3}}, []time.Duration{0, long + restMax},
		},
		"until there is a full commit": {
			brief, []int{2}, []int{3, 4, 5, 6}, [][]int{{1}, {2, 3, 4, 5, 6}}, []time.Duration{0, brief + pause},
		},
		"none behind one that was alone": {
			brief, nil, []int{2}, [][]int{{1}, {2}}, []time.Duration{0, brief + pause},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, origin := &recorder{takes: c.takes}, time.Now()
				var began []time.Duration
				committer := start(t, Options{Max: 5}, func(ctx context.Context, batch []int) ([]int, bool, error) {
					began = append(began, time.Since(origin))
					return r.commit(ctx, batch)
				})
				var answers []<-chan answer
				ask := func(qs ...int) {
					for _, q := range qs {
						answers = append(answers, do(t.Context(), committer, q))
					}
				}
				ask(1)
				ask(c.during...)
				time.Sleep(c.takes + pause) //nolint:forbidigo // the bubble's clock
				ask(c.behind...)
				if len(c.commits) > 2 {
					time.Sleep(apart) //nolint:forbidigo // the bubble's clock
					ask(6)
				}
				for _, a := range answers {
					<-a
				}
				r.want(t, c.commits...)
				if !slices.Equal(began, c.began) {
					t.Errorf("commits began at %v, want %v", began, c.began)
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
