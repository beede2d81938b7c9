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
	"muster/store"
)

// answers gives a fake store its answers in order, each but the last once.
func answers(list ...func(sent) (store.JoinResult, store.Formed, error)) func(int, sent) (store.JoinResult, store.Formed, error) {
	return func(n int, s sent) (store.JoinResult, store.Formed, error) { return list[min(n, len(list)-1)](s) }
}

func takes(s sent) (store.JoinResult, store.Formed, error) { return joinedAll(s), store.Formed{}, nil }

func fails(err error) func(sent) (store.JoinResult, store.Formed, error) {
	return func(sent) (store.JoinResult, store.Formed, error) { return store.JoinResult{}, store.Formed{}, err }
}

func refuses(err error) func(sent) (store.JoinResult, store.Formed, error) {
	return func(s sent) (store.JoinResult, store.Formed, error) { return refusedAll(s, err), store.Formed{}, nil }
}

func TestALostReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := &fakeStore{answer: answers(fails(store.ErrUnavailable), takes)}
		m := startFake(t, fake, nil, groupWorld("w", 2))
		if o := <-join(t, m, "w", store.Join{Player: "p"}); o.err != nil || o.Place != 1 {
			t.Fatalf("joined %+v", o)
		}
		calls := fake.calls()
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
				fake := &fakeStore{answer: func(int, sent) (store.JoinResult, store.Formed, error) {
					time.Sleep(c.takes) //nolint:forbidigo // the bubble's clock
					return store.JoinResult{}, store.Formed{}, store.ErrUnavailable
				}}
				m := startFake(t, fake, nil, groupWorld("w", 2))
				begin := time.Now()
				if o := <-join(t, m, "w", store.Join{Player: "p"}); !errors.Is(o.err, store.ErrUnavailable) {
					t.Errorf("joined %+v", o)
				}
				if took := time.Since(begin); took > answerWithin {
					t.Errorf("answered after %v", took)
				}
				if n := len(fake.calls()); n != c.calls {
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
		fake := &fakeStore{answer: func(n int, s sent) (store.JoinResult, store.Formed, error) {
			if n == 0 {
				time.Sleep(1500 * time.Millisecond) //nolint:forbidigo // the bubble's clock
				return joinedAll(s), store.Formed{}, nil
			}
			deadline = s.deadline
			return joinedAll(s), store.Formed{}, nil
		}}
		m := startFake(t, fake, nil, groupWorld("w", 2))
		first, second := join(t, m, "w", store.Join{Player: "p"}), join(t, m, "w", store.Join{Player: "q"})
		<-first
		<-second
		if got := deadline.Sub(began); got != answerWithin {
			t.Errorf("the second call is to end %v after its join came, want %v", got, answerWithin)
		}
	})
}

func TestWhatRefusesAJoinAfterALostReplyMayBeItsOwnFirstTry(t *testing.T) {
	t.Parallel()
	inMatch, queued := &store.InMatchError{Match: "m"}, &store.AlreadyQueuedError{Ticket: "w.1"}
	lost := fails(store.ErrUnavailable)
	for name, c := range map[string]struct {
		answer func(int, sent) (store.JoinResult, store.Formed, error)
		want   error
	}{
		"in a match, at once":                  {answers(refuses(inMatch)), inMatch},
		"in a match, after a lost reply":       {answers(lost, refuses(inMatch)), store.ErrUnavailable},
		"in a queue, at once":                  {answers(refuses(queued)), queued},
		"in a queue, after a lost reply":       {answers(lost, refuses(queued)), store.ErrUnavailable},
		"without presence, after a lost reply": {answers(lost, refuses(store.ErrGone)), store.ErrGone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := startFake(t, &fakeStore{answer: c.answer}, nil, groupWorld("w", 2))
				o := <-join(t, m, "w", store.Join{Player: "p"})
				if !errors.Is(o.err, c.want) {
					t.Errorf("refused with %v, want %v", o.err, c.want)
				}
				var in *store.InMatchError
				if errors.Is(c.want, store.ErrUnavailable) && errors.As(o.err, &in) {
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
				fake := &fakeStore{answer: func(_ int, s sent) (store.JoinResult, store.Formed, error) {
					result := joinedAll(s)
					result.Joined[0].Repeated = true
					return result, store.Formed{}, nil
				}}
				m := startFake(t, fake, func(o *Options) { o.Observer.Joined = func(ident.World) { counted++ } }, groupWorld("w", 2))
				o := <-join(t, m, "w", store.Join{Player: "p", Key: key})
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
	overdue := &store.InMatchError{Match: "m", Overdue: true}
	for name, c := range map[string]struct {
		answer func(int, sent) (store.JoinResult, store.Formed, error)
		end    error
		calls  int
		want   error
	}{
		"and the join done once more":      {answers(refuses(overdue), takes), nil, 2, nil},
		"also where somebody was faster":   {answers(refuses(overdue), takes), store.ErrNoSuchMatch, 2, nil},
		"also after a lost reply":          {answers(fails(store.ErrUnavailable), refuses(overdue), takes), nil, 3, nil},
		"but only once":                    {answers(refuses(overdue)), nil, 2, overdue},
		"and if it cannot be, it stands":   {answers(refuses(overdue)), store.ErrUnavailable, 1, overdue},
		"and the fake may be away by then": {answers(refuses(overdue), fails(store.ErrUnavailable)), nil, 3, store.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fake := &fakeStore{answer: c.answer, end: func(ident.Match) error { return c.end }}
				m := startFake(t, fake, nil, groupWorld("w", 2))
				if o := <-join(t, m, "w", store.Join{Player: "p"}); !errors.Is(o.err, c.want) {
					t.Errorf("joined %+v, want %v", o, c.want)
				}
				if want := []ident.Match{"m"}; !slices.Equal(fake.ended, want) {
					t.Errorf("ended %v, want %v", fake.ended, want)
				}
				if n := len(fake.calls()); n != c.calls {
					t.Errorf("%d calls, want %d", n, c.calls)
				}
			})
		})
	}
}

