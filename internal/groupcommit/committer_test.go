package groupcommit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a commit that takes a while, remembers its batches and answers each number with its double.
type recorder struct {
	takes time.Duration

	mu      sync.Mutex
	batches [][]int
}

func (r *recorder) commit(ctx context.Context, batch []int) ([]int, bool, error) {
	r.mu.Lock()
	r.batches = append(r.batches, slices.Clone(batch))
	r.mu.Unlock()
	if r.takes > 0 {
		select {
		case <-time.After(r.takes):
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
	results := make([]int, len(batch))
	for i, n := range batch {
		results[i] = 2 * n
	}
	return results, false, nil
}

func (r *recorder) want(t *testing.T, want ...[]int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.EqualFunc(r.batches, want, func(a, b []int) bool { return slices.Equal(a, b) }) {
		t.Errorf("committed %v, want %v", r.batches, want)
	}
}

func start(t *testing.T, opts Options, commit Commit[int, int]) *Committer[int, int] {
	t.Helper()
	c := New(opts, commit)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	return c
}

type answer struct {
	result int
	err    error
}

// do sends q once all before it are waiting, and returns where its outcome will be.
func do(ctx context.Context, c *Committer[int, int], q int) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		result, err := c.Do(ctx, q)
		done <- answer{result, err}
	}()
	synctest.Wait()
	return done
}

func wantAnswer(t *testing.T, done <-chan answer, result int, err error) {
	t.Helper()
	if a := <-done; a.result != result || !errors.Is(a.err, err) {
		t.Errorf("answered %d, %v; want %d, %v", a.result, a.err, result, err)
	}
}

func TestALoneRequestIsCommittedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		c := start(t, Options{}, r.commit)
		begin := time.Now()
		wantAnswer(t, do(t.Context(), c, 21), 42, nil)
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("it waited %v", waited)
		}
		r.want(t, []int{21})
	})
}

func TestWhatArrivesDuringACommitGoesIntoTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Second / 2}
		c := start(t, Options{Max: 3}, r.commit)
		var done []<-chan answer
		for q := 1; q <= 6; q++ {
			done = append(done, do(t.Context(), c, q))
		}
		for i, d := range done {
			wantAnswer(t, d, 2*(i+1), nil)
		}
		r.want(t, []int{1}, []int{2, 3, 4}, []int{5, 6})
	})
}

func TestOverload(t *testing.T) {
	t.Parallel()
	t.Run("more pending than the most are refused at once", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{takes: time.Second}
			c := start(t, Options{PendingMax: 2}, r.commit)
			inFlight, first, second := do(t.Context(), c, 1), do(t.Context(), c, 2), do(t.Context(), c, 3)
			begin := time.Now()
			wantAnswer(t, do(t.Context(), c, 4), 0, ErrOverloaded)
			if waited := time.Since(begin); waited != 0 {
				t.Errorf("it waited %v", waited)
			}
			wantAnswer(t, inFlight, 2, nil)
			wantAnswer(t, first, 4, nil)
			wantAnswer(t, second, 6, nil)
			r.want(t, []int{1}, []int{2, 3})
		})
	})
	t.Run("a request that waited too long is not committed any more", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{takes: 3 * time.Second}
			c := start(t, Options{TooOld: 2 * time.Second}, r.commit)
			inFlight := do(t.Context(), c, 1)
			old := do(t.Context(), c, 2)
			time.Sleep(2 * time.Second) //nolint:forbidigo // the bubble's clock
			young := do(t.Context(), c, 3)
			wantAnswer(t, inFlight, 2, nil)
			wantAnswer(t, old, 0, ErrOverloaded)
			wantAnswer(t, young, 6, nil)
			r.want(t, []int{1}, []int{3})
		})
	})
}

func TestAContextThatEndsWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Second}
		c := start(t, Options{}, r.commit)
		ctx, cancel := context.WithCancel(t.Context())
		inFlight, waiting, other := do(ctx, c, 1), do(ctx, c, 2), do(t.Context(), c, 3)
		cancel()
		wantAnswer(t, inFlight, 0, context.Canceled)
		wantAnswer(t, waiting, 0, context.Canceled)
		wantAnswer(t, other, 6, nil)
		r.want(t, []int{1}, []int{3}) // what had not begun has no effect, what had is not cut off
	})
}

func TestWhoDoesNotWaitIsCalledBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Second}
		c := start(t, Options{PendingMax: 3, TooOld: 2 * time.Second}, r.commit)
		ctx, cancel := context.WithCancel(t.Context())
		answers := map[int][]answer{} // whatever is told comes from the committer or from Send, one after the other
		var mu sync.Mutex
		send := func(ctx context.Context, q int) {
			c.Send(ctx, time.Now(), q, func(result int, err error) {
				mu.Lock()
				defer mu.Unlock()
				answers[q] = append(answers[q], answer{result, err})
				if q == 2 {
					c.Send(t.Context(), time.Now(), 6, func(int, error) {}) // who is called back may send
				}
			})
			synctest.Wait()
		}
		send(ctx, 1)
		send(t.Context(), 2)
		send(ctx, 3)
		send(t.Context(), 4)
		send(t.Context(), 5)
		cancel()
		time.Sleep(4 * time.Second) //nolint:forbidigo // the bubble's clock
		c.Stop()
		send(t.Context(), 7)
		r.want(t, []int{1}, []int{2, 4}, []int{6})
		for q, want := range map[int]answer{
			1: {2, nil}, 2: {4, nil}, 3: {0, context.Canceled}, 4: {8, nil}, 5: {0, ErrOverloaded}, 7: {0, ErrStopped},
		} {
			if got := answers[q]; len(got) != 1 || got[0].result != want.result || !errors.Is(got[0].err, want.err) {
				t.Errorf("%d was answered %v, want %v", q, got, want)
			}
		}
	})
}

func TestPoke(t *testing.T) {
	t.Parallel()
	t.Run("an idle committer commits nothing, once for pokes that come together", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{takes: time.Second}
			c := start(t, Options{}, r.commit)
			c.Wake()
			synctest.Wait()
			c.Wake()
			c.Wake()
			c.Wake()
			time.Sleep(5 * time.Second) //nolint:forbidigo // the bubble's clock
			r.want(t, nil, nil)
		})
	})
	t.Run("a batch that waits is poke enough", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{takes: time.Second}
			c := start(t, Options{}, r.commit)
			first := do(t.Context(), c, 1)
			c.Wake()
			second := do(t.Context(), c, 2)
			wantAnswer(t, first, 2, nil)
			wantAnswer(t, second, 4, nil)
			time.Sleep(5 * time.Second) //nolint:forbidigo // the bubble's clock
			r.want(t, []int{1}, []int{2})
		})
	})
}

func TestACommitMayAskToBeCalledAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Second}
		again := 2
		c := start(t, Options{}, func(ctx context.Context, batch []int) ([]int, bool, error) {
			results, _, err := r.commit(ctx, batch)
			again--
			return results, again >= 0, err
		})
		first := do(t.Context(), c, 1)
		wantAnswer(t, first, 2, nil)
		synctest.Wait()
		second := do(t.Context(), c, 2) // during the second, empty commit
		wantAnswer(t, second, 4, nil)
		time.Sleep(5 * time.Second) //nolint:forbidigo // the bubble's clock
		r.want(t, []int{1}, nil, []int{2})
	})
}

func TestACommitThatFails(t *testing.T) {
	t.Parallel()
	errBroken := errors.New("broken")
	for name, commit := range map[string]Commit[int, int]{
		"its error is everybody's": func(context.Context, []int) ([]int, bool, error) { return nil, false, errBroken },
		"results without their requests are nobody's": func(context.Context, []int) ([]int, bool, error) {
			return []int{7, 7, 7, 7}, false, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := New(Options{}, commit)
				first, second := do(t.Context(), c, 1), do(t.Context(), c, 2)
				if err := c.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				defer c.Stop()
				for _, d := range []<-chan answer{first, second} {
					if a := <-d; a.err == nil || a.result != 0 {
						t.Errorf("answered %d, %v; want an error", a.result, a.err)
					}
				}
			})
		})
	}
}
