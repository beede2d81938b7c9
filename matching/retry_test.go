package matching

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/internal/ident"
	"muster/lua"
)

// answers gives a fake store its answers in order, each but the last once.
func answers(list ...func(sent) (lua.JoinResult, lua.Formed, error)) func(int, sent) (lua.JoinResult, lua.Formed, error) {
	return func(n int, s sent) (lua.JoinResult, lua.Formed, error) { return list[min(n, len(list)-1)](s) }
}

func takes(s sent) (lua.JoinResult, lua.Formed, error) { return joinedAll(s), lua.Formed{}, nil }

func fails(err error) func(sent) (lua.JoinResult, lua.Formed, error) {
	return func(sent) (lua.JoinResult, lua.Formed, error) { return lua.JoinResult{}, lua.Formed{}, err }
}

func refuses(err error) func(sent) (lua.JoinResult, lua.Formed, error) {
	return func(s sent) (lua.JoinResult, lua.Formed, error) { return refusedAll(s, err), lua.Formed{}, nil }
}

func TestALostReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{answer: answers(fails(lua.ErrUnavailable), takes)}
		m := startFake(t, store, nil, groupWorld("w", 2))
		if o := <-join(t, m, "w", lua.Join{Player: "p"}); o.err != nil || o.Place != 1 {
			t.Fatalf("joined %+v", o)
		}
		calls := store.calls()
		if len(calls) != 2 {
			t.Fatalf("%d calls, want the first and one more", len(calls))
		}
		if pause := calls[1].at.Sub(calls[0].at); pause != retryPause {
			t.Errorf("sent again after %v, want %v", pause, retryPause)
		}
		calls[0].at = calls[1].at
		if !reflect.DeepEqual(calls[0], calls[1]) {
			t.Errorf("sent first %+v\nthen %+v", calls[0], calls[1])
		}
		if key := calls[0].joins[0].Key; len(key) != 9 || !strings.HasPrefix(key, "~") {
			t.Errorf("the join has the key %q, want ~ and 8 characters", key)
		}
	})
}

func TestACallIsSentAgainOnceAndInTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes time.Duration
		calls int
	}{
		"once":                    {takes: time.Second, calls: 2},
		"not when it is too late": {takes: answerWithin - retryPause, calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &fakeStore{answer: func(int, sent) (lua.JoinResult, lua.Formed, error) {
					time.Sleep(c.takes) //nolint:forbidigo // the bubble's clock
					return lua.JoinResult{}, lua.Formed{}, lua.ErrUnavailable
				}}
				m := startFake(t, store, nil, groupWorld("w", 2))
				begin := time.Now()
				if o := <-join(t, m, "w", lua.Join{Player: "p"}); !errors.Is(o.err, lua.ErrUnavailable) {
					t.Errorf("joined %+v", o)
				}
				if took := time.Since(begin); took > answerWithin {
					t.Errorf("answered after %v", took)
				}
				if n := len(store.calls()); n != c.calls {
					t.Errorf("%d calls, want %d", n, c.calls)
				}
			})
		})
	}
}

// The time that a join waited for its call counts.
func TestAJoinThatWaitedIsAnsweredInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var deadline time.Time
		store := &fakeStore{answer: func(n int, s sent) (lua.JoinResult, lua.Formed, error) {
			if n == 0 {
				time.Sleep(1500 * time.Millisecond) //nolint:forbidigo // the bubble's clock
				return joinedAll(s), lua.Formed{}, nil
			}
			deadline = s.deadline
			return joinedAll(s), lua.Formed{}, nil
		}}
		m := startFake(t, store, nil, groupWorld("w", 2))
		first, second := join(t, m, "w", lua.Join{Player: "p"}), join(t, m, "w", lua.Join{Player: "q"})
		<-first
		<-second
		if got := deadline.Sub(began); got != answerWithin {
			t.Errorf("the second call is to end %v after its join came, want %v", got, answerWithin)
		}
	})
}

func TestWhatRefusesAJoinAfterALostReplyMayBeItsOwnFirstTry(t *testing.T) {
	t.Parallel()
	inMatch, queued := &lua.InMatchError{Match: "m"}, &lua.AlreadyQueuedError{Ticket: "w.1"}
	lost := fails(lua.ErrUnavailable)
	for name, c := range map[string]struct {
		answer func(int, sent) (lua.JoinResult, lua.Formed, error)
		want   error
	}{
		"in a match, at once":                  {answers(refuses(inMatch)), inMatch},
		"in a match, after a lost reply":       {answers(lost, refuses(inMatch)), lua.ErrUnavailable},
		"in a queue, at once":                  {answers(refuses(queued)), queued},
		"in a queue, after a lost reply":       {answers(lost, refuses(queued)), lua.ErrUnavailable},
		"without presence, after a lost reply": {answers(lost, refuses(lua.ErrGone)), lua.ErrGone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := startFake(t, &fakeStore{answer: c.answer}, nil, groupWorld("w", 2))
				o := <-join(t, m, "w", lua.Join{Player: "p"})
				if !errors.Is(o.err, c.want) {
					t.Errorf("refused with %v, want %v", o.err, c.want)
				}
				var in *lua.InMatchError
				if errors.Is(c.want, lua.ErrUnavailable) && errors.As(o.err, &in) {
					t.Errorf("%v says that the player is in a match", o.err)
				}
			})
		})
	}
}

