package store

import (
	"time"

	"muster/internal/ident"
)

var matchRules = []rule{
	{
		name: "it is noted once", script: "ack_match",
		given: func(b *bundle) { b.waiting(0, pairs, "x", "y"); b.form(0, pairs, 1) },
		do:    func(b *bundle) string { return said(b.stores[0].AckMatch(b.ctx, b.who["x"], "m1")) },
		want: `
			- pl x = #1001007|m1|@3601001||
			- pub a = 2
			+ pl x = #1001008|m1|@3601001|1|
			+ pub a = 3
			a told 3:
			= #1001008|m1|@3601001|1|
		`,
		again: `= #1001008|m1|@3601001|1|`,
	},
	{
		name: "another match than the player's", script: "ack_match",
		given: func(b *bundle) { b.waiting(0, pairs, "x", "y", "z", "w"); b.form(0, pairs, 2) },
		do:    func(b *bundle) string { return said(b.stores[0].AckMatch(b.ctx, b.who["x"], "m2")) },
		want:  `= no such match`,
		again: `= no such match`,
	},
	{
		name: "no match, of a player who has none", script: "ack_match",
		given: func(b *bundle) { b.waiting(0, pairs, "x") },
		do:    func(b *bundle) string { return said(b.stores[0].AckMatch(b.ctx, b.who["x"], "")) },
		want:  `= no such match`,
		again: `= no such match`,
	},
	{
		name: "by a session that was taken over", script: "ack_match",
		given: func(b *bundle) { b.matched(); b.arrive(1, "x"); b.who["x"] = b.who["old"] },
		do:    func(b *bundle) string { return said(b.stores[0].AckMatch(b.ctx, b.who["x"], "m1")) },
		want:  `= replaced by a newer session`,
		again: `= replaced by a newer session`,
	},
	{
		name: "one leaves, the other stays", script: "leave_match",
		given: (*bundle).matched,
		do:    func(b *bundle) string { return said(b.stores[0].LeaveMatch(b.ctx, b.who["x"], "m1")) },
		want: `
			- m m1 = complete|#1001007|#0|duel|#1001007|@3601001|play=rm1|x;y|
			- pl x = #1001007|m1|@3601001||
			- pub a = 2
			+ kp x = @301001
			+ m m1 = complete|#1001008|#0|duel|#1001007|@3601001|play=rm1|x;y|x
			+ pl x = #1001008||||
			+ pub a = 3
			a told 3: match m1
			= #1001008||||
		`,
		again: `= no such match`,
	},
	{
		name: "the last one ends it", script: "leave_match",
		given: func(b *bundle) {
			b.matched()
			if _, err := b.stores[0].LeaveMatch(b.ctx, b.who["y"], "m1"); err != nil {
				b.Fatal(err)
			}
		},
		do: func(b *bundle) string { return said(b.stores[0].LeaveMatch(b.ctx, b.who["x"], "m1")) },
		want: `
			- m m1 = complete|#1001008|#0|duel|#1001007|@3601001|play=rm1|x;y|y
			- mx m1 = @3601001
			- pl x = #1001007|m1|@3601001||
			- pub a = 3
			- ws:duel open = 1
			+ kp x = @301001
			+ pl x = #1001009||||
			+ pub a = 4
			+ st event=match_ended match=m1 reason=left record=complete|#1001009|#0|duel|#1001007|@3601001|play=rm1|x;y|y;x
			+ ws:duel open = 0
			a told 4:
			= #1001009||||
		`,
		again: `= no such match`,
	},
	{
		name: "a request of no session: the player's session is told of its acknowledgement", script: "ack_match",
		given: (*bundle).matchedApart,
		do:    func(b *bundle) string { return said(b.stores[0].AckMatch(b.ctx, Session{Player: "x"}, "m1")) },
		want: `
			- pl x = #1001007|m1|@3601001||
			- pub b = 2
			+ pl x = #1001008|m1|@3601001|1|
			+ pub b = 3
			= #1001008|m1|@3601001|1|
		`,
		again: `= #1001008|m1|@3601001|1|`,
	},
	{
		name: "a request of no session: the player's session is told that it left", script: "leave_match",
		given: (*bundle).matchedApart,
		do:    func(b *bundle) string { return said(b.stores[0].LeaveMatch(b.ctx, Session{Player: "x"}, "m1")) },
		want: `
			- m m1 = complete|#1001007|#0|duel|#1001007|@3601001|play=rm1|x;y|
			- pl x = #1001007|m1|@3601001||
			- pub a = 2
			- pub b = 2
			+ kp x = @301001
			+ m m1 = complete|#1001008|#0|duel|#1001007|@3601001|play=rm1|x;y|x
			+ pl x = #1001008||||
			+ pub a = 3
			+ pub b = 3
			a told 3: match m1
			= #1001008||||
		`,
		again: `= no such match`,
	},
	{
		name: "no match, of a player who has none", script: "leave_match",
		given: func(b *bundle) { b.waiting(0, pairs, "x") },
		do:    func(b *bundle) string { return said(b.stores[0].LeaveMatch(b.ctx, b.who["x"], "")) },
		want:  `= no such match`,
		again: `= no such match`,
	},
	{
		name: "by a session that was taken over", script: "leave_match",
		given: func(b *bundle) { b.matched(); b.arrive(1, "x"); b.who["x"] = b.who["old"] },
		do:    func(b *bundle) string { return said(b.stores[0].LeaveMatch(b.ctx, b.who["x"], "m1")) },
		want:  `= replaced by a newer session`,
		again: `= replaced by a newer session`,
	},
	{
		name: "all who are in it are free and told, who had left it is not touched", script: "end_match",
		given: func(b *bundle) {
			b.waiting(0, trio, "x", "y")
			b.waiting(1, trio, "z")
			b.form(0, trio, 1)
			if _, err := b.stores[0].LeaveMatch(b.ctx, b.who["y"], "m1"); err != nil {
				b.Fatal(err)
			}
			b.join(0, pairs, b.who["y"])
		},
		do: func(b *bundle) string { return said("ended", b.stores[0].EndMatch(b.ctx, "m1", Ended)) },
		want: `
			- m m1 = complete|#1001010|#0|trio|#1001009|@3601001|play=rm1|x;y;z|y
			- mx m1 = @3601001
			- pl x = #1001009|m1|@3601001||
			- pl z = #1001009|m1|@3601001||
			- pub a = 4
			- pub b = 3
			- ws:trio open = 1
			+ kp x = @301001
			+ kp z = @301001
			+ no:x(1440 min) #1001013|match_ended|trio|m1|ended|@1001
			+ no:z(1440 min) #1001015|match_ended|trio|m1|ended|@1001
			+ pl x = #1001012||||
			+ pl z = #1001014||||
			+ pub a = 5
			+ pub b = 4
			+ st event=match_ended match=m1 reason=ended record=complete|#1001015|#0|trio|#1001009|@3601001|play=rm1|x;y;z|y
			+ ws:trio open = 0
			a told 5: x/#1001003 #1001012|||| #1001013|match_ended|trio|m1|ended|@1001
			= ended
		`,
		again: `= no such match`,
	},
	{
		name: "it does not expire before its time", script: "end_match",
		given: (*bundle).matched,
		do:    func(b *bundle) string { return said("ended", b.stores[0].EndMatch(b.ctx, "m1", Expired)) },
		want:  `= no such match`,
		again: `= no such match`,
	},
	{
		name: "it expires at its time, also where nobody sweeps", script: "end_match",
		given: func(b *bundle) { b.matched(); b.step(testHold); b.touch() },
		do:    func(b *bundle) string { return said("ended", b.stores[0].EndMatch(b.ctx, "m1", Expired)) },
		want: `
			- m m1 = complete|#1001007|#0|duel|#1001007|@3601001|play=rm1|x;y|
			- mx m1 = @3601001
			- pl x = #1001007|m1|@3601001||
			- pl y = #1001007|m1|@3601001||
			- ws:duel open = 1
			+ no:x(1440 min) #3601001001|match_ended|duel|m1|expired|@3601001
			+ no:y(1440 min) #3601001003|match_ended|duel|m1|expired|@3601001
			+ st event=match_ended match=m1 reason=expired record=complete|#3601001003|#0|duel|#1001007|@3601001|play=rm1|x;y|
			+ ws:duel open = 0
			= ended
		`,
		again: `= no such match`,
	},
}

