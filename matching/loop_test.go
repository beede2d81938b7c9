package matching

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"muster/internal/ident"
	"muster/store"
)

// forms answers a call with what it formed.
func forms(f store.Formed) func(sent) (store.JoinResult, store.Formed, error) {
	return func(s sent) (store.JoinResult, store.Formed, error) { return joinedAll(s), f, nil }
}

func afters(calls []sent) []store.Cursor {
	places := make([]store.Cursor, len(calls))
	for i, c := range calls {
		places[i] = c.after
	}
	return places
}

func TestACallThatLeftSomethingIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	more := store.Formed{More: true, Matches: 1, Players: 2}
	for name, c := range map[string]struct {
		answer func(int, sent) (store.JoinResult, store.Formed, error)
		afters []store.Cursor
	}{
		"until nothing is left": {answers(forms(more), forms(more), forms(store.Formed{})), []store.Cursor{"", "", ""}},
		"behind what cannot be matched, and the next time from the head": {
			answers(forms(store.Formed{More: true, After: "7"}), forms(store.Formed{More: true, After: "9"}), forms(store.Formed{After: "9"})),
			[]store.Cursor{"", "7", "9"},
		},
		"at the same place where a first try may have used the ids up": {
			answers(fails(store.ErrUnavailable), forms(store.Formed{More: true, After: "7"}), forms(store.Formed{})), []store.Cursor{"", "", ""},
		},
		"but not after an error": {
			answers(forms(store.Formed{More: true, After: "7"}), fails(store.ErrWorldClosed)), []store.Cursor{"", "7"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fake := &fakeStore{answer: c.answer}
				m := startFake(t, fake, nil, duelWorld("w"))
				m.Wake("w")
				time.Sleep(time.Second) //nolint:forbidigo // the bubble's clock
				calls := fake.calls()
				if got := afters(calls); !slices.Equal(got, c.afters) {
					t.Errorf("looked behind %v, want %v", got, c.afters)
				}
				if n := len(calls[0].candidates); n != 1 {
					t.Errorf("%d candidates for no join, want 1", n)
				}
			})
		})
	}
}

func TestAPokeAfterAFailureLooksFromTheHead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := &fakeStore{answer: answers(forms(store.Formed{More: true, After: "7"}), fails(store.ErrWorldClosed), forms(store.Formed{}))}
		m := startFake(t, fake, nil, duelWorld("w"))
		for range 2 {
			m.Wake("w")
			synctest.Wait()
		}
		if got, want := afters(fake.calls()), []store.Cursor{"", "7", ""}; !slices.Equal(got, want) {
			t.Errorf("looked behind %v, want %v", got, want)
		}
	})
}

func TestAWalkIsDoneAgainWhereSomethingChangedBehindItsBack(t *testing.T) {
	t.Parallel()
	walk := []func(sent) (store.JoinResult, store.Formed, error){
		forms(store.Formed{More: true, After: "7"}), nil, forms(store.Formed{}), forms(store.Formed{}),
	}
	for name, c := range map[string]struct {
		wake   bool
		afters []store.Cursor
	}{
		"a poke came":  {true, []store.Cursor{"", "7", "9", ""}},
		"nothing came": {false, []store.Cursor{"", "7", "9"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var m *Matching
				steps := slices.Clone(walk)
				steps[1] = func(s sent) (store.JoinResult, store.Formed, error) {
					if c.wake {
						m.Wake("w")
					}
					return joinedAll(s), store.Formed{More: true, After: "9"}, nil
				}
				fake := &fakeStore{answer: answers(steps...)}
				m = startFake(t, fake, nil, duelWorld("w"))
				m.Wake("w")
				synctest.Wait()
				if got := afters(fake.calls()); !slices.Equal(got, c.afters) {
					t.Errorf("looked behind %v, want %v", got, c.afters)
				}
			})
		})
	}
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size, joins int
		more        bool
		want        int
	}{
		{3, 0, false, 1}, {3, 1, false, 1}, {3, 3, false, 2}, {3, 100, false, 25}, {50, 100, false, 3}, {3, 0, true, 25},
	} {
		l := newLoop(&Options{}, groupWorld("w", c.size))
		l.more = c.more
		candidates := l.candidates(c.joins)
		if len(candidates) != c.want {
			t.Errorf("size %d, %d joins, more %v: %d candidates, want %d", c.size, c.joins, c.more, len(candidates), c.want)
		}
		seen := map[string]bool{}
		for _, m := range candidates {
			if len(m.Rooms) != 2 || m.Rooms[0].Name != "room1" || m.Rooms[1].Name != "room2" {
				t.Fatalf("rooms %+v, want room1 and room2", m.Rooms)
			}
			for _, id := range []string{string(m.Match), m.Rooms[0].ID, m.Rooms[1].ID} {
				if u, err := uuid.Parse(id); err != nil || u.Version() != 7 || seen[id] {
					t.Errorf("%q is no UUIDv7 of its own", id)
				}
				seen[id] = true
			}
		}
	}
}

