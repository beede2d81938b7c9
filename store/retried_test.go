package store

import (
	"fmt"
	"time"

	"muster/internal/ident"
)

// retries has a row, or more, for each script that writes.
var retries = []retry{
	{
		script: "ack_match",
		ready: func(b *bundle) func() string {
			b.matched()
			return func() string { return said(b.stores[0].AckMatch(b.ctx, b.who["x"], "m1")) }
		},
	},
	{
		script: "extract_group", // with a key of the client's
		ready: func(b *bundle) func() string {
			b.waiting(0, trio, "w")
			b.arrive(0, "x", "y")
			w, joins := b.rules(trio), []Join{b.joinOf("x", "key", "f"), b.joinOf("y", "key", "f")}
			return func() string {
				result, _, err := b.stores[0].JoinAndMatch(b.ctx, w, 8, joins, "", nil)
				return places(result, err)
			}
		},
	},
	{
		script: "find_opponent", // with the server's key, and the match that comes of it
		ready: func(b *bundle) func() string {
			b.waiting(0, pairs, "w")
			b.arrive(0, "x")
			w, joins, ids := b.rules(pairs), []Join{b.joinOf("x", "~k", "f")}, b.candidates(1)
			return func() string {
				result, _, err := b.stores[0].JoinAndMatch(b.ctx, w, 8, joins, "", ids)
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
		script: "bury_entry",
		ready: func(b *bundle) func() string {
			b.happen("m1")
			r := b.reader(b.stores[0], "g", time.Hour)
			entry := b.next(r, "m1")[0]
			return func() string { return said("", r.Bury(b.ctx, entry, "no good")) }
		},
		but: `^sd`, // rather two dead letters than none
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
			return func() string { return sweepOnce(b) }
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
		_, formed, err := b.stores[0].JoinAndMatch(b.ctx, rules, 8, nil, "", ids)
		return said(formed, err)
	}
}
