package store

import (
	"time"
)

var sweepRules = []rule{
	{
		name: "a quiet realm", script: "sweep",
		do: sweepOnce, want: `
			+ meta swept = @1001|0
			+ wt apart = @1001
			+ wt duel = @1001
			+ wt trio = @1001
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}
		`,
		again: `= {Done:false More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "a world whose tick is over and whose queue has enough is due", script: "sweep",
		given: func(b *bundle) { b.waiting(0, pairs, "x", "y"); b.waiting(0, trio, "z") },
		do:    sweepOnce, want: `
			+ meta swept = @1001|0
			+ wt apart = @1001
			+ wt duel = @1001
			+ wt trio = @1001
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[duel]}
		`,
		again: `= {Done:false More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "a silent instance's players are parked, and it is forgotten", script: "sweep",
		given: func(b *bundle) {
			b.waiting(1, trio, "x")
			b.arrive(1, "idle")
			b.step(4 * time.Second)
			b.touch()
			b.renewOnly(0)
		},
		do: sweepOnce, want: `
			- ins b = @4001
			- ip:b idle
			- ip:b x
			- pr:idle(10 min) L|#0|b|#1001005
			- pr:x(10 min) L|#0|b|#1001003
			- pub b = 1
			- q:trio:1 x = #1001004
			+ aw x = @905001
			+ meta sweep_from = silent
			+ meta swept = @5001|1
			+ pr:idle(25 min) A|#0|b|#1001005
			+ pr:x(25 min) A|#0|b|#1001003
			+ wt apart = @5001
			+ wt duel = @5001
			+ wt trio = @5001
			= {Done:true More:true Parked:1 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}
		`,
		again: `
			- meta sweep_from = silent
			- meta swept = @5001|1
			+ meta swept = @5001|0
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}
		`,
	},
	{
		name: "who was away too long is gone and told", script: "sweep",
		given: func(b *bundle) {
			b.waiting(0, trio, "x", "y")
			b.join(0, pairs, b.who["x"])
			b.depart("x")
			b.step(testGrace)
			b.touch()
			b.renew()
		},
		do: sweepOnce, want: `
			- aw x = @361001
			- pl x = #1001007||||trio=#1001005,1,~k,f,,;duel=#1001007,1,~k,f,,
			- pr:x(10 min) A|#0|a|#1001003
			+ meta swept = @361001|0
			+ no:x(1440 min) #361001003|dequeued|duel|duel.#1001007|presence_lost|@361001
			+ no:x(1440 min) #361001001|dequeued|trio|trio.#1001005|presence_lost|@361001
			+ wt apart = @361001
			+ wt duel = @361001
			+ wt trio = @361001
			= {Done:true More:false Parked:0 Gone:1 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}
		`,
		again: `= {Done:false More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "who came back by heartbeats is not", script: "sweep",
		given: func(b *bundle) {
			b.waiting(0, trio, "x")
			b.depart("x")
			b.step(testGrace - time.Second)
			b.touch()
			saidHeartbeat(b, "x")
			b.step(time.Minute)
			b.touch()
			b.renew()
		},
		do: sweepOnce, want: `
			+ meta swept = @420001|0
			+ wt apart = @420001
			+ wt duel = @420001
			+ wt trio = @420001
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}
		`,
		again: `= {Done:false More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "a match whose time has passed ends", script: "sweep",
		given: func(b *bundle) {
			b.matched()
			b.arrive(1, "y")
			b.step(testHold)
			b.touch()
			b.renew()
			b.arrive(1, "y")
		},
		do: sweepOnce,
		want: `
			- m m1 = complete|#1001007|#0|duel|#1001007|@3601001|play=rm1|x;y|
			- mx m1 = @3601001
			- pl x = #1001007|m1|@3601001||
			- pl y = #1001007|m1|@3601001||
			- ws:duel open = 1
			+ meta swept = @3601001|0
			+ no:x(1440 min) #3601001002|match_ended|duel|m1|expired|@3601001
			+ no:y(1440 min) #3601001004|match_ended|duel|m1|expired|@3601001
			+ pub b = 1
			+ st event=match_ended match=m1 reason=expired record=complete|#3601001004|#0|duel|#1001007|@3601001|play=rm1|x;y|
			+ ws:duel open = 0
			+ wt apart = @3601001
			+ wt duel = @3601001
			+ wt trio = @3601001
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:1 TicketsExpired:0 SeatsReleased:0 Due:[]}
		`,
		again: `= {Done:false More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "a ticket older than its world allows expires", script: "sweep",
		given: func(b *bundle) {
			b.waiting(0, trio, "x")
			b.step(2*time.Hour + time.Second)
			b.touch()
			b.renew()
			b.waiting(0, trio, "young")
			b.arrive(0, "x")
		},
		do: sweepOnce, want: `
			- pl x = #1001004||||trio=#1001004,1,~k,f,,
			- pub a = 2
			- q:trio:1 x = #1001004
			+ meta swept = @7202001|0
			+ no:x(1440 min) #7202001004|dequeued|trio|trio.#1001004|expired|@7202001
			+ pub a = 3
			+ wt apart = @7202001
			+ wt duel = @7202001
			+ wt trio = @7202001
			a told 3: x/#7202001002 #7202001003|||| #7202001004|dequeued|trio|trio.#1001004|expired|@7202001
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:1 SeatsReleased:0 Due:[]}
		`,
		again: `= {Done:false More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "nothing ends while it is calm", script: "sweep",
		given: func(b *bundle) { b.matched(); b.waiting(0, trio, "z"); b.step(3 * time.Hour) },
		do:    sweepOnce, want: `
			- meta calm_until = 0
			+ meta calm_until = @11401001
			+ meta swept = @10801001|0
			+ wt apart = @10801001
			+ wt duel = @10801001
			+ wt trio = @10801001
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}
		`,
		again: `= {Done:false More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "what waits in a closed world ends", script: "sweep",
		given: func(b *bundle) { b.waiting(0, trio, "x"); b.closeWorld("trio") },
		do:    sweepOnce, want: `
			- pl x = #1001004||||trio=#1001004,1,~k,f,,
			- pub a = 1
			- q:trio:1 x = #1001004
			+ kp x = @301001
			+ meta swept = @1001|0
			+ no:x(1440 min) #1001007|dequeued|trio|trio.#1001004|world_closed|@1001
			+ pl x = #1001006||||
			+ pub a = 2
			+ wt apart = @1001
			+ wt duel = @1001
			a told 2: x/#1001003 #1001006|||| #1001007|dequeued|trio|trio.#1001004|world_closed|@1001
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}
		`,
		again: `= {Done:false More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "a world on its way out is forgotten when it is empty", script: "sweep",
		given: func(b *bundle) { b.matched(); b.waiting(0, trio, "z"); b.declare(trio, apart) },
		do:    sweepOnce,
		want: `
			- w duel = #1001010|closing|
			- wc duel = {}
			+ meta swept = @1001|0
			+ wt apart = @1001
			+ wt trio = @1001
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}
		`,
		again: `= {Done:false More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "an ended ticket is forgotten after five minutes", script: "sweep",
		given: func(b *bundle) {
			b.arrive(0, "x")
			b.joinAs(trio, b.joinOf("x", "key", "f"))
			b.leave("x")
			b.step(5 * time.Minute)
			b.touch()
			b.renew()
		},
		do: sweepOnce, want: `
			- kp x = @301001
			- pl x = #1001005||||trio=#1001004,1,key,f:1,@1001,
			+ meta swept = @301001|0
			+ wt apart = @301001
			+ wt duel = @301001
			+ wt trio = @301001
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}
		`,
		again: `= {Done:false More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
}