func TestOnlyTheJoinsOfOverdueMatchesAreDoneOnceMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := &fakeStore{}
		fake.answer = func(n int, s sent) (store.JoinResult, store.Formed, error) {
			result := joinedAll(s)
			if n == 0 {
				time.Sleep(time.Second) //nolint:forbidigo // the bubble's clock: three joins gather
			}
			for i, j := range s.joins {
				if n == 1 && j.Player != "free" {
					result.Joined[i] = store.Joined{Err: &store.InMatchError{Match: "m", Overdue: true}}
				}
			}
			return result, store.Formed{}, nil
		}
		m := startFake(t, fake, nil, groupWorld("w", 2))
		done := []<-chan outcome{
			join(t, m, "w", store.Join{Player: "first"}), join(t, m, "w", store.Join{Player: "stuck1"}),
			join(t, m, "w", store.Join{Player: "free"}), join(t, m, "w", store.Join{Player: "stuck2"}),
		}
		for i, place := range []ident.Place{1, 1, 2, 2} { // of its call
			if o := <-done[i]; o.err != nil || o.Place != place {
				t.Errorf("join %d: %+v, want place %d", i, o, place)
			}
		}
		if want := []ident.Match{"m"}; !slices.Equal(fake.ended, want) {
			t.Errorf("ended %v, want %v once for both", fake.ended, want)
		}
		if last := fake.calls()[2].joins; len(last) != 2 || last[0].Player != "stuck1" || last[1].Player != "stuck2" {
			t.Errorf("done once more: %+v", last)
		}
	})
}

func TestAStaleRevision(t *testing.T) {
	t.Parallel()
	stale := fails(store.ErrStaleRevision)
	renewed := groupWorld("w", 2)
	renewed.Revision, renewed.Rooms = 2, []string{"other"}
	errReload := errors.New("cannot read")
	for name, c := range map[string]struct {
		answer func(int, sent) (store.JoinResult, store.Formed, error)
		reload []World
		err    error
		want   error
	}{
		"worlds are read and the call sent again": {answers(stale, takes), []World{renewed}, nil, nil},
		"also after a lost reply":                 {answers(fails(store.ErrUnavailable), stale, takes), []World{renewed}, nil, nil},
		"once":                                    {answers(stale), []World{renewed}, nil, store.ErrStaleRevision},
		"the world may be gone":                   {answers(stale, takes), []World{groupWorld("v", 2)}, nil, store.ErrUnknownWorld},
		"the worlds may be unreadable":            {answers(stale, takes), []World{renewed}, errReload, errReload},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fake := &fakeStore{answer: c.answer}
				var m *Matching
				m = startFake(t, fake, func(o *Options) {
					o.Reload = func(context.Context) error {
						if c.err == nil {
							m.SetWorlds(2, c.reload)
						}
						return c.err
					}
				}, groupWorld("w", 2))
				if o := <-join(t, m, "w", store.Join{Player: "p"}); !errors.Is(o.err, c.want) {
					t.Errorf("joined %+v, want %v", o, c.want)
				}
				if c.want != nil {
					return
				}
				calls := fake.calls()
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