// matched puts x and y into the match m1; "old" is the session of x.
func (b *bundle) matched() {
	b.Helper()
	b.waiting(0, pairs, "x", "y")
	b.who["old"] = b.who["x"]
	if f := b.form(0, pairs, 1); f.Matches != 1 {
		b.Fatalf("formed %+v", f)
	}
}

// matchedApart puts x, whose session is on the instance b, and y into the match m1.
func (b *bundle) matchedApart() {
	b.Helper()
	b.waiting(1, pairs, "x")
	b.waiting(0, pairs, "y")
	if f := b.form(0, pairs, 1); f.Matches != 1 {
		b.Fatalf("formed %+v", f)
	}
}

// sweepOnce sweeps the tests' worlds once.
func sweepOnce(b *bundle) string {
	b.Helper()
	return said(b.stores[0].Sweep(b.ctx, time.Second, []WorldRules{trio, pairs, apart}))
}

func (b *bundle) renewOnly(i int) {
	b.Helper()
	if _, err := b.stores[i].RenewLease(b.ctx); err != nil {
		b.Fatal(err)
	}
}

func declared(names ...ident.World) []DeclaredWorld {
	var worlds []DeclaredWorld
	for _, name := range names {
		worlds = append(worlds, DeclaredWorld{Name: name, State: "open", Hash: "h", Settings: "{}"})
	}
	return worlds
}