func TestMatchingThatIsStillClosedIsTriedWhenItOpens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		closed := forms(store.Formed{OpensIn: 1500 * time.Millisecond})
		fake := &fakeStore{answer: answers(closed, closed, forms(store.Formed{}))}
		m := startFake(t, fake, nil, groupWorld("w", 2))
		begin := time.Now()
		m.Wake("w")
		time.Sleep(time.Minute) //nolint:forbidigo // the bubble's clock
		var at []time.Duration
		for _, c := range fake.calls() {
			at = append(at, c.at.Sub(begin))
		}
		if want := []time.Duration{0, 1500 * time.Millisecond, 3 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("called at %v, want %v", at, want)
		}
	})
}

func TestWhatIsFormedIsObserved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		formed := store.Formed{Matches: 1, Players: 2, WaitSum: time.Second}
		var seen []store.Formed
		fake := &fakeStore{answer: answers(forms(formed), forms(store.Formed{}), forms(store.Formed{Parked: 3}))}
		m := startFake(t, fake, func(o *Options) {
			o.Observer.Formed = func(_ ident.World, f store.Formed) { seen = append(seen, f) }
		}, groupWorld("w", 2))
		for range 3 {
			m.Wake("w", "no such world")
			synctest.Wait()
		}
		if want := []store.Formed{formed, {Parked: 3}}; !slices.Equal(seen, want) {
			t.Errorf("observed %+v, want %+v", seen, want)
		}
	})
}

func TestWhatAPokeRunsIntoIsLoggedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		lines int
	}{
		"a fault, and its end":         {errors.New("script status 99"), 2},
		"presence logs an outage":      {store.ErrUnavailable, 0},
		"a closed world is no failure": {store.ErrWorldClosed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				fake := &fakeStore{answer: answers(fails(c.err), fails(c.err), fails(c.err), fails(c.err), forms(store.Formed{}))}
				m := startFake(t, fake, func(o *Options) { o.Logger = zerolog.New(zerolog.SyncWriter(&log)) }, groupWorld("w", 2))
				for range 6 {
					m.Wake("w")
					time.Sleep(time.Second) //nolint:forbidigo // the bubble's clock
				}
				m.Stop()
				if n := strings.Count(log.String(), "\n"); n != c.lines {
					t.Errorf("%d lines, want %d:\n%s", n, c.lines, log.String())
				}
			})
		})
	}
}

func TestSweeps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		fake := &fakeStore{sweep: func(n int) (store.Swept, error) {
			switch n {
			case 0:
				return store.Swept{Done: true, More: true, Gone: 1}, nil
			case 1:
				return store.Swept{Done: true, Due: []ident.World{"v"}}, nil
			case 2:
				return store.Swept{}, store.ErrUnavailable // which presence logs
			case 3, 4, 5:
				return store.Swept{}, errors.New("script status 99")
			default:
				return store.Swept{}, nil
			}
		}}
		var seen []store.Swept
		begin := time.Now()
		m := startFake(t, fake, func(o *Options) {
			o.SweepInterval = 0
			o.Logger = zerolog.New(zerolog.SyncWriter(&log))
			o.Observer.Swept = func(s store.Swept) { seen = append(seen, s) }
		}, groupWorld("v", 2), groupWorld("w", 2))
		time.Sleep(3*time.Second + time.Millisecond) //nolint:forbidigo // the bubble's clock
		m.Stop()
		var at []time.Duration
		for _, s := range fake.sweeps {
			at = append(at, s.Sub(begin)/time.Millisecond)
		}
		if want := []time.Duration{500, 500, 1000, 1500, 2000, 2500, 3000}; !slices.Equal(at, want) {
			t.Errorf("swept at %v ms, want %v", at, want)
		}
		if len(seen) != 2 || seen[0].Gone != 1 {
			t.Errorf("observed %+v, want the two that were done", seen)
		}
		if calls := fake.calls(); len(calls) != 1 || calls[0].rules.Name != "v" {
			t.Errorf("poked %+v, want v", calls)
		}
		if lines := strings.Split(strings.TrimSpace(log.String()), "\n"); len(lines) != 2 || !strings.Contains(lines[0], `"warn"`) {
			t.Errorf("logged, want a warning and its end:\n%s", log.String())
		}
	})
}

func TestASweepSeesTheWorldsOfTheMoment(t *testing.T) {
	t.Parallel()
	m := New(Options{WorldsPerPlayer: func() int { return 8 }, Reload: func(context.Context) error { return nil }})
	m.SetWorlds(1, []World{groupWorld("v", 3)})
	m.SetWorlds(2, []World{duelWorld("w")})
	rules := m.sweeper.rules()
	if len(rules) != 1 || rules[0].Name != "w" || !rules[0].Pairs {
		t.Errorf("sweeps %+v", rules)
	}
}
