package lua

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/musterhq/muster/internal/faultproxy"
	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/internal/redistest"
)

// retry is a call whose reply is lost, so that its caller sends it again: it has one effect, and one answer.
type retry struct {
	script string
	// ready arranges the realm, of instances a and b with the worlds of TestRules, and returns the call. The
	// call makes no other, and says what it was answered.
	ready func(b *bundle) (call func() string)
	// again is what the second call answers where that is not what the first did, and but the lines of the state
	// that differ from those after one call. Both need a reason, which stands beside them.
	again string
	but   string
}

var retries = []retry{
	{
		script: "ack_match",
		ready: func(b *bundle) func() string {
			b.matched()
			return func() string { return said(b.stores[0].AckMatch(b.ctx, b.who["x"], "m1")) }
		},
	},
	{
		script: "add_to_queue", // with a key of the client's
		ready: func(b *bundle) func() string {
			b.waiting(0, trio, "w")
			b.arrive(0, "x", "y")
			w, joins := b.rules(trio), []Join{b.joinOf("x", "key", "f"), b.joinOf("y", "key", "f")}
			return func() string {
				result, _, err := b.stores[0].JoinAndMatch(b.ctx, w, 8, joins, 0, nil)
				return places(result, err)
			}
		},
	},
	{
		script: "add_to_queue", // with the server's key, and the match that comes of it
		ready: func(b *bundle) func() string {
			b.waiting(0, pairs, "w")
			b.arrive(0, "x")
			w, joins, ids := b.rules(pairs), []Join{b.joinOf("x", "~k", "f")}, b.candidates(1)
			return func() string {
				result, _, err := b.stores[0].JoinAndMatch(b.ctx, w, 8, joins, 0, ids)
				return places(result, err)
			}
		},
		again: "no place: in match m1;", // which the first call formed
	},
	{
		script: "arrive",
		ready: func(b *bundle) func() string {
			b.waiting(1, trio, "x")
			return func() string {
				states, err := b.stores[0].Arrive(b.ctx, []Session{{Player: "x"}})
				text := ""
				for _, st := range states {
					text += fmt.Sprintf("%v ranks %v", st.Err, st.Ranks)
				}
				return said(text, err)
			}
		},
		// Nobody knows the generation of the reply that was lost: another one is taken, and its own instance told.
		but: `^(pr:x|pub a)`,
	},
	{
		script: "assert_state",
		ready: func(b *bundle) func() string {
			b.matched()
			w := b.waiting(0, trio, "w")[0]
			assertions := []Assertion{
				{Session: b.who["x"], AsOf: ident.Place(b.now + 10), Record: b.raw("pl", "x"), Match: b.raw("m", "m1")},
				{Session: w, AsOf: ident.Place(b.now + 20), Record: b.raw("pl", "w")},
			}
			b.lose()
			epoch := b.openEpoch().Number
			return func() string { return said(b.stores[0].AssertState(b.ctx, epoch, assertions)) }
		},
		again: fmt.Sprint([]Asserted{Adopt, Adopt}), // what stands now is of this epoch, and what was asserted
	},
	{
		script: "declare_worlds",
		ready: func(b *bundle) func() string {
			b.waiting(0, trio, "x")
			worlds := []DeclaredWorld{{Name: "duel", State: "open", Hash: "other", Settings: "{}"}}
			return func() string { return readable(said(b.stores[0].DeclareWorlds(b.ctx, worlds))) }
		},
	},
	{
		script: "depart",
		ready: func(b *bundle) func() string {
			b.waiting(0, trio, "x")
			b.arrive(0, "y")
			return func() string { return b.depart("x", "y") }
		},
		// That a socket is gone already is all that its instance wants to know.
		again: fmt.Sprint([]error{ErrGone, ErrGone}),
	},
	{
		script: "end_lease",
		ready: func(b *bundle) func() string {
			b.waiting(0, trio, "x")
			return func() string { return said("", b.stores[0].EndLease(b.ctx)) }
		},
	},
	{
		script: "end_match",
		ready: func(b *bundle) func() string {
			b.matched()
			return func() string { return said("", b.stores[0].EndMatch(b.ctx, "m1", Ended)) }
		},
		again: ErrNoSuchMatch.Error(), // as whoever comes second is answered
	},
	{
		script: "extract_group",
		ready:  func(b *bundle) func() string { return b.forming(group("trio", 3)) },
		again:  nothingFormed,
	},
	{
		script: "find_opponent",
		ready:  func(b *bundle) func() string { return b.forming(duel("duel", 0)) },
		again:  nothingFormed,
	},
	{
		script: "heartbeat",
		ready: func(b *bundle) func() string {
			return func() string {
				st, err := b.stores[0].Heartbeat(b.ctx, "x")
				return readable(said(fmt.Sprint(st.Generation, st.Record, st.Ranks), err))
			}
		},
	},
	{
		script: "leave_match",
		ready: func(b *bundle) func() string {
			b.matched()
			return func() string { return said(b.stores[0].LeaveMatch(b.ctx, b.who["x"], "m1")) }
		},
		again: ErrNoSuchMatch.Error(), // the protocol's answer to a leave of a match that was left
	},
	{
		script: "open_epoch",
		ready: func(b *bundle) func() string {
			b.rdb.HSet(b.ctx, b.key("meta"), "history", "other")
			return func() string {
				e, err := b.stores[0].OpenEpoch(b.ctx, 0)
				return readable(said(fmt.Sprintf("%d %d", e.Number, e.MatchingOpensAt), err))
			}
		},
	},
	{
		script: "refresh",
		ready: func(b *bundle) func() string {
			sessions := b.arrive(0, "x")
			return func() string { return said(b.stores[0].Refresh(b.ctx, sessions)) }
		},
	},
	{
		script: "remove_from_queue",
		ready: func(b *bundle) func() string {
			b.waiting(0, trio, "x")
			b.join(0, pairs, b.who["x"])
			return func() string { return readable(b.leave("x", "duel")) }
		},
		again: `left [], match "", record "#1001006||||trio=#1001004,1,~k,f,,"`, // nothing more than was left
	},
	{
		script: "renew_lease",
		ready: func(b *bundle) func() string {
			b.step(4 * time.Second)
			return func() string {
				lease, err := b.stores[0].RenewLease(b.ctx)
				return said(lease.Lapsed, err)
			}
		},
		again: "false", // which an instance does not believe after an error; see presence/lease.go
	},
	{
		script: "sweep",
		ready: func(b *bundle) func() string {
			b.waiting(0, trio, "x")
			b.depart("x")
			b.step(testGrace + time.Second)
			b.touch()
			b.renew()
			return func() string { return said(b.stores[0].Sweep(b.ctx, time.Second, []WorldRules{trio})) }
		},
		again: fmt.Sprintf("%+v", Swept{}), // it was done within the interval
	},
}

