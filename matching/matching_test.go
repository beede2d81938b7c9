package matching

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"muster/internal/ident"
	"muster/internal/redistest"
	"muster/store"
)

func TestMain(m *testing.M) {
	redistest.Main(m, func() error { return goleak.Find() })
}

func names(worlds []World) []ident.World {
	var list []ident.World
	for _, w := range worlds {
		list = append(list, w.Name)
	}
	return list
}

func TestSetWorlds(t *testing.T) {
	t.Parallel()
	m := New(Options{})
	m.SetWorlds(5, []World{groupWorld("c", 3), duelWorld("a")})
	m.SetWorlds(4, []World{groupWorld("old", 3)})
	if got, want := names(m.Worlds()), []ident.World{"c", "a"}; !slices.Equal(got, want) {
		t.Errorf("worlds %v, want %v in the order declared", got, want)
	}
	if w, ok := m.World("a"); !ok || !w.Pairs || m.Revision() != 5 {
		t.Errorf("world a at revision %d: %+v, %v", m.Revision(), w, ok)
	}
	m.SetWorlds(6, []World{groupWorld("a", 4)})
	if w, ok := m.World("a"); !ok || w.Pairs || w.Size != 4 {
		t.Errorf("world a after it changed: %+v, %v", w, ok)
	}
	if w, ok := m.World("c"); ok {
		t.Errorf("world c is gone, and there: %+v", w)
	}
	m.Stop()
}

func TestAWorldThatIsNewOrChangedIsLookedAt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := &fakeStore{}
		m := startFake(t, fake, nil, groupWorld("same", 2), groupWorld("changed", 2))
		changed := groupWorld("changed", 3)
		changed.Revision = 2
		m.SetWorlds(2, []World{groupWorld("same", 2), changed, groupWorld("new", 2)})
		synctest.Wait()
		var looked []string
		for _, c := range fake.calls() {
			looked = append(looked, fmt.Sprintf("%s of %d", c.rules.Name, c.rules.Size))
		}
		slices.Sort(looked)
		if want := []string{"changed of 3", "new of 2"}; !slices.Equal(looked, want) {
			t.Errorf("looked at %v, want %v", looked, want)
		}
	})
}

// blocked starts a Matching whose first call after the beginning takes a second.
func blocked(t *testing.T, worlds ...World) (*Matching, *fakeStore) {
	t.Helper()
	fake := &fakeStore{answer: func(n int, s sent) (store.JoinResult, store.Formed, error) {
		if n == 0 {
			time.Sleep(time.Second) //nolint:forbidigo // the bubble's clock
		}
		return joinedAll(s), store.Formed{}, nil
	}}
	return startFake(t, fake, nil, worlds...), fake
}

func TestJoinsThatWaitWhileWorldsChange(t *testing.T) {
	t.Parallel()
	t.Run("are taken by the new rules", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			m, fake := blocked(t, groupWorld("w", 2))
			inFlight, waiting := join(t, m, "w", store.Join{Player: "p"}), join(t, m, "w", store.Join{Player: "q"})
			changed := groupWorld("w", 4)
			changed.Revision = 2
			m.SetWorlds(2, []World{changed, groupWorld("v", 2)})
			for _, done := range []<-chan outcome{inFlight, waiting} {
				if o := <-done; o.err != nil {
					t.Errorf("joined %+v", o)
				}
			}
			for _, c := range fake.calls() {
				if len(c.joins) == 1 && c.joins[0].Player == "q" && c.rules.Size != 4 {
					t.Errorf("q joined by the old rules %+v", c.rules)
				}
			}
			if o := <-join(t, m, "v", store.Join{Player: "p"}); o.err != nil {
				t.Errorf("joined the new world: %+v", o)
			}
		})
	})
	t.Run("are told that their world is gone", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			m, _ := blocked(t, groupWorld("w", 2), groupWorld("v", 2))
			inFlight, waiting := join(t, m, "w", store.Join{Player: "p"}), join(t, m, "w", store.Join{Player: "q"})
			m.SetWorlds(2, []World{groupWorld("v", 2)})
			late := join(t, m, "w", store.Join{Player: "r"})
			for _, done := range []<-chan outcome{waiting, late} {
				if o := <-done; !errors.Is(o.err, store.ErrUnknownWorld) {
					t.Errorf("joined %+v, want %v", o, store.ErrUnknownWorld)
				}
			}
			if o := <-inFlight; o.err != nil {
				t.Errorf("the join in flight: %+v", o)
			}
		})
	})
}

