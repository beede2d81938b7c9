package store

import (
	"fmt"
	"time"

	"muster/internal/ident"
)

// seated has x and y, on two instances, in one room of three.
func (b *bundle) seated() {
	b.Helper()
	b.waiting(0, rooms, "x")
	b.waiting(1, rooms, "y")
	b.form(0, rooms, 1)
}

func (b *bundle) openSeats(open int, taken *int) string {
	b.Helper()
	seats, err := b.stores[0].OpenSeats(b.ctx, "m1", open, taken)
	return said(fmt.Sprintf("open %d, taken %d in %s", seats.Open, seats.Taken, seats.World), err)
}

var seatRules = []rule{
	{
		name: "the first opens a room, the next joins it", script: "reserve_seats",
		given: func(b *bundle) { b.waiting(0, rooms, "x"); b.waiting(1, rooms, "y") },
		do:    func(b *bundle) string { return said(b.form(0, rooms, 2), nil) },
		want: `
			- pl x = #1001007||||room=#1001007,1,~k,f,,
			- pl y = #1001009||||room=#1001009,1,~k,f,,
			- pub a = 1
			- pub b = 1
			- q:room:1 x = #1001007
			- q:room:1 y = #1001009
			+ m m1 = complete|#1001012|#0|room|#1001010|@3601001|play=rm1|x;y||||||1|3600000,0,0,0,3,60000,0,0|1
			+ mx m1 = @3601001
			+ op:room m1 = 1
			+ pl x = #1001010|m1|@3601001|s|
			+ pl y = #1001011|m1|@3601001|s|
			+ pub a = 2
			+ pub b = 2
			+ sh x = @61001
			+ sh y = @61001
			+ st event=match_complete match=m1 record=complete|#1001010|#0|room|#1001010|@3601001|play=rm1|x||||||2|3600000,0,0,0,3,60000,0,0|0
			+ ws:room mean = 0,@1001
			+ ws:room open = 1
			+ ws:room total = 1
			+ ws:room waits = 30000000,1,0,0,0
			a told 2: match m1 x/#1001006 #1001010|m1|@3601001|s|
			= {Matches:1 Players:2 Parked:0 WaitSum:0s More:false After: OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
	},
	{
		name: "the fullest room first, and a new one where all are full", script: "reserve_seats",
		given: func(b *bundle) { b.seated(); b.waiting(0, rooms, "z", "u") },
		do:    func(b *bundle) string { return said(b.form(0, rooms, 1), nil) },
		want: `
			- m m1 = complete|#1001012|#0|room|#1001010|@3601001|play=rm1|x;y||||||1|3600000,0,0,0,3,60000,0,0|1
			- op:room m1 = 1
			- pl u = #1001016||||room=#1001016,1,~k,f,,
			- pl z = #1001015||||room=#1001015,1,~k,f,,
			- pub a = 3
			- pub b = 2
			- q:room:1 z = #1001015
			- q:room:1 u = #1001016
			- ws:room open = 1
			- ws:room total = 1
			- ws:room waits = 30000000,1,0,0,0
			+ m m1 = complete|#1001019|#0|room|#1001010|@3601001|play=rm1|x;y;z||||||0|3600000,0,0,0,3,60000,0,0|2
			+ m m2 = complete|#1001018|#0|room|#1001018|@3601001|play=rm2|u||||||2|3600000,0,0,0,3,60000,0,0|0
			+ mx m2 = @3601001
			+ op:room m2 = 2
			+ pl u = #1001018|m2|@3601001|s|
			+ pl z = #1001017|m1|@3601001|s|
			+ pub a = 4
			+ pub b = 3
			+ sh u = @61001
			+ sh z = @61001
			+ st event=match_complete match=m2 record=complete|#1001018|#0|room|#1001018|@3601001|play=rm2|u||||||2|3600000,0,0,0,3,60000,0,0|0
			+ ws:room open = 2
			+ ws:room total = 2
			+ ws:room waits = 30000000,2,0,0,0
			a told 4: match m1 match m2 u/#1001014 #1001018|m2|@3601001|s| z/#1001013 #1001017|m1|@3601001|s|
			= {Matches:1 Players:2 Parked:0 WaitSum:0s More:false After: OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
	},
	{
		name: "a seat is taken up", script: "ack_match",
		given: (*bundle).seated,
		do:    func(b *bundle) string { return said(b.stores[0].AckMatch(b.ctx, b.who["x"], "m1")) },
		want: `
			- pl x = #1001010|m1|@3601001|s|
			- pub a = 2
			- sh x = @61001
			+ pl x = #1001013|m1|@3601001|t|
			+ pub a = 3
			a told 3:
			= #1001013|m1|@3601001|t|
		`,
		again: `= #1001013|m1|@3601001|t|`,
	},
	{
		name: "a seat is given back once", script: "leave_match",
		given: (*bundle).seated,
		do:    func(b *bundle) string { return said(b.stores[0].LeaveMatch(b.ctx, b.who["x"], "m1")) },
		want: `
			- m m1 = complete|#1001012|#0|room|#1001010|@3601001|play=rm1|x;y||||||1|3600000,0,0,0,3,60000,0,0|1
			- op:room m1 = 1
			- pl x = #1001010|m1|@3601001|s|
			- pub a = 2
			- pub b = 2
			- sh x = @61001
			+ kp x = @301001
			+ m m1 = complete|#1001013|#0|room|#1001010|@3601001|play=rm1|y||||||2|3600000,0,0,0,3,60000,0,0|1
			+ op:room m1 = 2
			+ pl x = #1001013||||
			+ pub a = 3
			+ pub b = 3
			a told 3:
			= #1001013||||
		`,
		again: `= no such match`,
	},
	{
		name: "who has a seat and is gone keeps it for its grace", script: "depart",
		given: (*bundle).seated,
		do:    func(b *bundle) string { return b.depart("x") },
		want: `
			- ip:a x
			- pr:x(10 min) L|#0|a|#1001006
			+ aw x = @361001
			+ pr:x(16 min) A|#0|a|#1001006
			= [<nil>]
		`,
		again: `= [no presence]`,
	},
	{
		name: "a seat whose player is gone is given back", script: "sweep",
		given: func(b *bundle) {
			b.seated()
			for _, p := range []int{0, 1} {
				name := []ident.Player{"x", "y"}[p]
				_, err := b.stores[p].AckMatch(b.ctx, b.who[name], "m1")
				b.wantErr("ack", err, nil)
			}
			b.depart("x")
			b.step(testGrace)
			b.touch()
			b.renew()
		},
		do: func(b *bundle) string { return said(b.stores[0].Sweep(b.ctx, time.Second, nil)) },
		want: `
			- aw x = @361001
			- m m1 = complete|#1001012|#0|room|#1001010|@3601001|play=rm1|x;y||||||1|3600000,0,0,0,3,60000,0,0|1
			- op:room m1 = 1
			- pl x = #1001013|m1|@3601001|t|
			- pr:x(10 min) A|#0|a|#1001006
			- pub b = 3
			+ m m1 = complete|#361001000|#0|room|#1001010|@3601001|play=rm1|y||||||2|3600000,0,0,0,3,60000,0,0|1
			+ meta swept = @361001|2
			+ no:x(1440 min) #361001001|match_ended|room|m1|expired|@361001
			+ op:room m1 = 2
			+ pub b = 4
			= {Done:true More:false Parked:0 Gone:1 MatchesExpired:0 TicketsExpired:0 SeatsReleased:1 Due:[]}
		`,
		again: `= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "a seat that was not taken up is given back", script: "sweep",
		given: func(b *bundle) {
			b.seated()
			_, err := b.stores[1].AckMatch(b.ctx, b.who["y"], "m1")
			b.wantErr("ack", err, nil)
			b.step(time.Minute)
			b.touch()
			b.renew()
		},
		do: func(b *bundle) string { return said(b.stores[0].Sweep(b.ctx, time.Second, nil)) },
		want: `
			- m m1 = complete|#1001012|#0|room|#1001010|@3601001|play=rm1|x;y||||||1|3600000,0,0,0,3,60000,0,0|1
			- op:room m1 = 1
			- pl x = #1001010|m1|@3601001|s|
			- pub a = 2
			- pub b = 3
			- sh x = @61001
			+ kp x = @361001
			+ m m1 = complete|#61001000|#0|room|#1001010|@3601001|play=rm1|y||||||2|3600000,0,0,0,3,60000,0,0|1
			+ meta swept = @61001|2
			+ no:x(1440 min) #61001001|match_ended|room|m1|expired|@61001
			+ op:room m1 = 2
			+ pl x = #61001000||||
			+ pub a = 3
			+ pub b = 4
			a told 3: x/#1001006 #61001000|||| #61001001|match_ended|room|m1|expired|@61001
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:1 Due:[]}
		`,
		again: `= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "a match gets open seats", script: "open_seats",
		given: func(b *bundle) { b.matched(); b.leaveMatch("x") },
		do:    func(b *bundle) string { return b.openSeats(2, nil) },
		want: `
			- m m1 = complete|#1001011|#0|duel|#1001010|@3601001|play=rm1|x;y|x
			+ m m1 = complete|#1001012|#0|duel|#1001010|@3601001|play=rm1|y||||||2||0
			+ op:duel m1 = 2
			= open 2, taken 0 in duel
		`,
		again: `= open 2, taken 0 in duel`,
	},
	{
		name: "a call that comes after a seat was taken", script: "open_seats",
		given: func(b *bundle) {
			b.matched()
			b.openSeats(1, nil)
			b.waiting(0, pairs, "z")
			b.form(0, pairs, 1)
		},
		do:    func(b *bundle) string { none := 0; return b.openSeats(1, &none) },
		want:  `= open 0, taken 1 in duel`,
		again: `= open 0, taken 1 in duel`,
	},
	{
		name: "the seats are closed", script: "open_seats",
		given: func(b *bundle) { b.matched(); b.openSeats(1, nil) },
		do:    func(b *bundle) string { return b.openSeats(0, nil) },
		want: `
			- m m1 = complete|#1001011|#0|duel|#1001010|@3601001|play=rm1|x;y||||||1||0
			- op:duel m1 = 1
			+ m m1 = complete|#1001012|#0|duel|#1001010|@3601001|play=rm1|x;y||||||0||0
			= open 0, taken 0 in duel
		`,
		again: `= open 0, taken 0 in duel`,
	},
	{
		name: "a room has no more than its size", script: "open_seats",
		given: (*bundle).seated,
		do:    func(b *bundle) string { return b.openSeats(9, nil) },
		want:  `= open 1, taken 1 in room`,
		again: `= open 1, taken 1 in room`,
	},
	{
		name: "of a match that does not stand", script: "open_seats",
		given: func(b *bundle) { b.proposed(check2) },
		do:    func(b *bundle) string { return b.openSeats(1, nil) },
		want:  `= no such match`,
		again: `= no such match`,
	},
	{
		name: "open seats come before new matches", script: "find_opponent",
		given: func(b *bundle) { b.matched(); b.openSeats(1, nil); b.waiting(1, pairs, "z", "u", "v") },
		do:    func(b *bundle) string { return said(b.form(0, pairs, 2), nil) },
		want: `
			- m m1 = complete|#1001011|#0|duel|#1001010|@3601001|play=rm1|x;y||||||1||0
			- op:duel m1 = 1
			- pl u = #1001016||||duel=#1001016,1,~k,f,,
			- pl v = #1001017||||duel=#1001017,1,~k,f,,
			- pl z = #1001015||||duel=#1001015,1,~k,f,,
			- pub a = 2
			- pub b = 1
			- q:duel:1 z = #1001015
			- q:duel:1 u = #1001016
			- q:duel:1 v = #1001017
			- ws:duel open = 1
			- ws:duel total = 1
			- ws:duel waits = 30000000,1,0,0,0
			+ m m1 = complete|#1001020|#0|duel|#1001010|@3601001|play=rm1|x;y;z||||||0||1
			+ m m2 = complete|#1001019|#0|duel|#1001019|@3601001|play=rm2|u;v|
			+ mx m2 = @3601001
			+ pl u = #1001019|m2|@3601001||
			+ pl v = #1001019|m2|@3601001||
			+ pl z = #1001018|m1|@3601001||
			+ pub a = 3
			+ pub b = 2
			+ st event=match_complete match=m2 record=complete|#1001019|#0|duel|#1001019|@3601001|play=rm2|u;v|
			+ ws:duel open = 2
			+ ws:duel total = 2
			+ ws:duel waits = 30000000,2,0,0,0
			a told 3: match m1
			= {Matches:1 Players:3 Parked:0 WaitSum:0s More:false After: OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
	},
	{
		name: "who met lately is not put back together", script: "find_opponent",
		given: func(b *bundle) {
			b.waiting(0, apart, "x", "y")
			b.form(0, apart, 1)
			b.leaveMatch("x")
			b.openSeats(1, nil)
			b.join(0, apart, b.who["x"])
		},
		do:    func(b *bundle) string { return said(b.form(0, apart, 1), nil) },
		want:  `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
	},
	{
		name: "open seats of a group", script: "extract_group",
		given: func(b *bundle) {
			b.waiting(0, trio, "x", "y", "w")
			b.form(0, trio, 1)
			b.openSeats(1, nil)
			b.waiting(1, trio, "z")
		},
		do: func(b *bundle) string { return said(b.form(0, trio, 1), nil) },
		want: `
			- m m1 = complete|#1001013|#0|trio|#1001012|@3601001|play=rm1|x;y;w||||||1||0
			- op:trio m1 = 1
			- pl z = #1001015||||trio=#1001015,1,~k,f,,
			- pub a = 2
			- pub b = 1
			- q:trio:1 z = #1001015
			+ m m1 = complete|#1001017|#0|trio|#1001012|@3601001|play=rm1|x;y;w;z||||||0||1
			+ pl z = #1001016|m1|@3601001||
			+ pub a = 3
			+ pub b = 2
			a told 3: match m1
			= {Matches:0 Players:1 Parked:0 WaitSum:0s More:false After: OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
	},
	{
		name: "who left since is not given back, and a match that all have left is over", script: "restore_matches",
		given: func(b *bundle) {
			b.waiting(0, pairs, "x", "y")
			b.form(0, pairs, 1)
			kept := ArchivedMatch{"m1", b.raw("m", "m1")}
			as := []Assertion{}
			for _, p := range []ident.Player{"x", "y"} {
				as = append(as, Assertion{Session: b.who[p], AsOf: ident.Place(b.now + 99), Record: b.raw("pl", string(p)), Match: kept.Text})
			}
			b.lose()
			b.step(time.Second)
			if _, err := b.stores[0].AssertState(b.ctx, b.openEpoch().Number, as); err != nil {
				b.Fatal(err)
			}
			b.leaveMatch("x")
			b.leaveMatch("y")
			b.kept = kept
		},
		do:    func(b *bundle) string { return said(b.stores[0].RestoreMatches(b.ctx, []ArchivedMatch{b.kept})) },
		want:  `= 0`,
		again: `= 0`,
	},
	{
		name: "what the durable record has and nobody asserted is there again", script: "restore_matches",
		given: func(b *bundle) {
			b.arrive(0, "x")
			b.lose()
			b.openEpoch()
			b.step(testRecovery + time.Millisecond)
			b.renew()
		},
		do: func(b *bundle) string {
			text := fmt.Sprintf("complete|%d|1|room|%d|%d|play=r|x;y||||||1|3600000,0,0,0,3,60000,0,0|1", testStart+9, testStart+5, testStart/1000+3600000)
			return said(b.stores[0].RestoreMatches(b.ctx, []ArchivedMatch{{"m7", text}}))
		},
		want: `
			+ aw x = @1202002
			+ aw y = @1202002
			+ kp x = @302002
			+ kp y = @302002
			+ m m7 = complete|#9|1|room|#5|@3600000|play=r|x;y||||||1|3600000,0,0,0,3,60000,0,0|1
			+ mx m7 = @3600000
			+ op:room m7 = 1
			+ pl x = #5|m7|@3600000|t|
			+ pl y = #5|m7|@3600000|t|
			+ ws:room open = 1
			= 1
		`,
		again: `= 0`,
	},
}

func (b *bundle) leaveMatch(p ident.Player) {
	b.Helper()
	_, err := b.stores[0].LeaveMatch(b.ctx, b.who[p], "m1")
	b.wantErr("leave the match", err, nil)
}