// nothingFormed is what a second call with the same ids forms: the loop calls again, with others.
var nothingFormed = fmt.Sprintf("%+v", Formed{More: true})

// places is where joins put their players.
func places(result JoinResult, err error) string {
	text := ""
	for _, j := range result.Joined {
		if j.Err != nil {
			text += fmt.Sprintf("no place: %v; ", j.Err)
			continue
		}
		text += fmt.Sprintf("%d at %d of %d; ", j.Place-testStart, j.Position, j.Size)
	}
	return said(text, err)
}

// forming has six players wait and returns the call that forms a match.
func (b *bundle) forming(w WorldRules) func() string {
	b.waiting(0, w, "p", "q", "r")
	b.waiting(1, w, "s", "t", "u")
	rules, ids := b.rules(w), b.candidates(1)
	return func() string {
		_, formed, err := b.stores[0].JoinAndMatch(b.ctx, rules, 8, nil, 0, ids)
		return said(formed, err)
	}
}

// raw is a field of one of the realm's hashes.
func (b *bundle) raw(key, field string) string {
	b.Helper()
	text, err := b.rdb.HGet(b.ctx, b.key(key), field).Result()
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// TestACallWhoseReplyIsLostIsSentAgain makes each call in two realms that are alike: once, and with its reply
// lost on the way and sent again. Afterwards they are alike still.
func TestACallWhoseReplyIsLostIsSentAgain(t *testing.T) {
	t.Parallel()
	for i, r := range retries {
		t.Run(fmt.Sprintf("%s %d", r.script, i), func(t *testing.T) {
			t.Parallel()
			redis := redistest.Shared(t)
			proxy := faultproxy.Start(t, redis.Addr())
			once, call := r.prepared(t, only(redis))
			answer := call()
			lossy, lost := r.prepared(t, backend{url: func(testing.TB) string { return "redis://" + proxy.Addr() + "/0" }})
			called := map[string]int{}
			lossy.stores[0].opts.Observe = func(script string, _ time.Duration, err error) {
				if errors.Is(err, ErrLostHistory) || err == nil && called[script] == 0 {
					t.Errorf("the reply of %s was not lost: %v", script, err)
				}
				called[script]++
			}
			proxy.SwallowRepliesTo("evalsha", 1)
			if said := lost(); !strings.Contains(said, ErrUnavailable.Error()) {
				t.Errorf("without a reply it was answered %s", said)
			}
			again := lost()
			if called[r.script] != 2 {
				t.Errorf("called: %v", called)
			}
			want := answer
			if r.again != "" {
				want = r.again
			}
			if diff := cmp.Diff(want, again); diff != "" {
				t.Errorf("answered again (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(once.settled(r.but), lossy.settled(r.but)); diff != "" {
				t.Errorf("the state (-once +again):\n%s", diff)
			}
		})
	}
}

// prepared is a realm that is ready for the call.
func (r retry) prepared(t *testing.T, be backend) (b *bundle, call func() string) {
	t.Helper()
	b = setup(t, be, 2, trio, pairs, apart)
	call = r.ready(b)
	for _, s := range b.stores {
		if err := s.loadAll(b.ctx); err != nil { // else the reply that is lost says NOSCRIPT
			t.Fatal(err)
		}
	}
	return b, call
}

// settled is the realm's state without what every call writes, and without lines that match but.
func (b *bundle) settled(but string) []string {
	b.Helper()
	return slices.DeleteFunc(b.dump(), func(line string) bool {
		return unimportant.MatchString(line) || but != "" && regexp.MustCompile(but).MatchString(line)
	})
}

// TestEveryScriptThatWritesIsRetried: a new script needs a row.
func TestEveryScriptThatWritesIsRetried(t *testing.T) {
	t.Parallel()
	for _, name := range scriptNames(t) {
		reads := strings.Contains(readHeader(t, name).shebang, "no-writes")
		has := slices.ContainsFunc(retries, func(r retry) bool { return r.script == name })
		if has == reads {
			t.Errorf("%s has a row: %v, and it writes: %v", name, has, !reads)
		}
	}
}
