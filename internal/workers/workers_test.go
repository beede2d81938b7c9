package workers

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTasksRunInOrderOnAsManyGoroutinesAsThereAreWorkers(t *testing.T) {
	t.Parallel()
	const count, tasks = 3, 10
	synctest.Test(t, func(t *testing.T) {
		w := New(count)
		w.Start()
		w.Start()
		defer w.Stop()
		var mu sync.Mutex
		var begun []int
		for i := range tasks {
			w.Do(func() {
				mu.Lock()
				begun = append(begun, i)
				mu.Unlock()
				time.Sleep(time.Second) //nolint:forbidigo // the bubble's clock
			})
		}
		for at := count; at < tasks+count; at += count {
			synctest.Wait()
			mu.Lock()
			got := slices.Sorted(slices.Values(begun)) // those that begin together do so in any order
			mu.Unlock()
			if want := min(at, tasks); len(got) != want || got[want-1] != want-1 {
				t.Errorf("begun are %v, want the first %d", got, want)
			}
			time.Sleep(time.Second) //nolint:forbidigo // the bubble's clock
		}
	})
}

func TestStopDoesWhatWasGivenAndLaterTasksHaveTheirOwnGoroutines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := New(1)
		var mu sync.Mutex
		by := map[string]string{}
		task := func(name string) func() {
			return func() {
				time.Sleep(time.Second) //nolint:forbidigo // the bubble's clock
				mu.Lock()
				defer mu.Unlock()
				by[name] = goroutine()
			}
		}
		w.Stop()
		w.Do(task("before"))
		time.Sleep(2 * time.Second) //nolint:forbidigo // the bubble's clock
		w.Start()
		w.Do(task("first"))
		w.Do(task("second"))
		w.Stop()
		w.Stop()
		mu.Lock()
		if by["second"] == "" || by["first"] != by["second"] {
			t.Errorf("after Stop, of two tasks for one worker: %v", by)
		}
		mu.Unlock()
		w.Do(task("after"))
		time.Sleep(2 * time.Second) //nolint:forbidigo // the bubble's clock
		mu.Lock()
		defer mu.Unlock()
		if by["before"] == "" || by["after"] == "" || by["before"] == by["first"] || by["after"] == by["first"] {
			t.Errorf("tasks without workers: %v", by)
		}
	})
}

// goroutine names the one that calls it.
func goroutine() string {
	buf := make([]byte, 64)
	name, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), " [")
	return name
}