func TestStop(t *testing.T) {
	t.Parallel()
	t.Run("ends what waits, not what is in flight", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			m, _ := blocked(t, groupWorld("w", 2))
			inFlight, waiting := join(t, m, "w", store.Join{Player: "p"}), join(t, m, "w", store.Join{Player: "q"})
			m.Stop()
			m.Stop()
			if o := <-inFlight; o.err != nil {
				t.Errorf("in flight: %+v", o)
			}
			for _, done := range []<-chan outcome{waiting, join(t, m, "w", store.Join{Player: "r"})} {
				if o := <-done; !errors.Is(o.err, ErrStopped) {
					t.Errorf("waiting: %+v, want %v", o, ErrStopped)
				}
			}
			m.SetWorlds(9, []World{groupWorld("v", 2)}) // too late for a loop
			if _, ok := m.World("v"); ok {
				t.Error("a stopped Matching took a world")
			}
		})
	})
	t.Run("before Start, and with a call that reloads", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			early := New(Options{})
			early.SetWorlds(1, []World{groupWorld("w", 2)})
			early.Stop()
			if err := early.Start(t.Context()); !errors.Is(err, ErrStopped) {
				t.Errorf("Start after Stop: %v", err)
			}

			fake := &fakeStore{answer: answers(fails(store.ErrStaleRevision), takes)}
			var m *Matching
			m = startFake(t, fake, func(o *Options) {
				o.Reload = func(context.Context) error {
					time.Sleep(time.Second) //nolint:forbidigo // the bubble's clock
					m.SetWorlds(2, []World{groupWorld("w", 2)})
					return nil
				}
			}, groupWorld("w", 2))
			done := join(t, m, "w", store.Join{Player: "p"})
			m.Stop()
			if o := <-done; o.err != nil {
				t.Errorf("in flight: %+v", o)
			}
			if err := m.Start(t.Context()); err == nil {
				t.Error("a second Start was taken")
			}
		})
	})
}

func TestAnUnknownWorld(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{}).Join(t.Context(), "w", store.Join{Player: "p"}); !errors.Is(err, store.ErrUnknownWorld) {
		t.Errorf("joined an unknown world: %v", err)
	}
}

// Who does not wait is told the same, once, whatever becomes of the join.
func TestAJoinThatNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, _ := blocked(t, groupWorld("a", 2)) // the first is in flight for a second
		told := map[string][]error{}
		var mu sync.Mutex
		start := func(ctx context.Context, name string, world ident.World) {
			m.StartJoin(ctx, time.Now(), world, store.Join{Player: ident.Player(name)}, func(_ JoinResult, err error) {
				mu.Lock()
				defer mu.Unlock()
				told[name] = append(told[name], err)
			})
			synctest.Wait()
		}
		gone, cancel := context.WithCancel(t.Context())
		start(t.Context(), "nowhere", "b")
		start(t.Context(), "first", "a")
		start(gone, "given up", "a")
		start(t.Context(), "next", "a")
		cancel()
		time.Sleep(5 * time.Second) //nolint:forbidigo // the bubble's clock
		m.Stop()
		start(t.Context(), "too late", "a")
		for name, want := range map[string]error{
			"nowhere": store.ErrUnknownWorld, "first": nil, "given up": context.Canceled, "next": nil,
			"too late": ErrStopped,
		} {
			if got := told[name]; len(got) != 1 || !errors.Is(got[0], want) {
				t.Errorf("%s: told %v, want %v once", name, got, want)
			}
		}
	})
}
