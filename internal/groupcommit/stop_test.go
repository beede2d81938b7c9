package groupcommit

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestStop(t *testing.T) {
	t.Parallel()
	t.Run("the commit in flight is finished, the rest is told", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{takes: time.Second}
			c := start(t, Options{}, r.commit)
			inFlight, waiting := do(t.Context(), c, 1), do(t.Context(), c, 2)
			begin := time.Now()
			stopped := make(chan struct{})
			go func() { defer close(stopped); c.Stop() }()
			wantAnswer(t, waiting, 0, ErrStopped)
			if waited := time.Since(begin); waited != 0 {
				t.Errorf("told only after %v", waited)
			}
			<-stopped
			if waited := time.Since(begin); waited != time.Second {
				t.Errorf("stopped after %v, want the second that the commit takes", waited)
			}
			wantAnswer(t, inFlight, 2, nil)
			r.want(t, []int{1})
		})
	})
	t.Run("the end of Start's context is one", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{takes: time.Second}
			c := New(Options{}, r.commit)
			ctx, cancel := context.WithCancel(t.Context())
			if err := c.Start(ctx); err != nil {
				t.Fatal(err)
			}
			inFlight, waiting := do(t.Context(), c, 1), do(t.Context(), c, 2)
			cancel()
			wantAnswer(t, inFlight, 2, nil)
			wantAnswer(t, waiting, 0, ErrStopped)
			wantAnswer(t, do(t.Context(), c, 3), 0, ErrStopped)
			c.Stop()
		})
	})
	t.Run("before Start, and more than once", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c := New(Options{}, (&recorder{}).commit)
			waiting := do(t.Context(), c, 1)
			c.Stop()
			c.Stop()
			wantAnswer(t, waiting, 0, ErrStopped)
			if err := c.Start(t.Context()); !errors.Is(err, ErrStopped) {
				t.Errorf("Start after Stop: %v, want %v", err, ErrStopped)
			}
			c.Wake() // does nothing, and above all does not block
		})
	})
	t.Run("it starts once", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c := start(t, Options{}, (&recorder{}).commit)
			if err := c.Start(t.Context()); err == nil {
				t.Error("a second Start was taken")
			}
			c.Stop()
			c.Stop()
		})
	})
}

func TestEveryDoGetsItsOwnAnswerOrNone(t *testing.T) {
	t.Parallel()
	var committed atomic.Int64
	commit := func(_ context.Context, batch []int) ([]int, bool, error) {
		committed.Add(int64(len(batch)))
		results := make([]int, len(batch))
		for i, n := range batch {
			results[i] = 2 * n
		}
		return results, rand.IntN(2) == 0, nil
	}
	for range 20 {
		c := start(t, Options{Max: 7}, commit)
		var answered atomic.Int64
		var wg sync.WaitGroup
		for worker := range 16 {
			wg.Go(func() {
				for i := 0; ; i++ {
					ctx, cancel := context.WithCancel(t.Context())
					if i%10 == 0 {
						cancel()
					}
					result, err := c.Do(ctx, worker*1_000_000+i)
					cancel()
					switch {
					case errors.Is(err, ErrStopped):
						return
					case errors.Is(err, context.Canceled):
					case err != nil || result != 2*(worker*1_000_000+i):
						t.Errorf("Do(%d) = %d, %v", worker*1_000_000+i, result, err)
					case answered.Add(1) == 1000:
						wg.Go(c.Stop)
						wg.Go(c.Stop)
					}
					if i%5 == 0 {
						c.Wake()
					}
				}
			})
		}
		wg.Wait()
		if committed.Load() < answered.Load() {
			t.Errorf("%d answered of %d committed", answered.Load(), committed.Load())
		}
	}
}

func BenchmarkDo(b *testing.B) {
	commit := func(_ context.Context, batch []int) ([]int, bool, error) { return batch, false, nil }
	for _, bench := range []struct {
		name        string
		parallelism int
	}{{"alone", 1}, {"crowd", 200}} {
		b.Run(bench.name, func(b *testing.B) {
			c := New(Options{}, commit)
			if err := c.Start(b.Context()); err != nil {
				b.Fatal(err)
			}
			defer c.Stop()
			b.ReportAllocs()
			if bench.parallelism == 1 {
				for b.Loop() {
					if _, err := c.Do(b.Context(), 1); err != nil {
						b.Fatal(err)
					}
				}
				return
			}
			b.SetParallelism(bench.parallelism)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := c.Do(b.Context(), 1); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