func TestARepeatedJoinIsNewWhereOnlyTheServerRepeatedIt(t *testing.T) {
	t.Parallel()
	for key, repeated := range map[string]bool{"": false, "client's": true} {
		t.Run("key "+key, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				counted := 0
				store := &fakeStore{answer: func(_ int, s sent) (lua.JoinResult, lua.Formed, error) {
					result := joinedAll(s)
					result.Joined[0].Repeated = true
					return result, lua.Formed{}, nil
				}}
				m := startFake(t, store, func(o *Options) { o.Observer.Joined = func(ident.World) { counted++ } }, groupWorld("w", 2))
				o := <-join(t, m, "w", lua.Join{Player: "p", Key: key})
				if o.err != nil || o.Repeated != repeated {
					t.Errorf("joined %+v, want Repeated %v", o, repeated)
				}
				if (counted == 1) == repeated {
					t.Errorf("%d joins were counted", counted)
				}
			})
		})
	}
}

func TestAnOverdueMatchIsEndedForAJoin(t *testing.T) {
	t.Parallel()
	overdue := &lua.InMatchError{Match: "m", Overdue: true}
	for name, c := range map[string]struct {
		answer func(int, sent) (lua.JoinResult, lua.Formed, error)
		end    error
		calls  int
		want   error
	}{
		"and the join done once more":       {answers(refuses(overdue), takes), nil, 2, nil},
		"also where somebody was faster":    {answers(refuses(overdue), takes), lua.ErrNoSuchMatch, 2, nil},
		"also after a lost reply":           {answers(fails(lua.ErrUnavailable), refuses(overdue), takes), nil, 3, nil},
		"but only once":                     {answers(refuses(overdue)), nil, 2, overdue},
		"and if it cannot be, it stands":    {answers(refuses(overdue)), lua.ErrUnavailable, 1, overdue},
		"and the store may be away by then": {answers(refuses(overdue), fails(lua.ErrUnavailable)), nil, 3, lua.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &fakeStore{answer: c.answer, end: func(ident.Match) error { return c.end }}
				m := startFake(t, store, nil, groupWorld("w", 2))
				if o := <-join(t, m, "w", lua.Join{Player: "p"}); !errors.Is(o.err, c.want) {
					t.Errorf("joined %+v, want %v", o, c.want)
				}
				if want := []ident.Match{"m"}; !slices.Equal(store.ended, want) {
					t.Errorf("ended %v, want %v", store.ended, want)
				}
				if n := len(store.calls()); n != c.calls {
					t.Errorf("%d calls, want %d", n, c.calls)
				}
			})
		})
	}
}

func TestOnlyTheJoinsOfOverdueMatchesAreDoneOnceMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{}
		store.answer = func(n int, s sent) (lua.JoinResult, lua.Formed, error) {
			result := joinedAll(s)
			if n == 0 {
				time.Sleep(time.Second) //nolint:forbidigo // the bubble's clock: three joins gather
			}
			for i, j := range s.joins {
				if n == 1 && j.Player != "free" {
					result.Joined[i] = lua.Joined{Err: &lua.InMatchError{Match: "m", Overdue: true}}
				}
			}
			return result, lua.Formed{}, nil
		}
		m := startFake(t, store, nil, groupWorld("w", 2))
		done := []<-chan outcome{
			join(t, m, "w", lua.Join{Player: "first"}), join(t, m, "w", lua.Join{Player: "stuck1"}),
			join(t, m, "w", lua.Join{Player: "free"}), join(t, m, "w", lua.Join{Player: "stuck2"}),
		}
		for i, place := range []ident.Place{1, 1, 2, 2} { // of its call
			if o := <-done[i]; o.err != nil || o.Place != place {
				t.Errorf("join %d: %+v, want place %d", i, o, place)
			}
		}
		if want := []ident.Match{"m"}; !slices.Equal(store.ended, want) {
			t.Errorf("ended %v, want %v once for both", store.ended, want)
		}
		if last := store.calls()[2].joins; len(last) != 2 || last[0].Player != "stuck1" || last[1].Player != "stuck2" {
			t.Errorf("done once more: %+v", last)
		}
	})
}

func TestAStaleRevision(t *testing.T) {
	t.Parallel()
	stale := fails(lua.ErrStaleRevision)
	renewed := groupWorld("w", 2)
	renewed.Revision, renewed.Rooms = 2, []string{"other"}
	errReload := errors.New("cannot read")
	for name, c := range map[string]struct {
		answer func(int, sent) (lua.JoinResult, lua.Formed, error)
		reload []World
		err    error
		want   error
	}{
		"worlds are read and the call sent again": {answers(stale, takes), []World{renewed}, nil, nil},
		"also after a lost reply":                 {answers(fails(lua.ErrUnavailable), stale, takes), []World{renewed}, nil, nil},
		"once":                                    {answers(stale), []World{renewed}, nil, lua.ErrStaleRevision},
		"the world may be gone":                   {answers(stale, takes), []World{groupWorld("v", 2)}, nil, lua.ErrUnknownWorld},
		"the worlds may be unreadable":            {answers(stale, takes), []World{renewed}, errReload, errReload},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &fakeStore{answer: c.answer}
				var m *Matching
				m = startFake(t, store, func(o *Options) {
					o.Reload = func(context.Context) error {
						if c.err == nil {
							m.SetWorlds(2, c.reload)
						}
						return c.err
					}
				}, groupWorld("w", 2))
				if o := <-join(t, m, "w", lua.Join{Player: "p"}); !errors.Is(o.err, c.want) {
					t.Errorf("joined %+v, want %v", o, c.want)
				}
				if c.want != nil {
					return
				}
				calls := store.calls()
				for _, last := range calls {
					if len(last.joins) == 1 && last.rules.Revision == 2 && last.candidates[0].Rooms[0].Name == "other" {
						return
					}
				}
				t.Errorf("never sent with the new revision and rooms: %+v", calls)
			})
		})
	}
}
