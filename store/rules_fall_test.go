package store

import (
	"time"
)

// fallRules are how matches that are held fall through.
var fallRules = []rule{
	{
		name: "who declines is out; the other is back at its place", script: "decline_match",
		given: func(b *bundle) { b.proposed(check2); b.accept("y") },
		do:    func(b *bundle) string { return b.decline("x") },
		want: `
			- m m1 = proposed|#1001012|#0|check|#1001011|@61001|play=rm1|x;y||@61001|y|y|||3600000,60000,600000,0,0,0,0,0|
			- mx m1 = @61001
			- pl x = #1001011|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001011|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub a = 4
			- pub b = 3
			+ dc:check,x(20 min) @601001
			+ kp x = @301001
			+ no:x(1440 min) #1001018|dequeued|trio|trio.#1001010|declined|@1001
			+ no:x(1440 min) #1001016|dequeued|check|check.#1001007|declined|@1001
			+ no:x(1440 min) #1001014|match_cancelled|check|m1|declined|@1001
			+ no:y(1440 min) #1001020|match_cancelled|check|m1|declined|@1001
			+ pl x = #1001017||||
			+ pl y = #1001019||||check=#1001009,1,~k,f,,
			+ pub a = 5
			+ pub b = 4
			+ q:check:1 y = #1001009
			+ st event=match_cancelled match=m1 reason=declined record=proposed|#1001020|#0|check|#1001011|@61001|play=rm1|x;y||@61001|y|y|||3600000,60000,600000,0,0,0,0,0|
			a told 5: x/#1001006 #1001013||||check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,, #1001014|match_cancelled|check|m1|declined|@1001 x/#1001006 #1001015|||| #1001016|dequeued|check|check.#1001007|declined|@1001 x/#1001006 #1001017|||| #1001018|dequeued|trio|trio.#1001010|declined|@1001
			= declined
		`,
		again: `= no such match`,
	},
	{
		name: "the other is back at all its places", script: "decline_match",
		given: func(b *bundle) { b.proposed(check2) },
		do:    func(b *bundle) string { return b.decline("y") },
		want: `
			- m m1 = proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			- mx m1 = @61001
			- pl x = #1001011|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001011|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub a = 3
			- pub b = 2
			+ dc:check,y(20 min) @601001
			+ kp y = @301001
			+ no:x(1440 min) #1001013|match_cancelled|check|m1|declined|@1001
			+ no:y(1440 min) #1001017|dequeued|check|check.#1001009|declined|@1001
			+ no:y(1440 min) #1001015|match_cancelled|check|m1|declined|@1001
			+ pl x = #1001012||||check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			+ pl y = #1001016||||
			+ pub a = 4
			+ pub b = 3
			+ q:check:1 x = #1001007
			+ q:trio:1 x = #1001010
			+ st event=match_cancelled match=m1 reason=declined record=proposed|#1001017|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			b told 3: y/#1001008 #1001014||||check=#1001009,1,~k,f,, #1001015|match_cancelled|check|m1|declined|@1001 y/#1001008 #1001016|||| #1001017|dequeued|check|check.#1001009|declined|@1001
			= declined
		`,
		again: `= no such match`,
	},
	{
		name: "the other is away", script: "decline_match",
		given: func(b *bundle) { b.proposed(check2); b.depart("x") },
		do:    func(b *bundle) string { return b.decline("y") },
		want: `
			- m m1 = proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			- mx m1 = @61001
			- pl x = #1001011|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001011|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub b = 2
			+ dc:check,y(20 min) @601001
			+ kp y = @301001
			+ no:x(1440 min) #1001013|match_cancelled|check|m1|declined|@1001
			+ no:y(1440 min) #1001017|dequeued|check|check.#1001009|declined|@1001
			+ no:y(1440 min) #1001015|match_cancelled|check|m1|declined|@1001
			+ pl x = #1001012||||check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			+ pl y = #1001016||||
			+ pub b = 3
			+ st event=match_cancelled match=m1 reason=declined record=proposed|#1001017|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			b told 3: y/#1001008 #1001014||||check=#1001009,1,~k,f,, #1001015|match_cancelled|check|m1|declined|@1001 y/#1001008 #1001016|||| #1001017|dequeued|check|check.#1001009|declined|@1001
			= declined
		`,
		again: `= no such match`,
	},
	{
		name: "a match that stands", script: "decline_match",
		given: func(b *bundle) { b.proposed(check2); b.accept("x"); b.accept("y") },
		do:    func(b *bundle) string { return b.decline("y") },
		want:  `= no such match`,
		again: `= no such match`,
	},
	{
		name: "to leave while it is proposed is to decline", script: "leave_match",
		given: func(b *bundle) { b.proposed(check2) },
		do:    func(b *bundle) string { return said(b.stores[0].LeaveMatch(b.ctx, b.who["x"], "m1")) },
		want: `
			- m m1 = proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			- mx m1 = @61001
			- pl x = #1001011|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001011|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub a = 3
			- pub b = 2
			+ dc:check,x(20 min) @601001
			+ kp x = @301001
			+ no:x(1440 min) #1001017|dequeued|trio|trio.#1001010|declined|@1001
			+ no:x(1440 min) #1001015|dequeued|check|check.#1001007|declined|@1001
			+ no:x(1440 min) #1001013|match_cancelled|check|m1|declined|@1001
			+ no:y(1440 min) #1001019|match_cancelled|check|m1|declined|@1001
			+ pl x = #1001016||||
			+ pl y = #1001018||||check=#1001009,1,~k,f,,
			+ pub a = 4
			+ pub b = 3
			+ q:check:1 y = #1001009
			+ st event=match_cancelled match=m1 reason=declined record=proposed|#1001019|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			a told 4: x/#1001006 #1001012||||check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,, #1001013|match_cancelled|check|m1|declined|@1001 x/#1001006 #1001014|||| #1001015|dequeued|check|check.#1001007|declined|@1001 x/#1001006 #1001016|||| #1001017|dequeued|trio|trio.#1001010|declined|@1001
		`,
		again: `= no such match`,
	},
	{
		name: "to leave while its server is asked for", script: "leave_match",
		given: (*bundle).allocating,
		do:    func(b *bundle) string { return said(b.stores[0].LeaveMatch(b.ctx, b.who["x"], "m1")) },
		want: `
			- al m1 = @1001
			- m m1 = allocating|#1001013|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			- mx m1 = @601001
			- pl x = #1001011|m1|@61001|h|server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001011|m1|@61001|h|server=#1001009,1,~k,f,,
			- pub a = 5
			- pub b = 4
			+ dc:server,x(20 min) @601001
			+ kp x = @301001
			+ no:x(1440 min) #1001019|dequeued|trio|trio.#1001010|declined|@1001
			+ no:x(1440 min) #1001017|dequeued|server|server.#1001007|declined|@1001
			+ no:x(1440 min) #1001015|match_cancelled|server|m1|left|@1001
			+ no:y(1440 min) #1001021|match_cancelled|server|m1|left|@1001
			+ pl x = #1001018||||
			+ pl y = #1001020||||server=#1001009,1,~k,f,,
			+ pub a = 6
			+ pub b = 5
			+ q:server:1 y = #1001009
			+ st event=match_cancelled match=m1 reason=left record=allocating|#1001021|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			a told 6: x/#1001006 #1001014||||server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,, #1001015|match_cancelled|server|m1|left|@1001 x/#1001006 #1001016|||| #1001017|dequeued|server|server.#1001007|declined|@1001 x/#1001006 #1001018|||| #1001019|dequeued|trio|trio.#1001010|declined|@1001
		`,
		again: `= no such match`,
	},
	{
		name: "to leave the world of a match that is proposed is to decline it, and tickets elsewhere are kept", script: "remove_from_queue",
		given: func(b *bundle) { b.proposed(check2) },
		do:    func(b *bundle) string { return b.leave("x", "check") },
		want: `
			- m m1 = proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			- mx m1 = @61001
			- pl x = #1001011|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001011|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub a = 3
			- pub b = 2
			+ dc:check,x(20 min) @601001
			+ no:x(1440 min) #1001013|match_cancelled|check|m1|declined|@1001
			+ no:y(1440 min) #1001015|match_cancelled|check|m1|declined|@1001
			+ pl x = #1001012||||trio=#1001010,1,~k,f,,
			+ pl y = #1001014||||check=#1001009,1,~k,f,,
			+ pub a = 4
			+ pub b = 3
			+ q:check:1 y = #1001009
			+ q:trio:1 x = #1001010
			+ st event=match_cancelled match=m1 reason=declined record=proposed|#1001015|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			a told 4: x/#1001006 #1001012||||trio=#1001010,1,~k,f,, #1001013|match_cancelled|check|m1|declined|@1001 x/#1001006 is back from m1 map[trio:{1 1}]
			= left [check], match "", record ""
		`,
		again: `= left [], match "", record "#1001012||||trio=#1001010,1,~k,f,,"`,
	},
	{
		name: "to leave the world of a match that asks for its server", script: "remove_from_queue",
		given: (*bundle).allocating,
		do:    func(b *bundle) string { return b.leave("x") },
		want: `
			- al m1 = @1001
			- m m1 = allocating|#1001013|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			- mx m1 = @601001
			- pl x = #1001011|m1|@61001|h|server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001011|m1|@61001|h|server=#1001009,1,~k,f,,
			- pub a = 5
			- pub b = 4
			+ dc:server,x(20 min) @601001
			+ kp x = @301001
			+ no:x(1440 min) #1001015|match_cancelled|server|m1|left|@1001
			+ no:y(1440 min) #1001017|match_cancelled|server|m1|left|@1001
			+ pl x = #1001014||||
			+ pl y = #1001016||||server=#1001009,1,~k,f,,
			+ pub a = 6
			+ pub b = 5
			+ q:server:1 y = #1001009
			+ st event=match_cancelled match=m1 reason=left record=allocating|#1001017|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			a told 6: x/#1001006 #1001014|||| #1001015|match_cancelled|server|m1|left|@1001
			= left [server trio], match "", record ""
		`,
		again: `= left [], match "", record "#1001014||||"`,
	},
	{
		name: "a ticket elsewhere that is left while it is held does not come back", script: "remove_from_queue",
		given: func(b *bundle) { b.proposed(check2) },
		do:    func(b *bundle) string { return b.leave("x", "trio") },
		want: `
			- pl x = #1001011|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pub a = 3
			+ pl x = #1001012|m1|@61001|h|check=#1001007,1,~k,f,,
			+ pub a = 4
			a told 4:
			= left [trio], match "m1", record "#1001012|m1|@61001|h|check=#1001007,1,~k,f,,"
		`,
		again: `= left [], match "m1", record "#1001012|m1|@61001|h|check=#1001007,1,~k,f,,"`,
	},
	{
		name: "who was asked and did not answer is out, who was not shown the prompt is back", script: "sweep",
		given: func(b *bundle) { b.proposed(check2); b.show("y"); b.step(time.Minute); b.touch(); b.renew() },
		do:    func(b *bundle) string { return said(b.stores[0].Sweep(b.ctx, time.Second, nil)) },
		want: `
			- m m1 = proposed|#1001012|#0|check|#1001011|@61001|play=rm1|x;y||@61001||y|||3600000,60000,600000,0,0,0,0,0|
			- mx m1 = @61001
			- pl x = #1001011|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001011|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub a = 3
			- pub b = 2
			+ dc:check,y(20 min) @661001
			+ kp y = @361001
			+ meta swept = @61001|2
			+ no:x(1440 min) #61001001|match_cancelled|check|m1|timeout|@61001
			+ no:y(1440 min) #61001005|dequeued|check|check.#1001009|declined|@61001
			+ no:y(1440 min) #61001003|match_cancelled|check|m1|timeout|@61001
			+ pl x = #61001000||||check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			+ pl y = #61001004||||
			+ pub a = 4
			+ pub b = 3
			+ q:check:1 x = #1001007
			+ q:trio:1 x = #1001010
			+ st event=match_cancelled match=m1 reason=timeout record=proposed|#61001005|#0|check|#1001011|@61001|play=rm1|x;y||@61001||y|||3600000,60000,600000,0,0,0,0,0|
			a told 4: x/#1001006 #61001000||||check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,, #61001001|match_cancelled|check|m1|timeout|@61001 x/#1001006 is back from m1 map[check:{1 1} trio:{1 1}]
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:1 TicketsExpired:0 SeatsReleased:0 Due:[check trio]}
		`,
		again: `= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "a prompt that runs out while it is calm stays", script: "sweep",
		given: func(b *bundle) { b.proposed(check2); b.show("y"); b.step(time.Minute) },
		do:    func(b *bundle) string { return said(b.stores[0].Sweep(b.ctx, time.Second, nil)) },
		want: `
			- meta calm_until = 0
			+ meta calm_until = @661001
			+ meta swept = @61001|2
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}
		`,
		again: `= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "a match that never gets its server", script: "sweep",
		given: func(b *bundle) { b.allocating(); b.step(10 * time.Minute); b.touch(); b.renew() },
		do:    func(b *bundle) string { return said(b.stores[0].Sweep(b.ctx, time.Second, nil)) },
		want: `
			- al m1 = @1001
			- m m1 = allocating|#1001013|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			- mx m1 = @601001
			- pl x = #1001011|m1|@61001|h|server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001011|m1|@61001|h|server=#1001009,1,~k,f,,
			+ aw x = @1801001
			+ aw y = @1801001
			+ meta swept = @601001|2
			+ no:x(1440 min) #601001001|match_cancelled|server|m1|allocation_failed|@601001
			+ no:y(1440 min) #601001003|match_cancelled|server|m1|allocation_failed|@601001
			+ pl x = #601001000||||server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			+ pl y = #601001002||||server=#1001009,1,~k,f,,
			+ st event=match_cancelled match=m1 reason=allocation_failed record=allocating|#601001003|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:1 TicketsExpired:0 SeatsReleased:0 Due:[]}
		`,
		again: `= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "a back end ends one that is proposed", script: "end_match",
		given: func(b *bundle) { b.proposed(check2) },
		do:    func(b *bundle) string { return said("ended", b.stores[0].EndMatch(b.ctx, "m1", Ended)) },
		want: `
			- m m1 = proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			- mx m1 = @61001
			- pl x = #1001011|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001011|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub a = 3
			- pub b = 2
			+ no:x(1440 min) #1001013|match_cancelled|check|m1|left|@1001
			+ no:y(1440 min) #1001015|match_cancelled|check|m1|left|@1001
			+ pl x = #1001012||||check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			+ pl y = #1001014||||check=#1001009,1,~k,f,,
			+ pub a = 4
			+ pub b = 3
			+ q:check:1 x = #1001007
			+ q:check:1 y = #1001009
			+ q:trio:1 x = #1001010
			+ st event=match_cancelled match=m1 reason=left record=proposed|#1001015|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			a told 4: x/#1001006 #1001012||||check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,, #1001013|match_cancelled|check|m1|left|@1001 x/#1001006 is back from m1 map[check:{1 2} trio:{1 1}]
			= ended
		`,
		again: `= no such match`,
	},
}
