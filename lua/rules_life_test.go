package lua

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/musterhq/muster/internal/ident"
)

// proposed has two players of a world, on two instances, asked whether they are there; x waits in trio too.
func (b *bundle) proposed(w WorldRules) {
	b.Helper()
	b.waiting(0, w, "x")
	b.waiting(1, w, "y")
	b.join(0, trio, b.who["x"])
	b.form(0, w, 1)
}

// allocating has them accept, and wait for a server.
func (b *bundle) allocating() {
	b.Helper()
	b.proposed(server)
	b.accept("x")
	b.accept("y")
}

func (b *bundle) accept(p ident.Player) string {
	b.Helper()
	return said(b.stores[b.instanceOf(p)].AcceptMatch(b.ctx, b.who[p], "m1"))
}

func (b *bundle) decline(p ident.Player) string {
	b.Helper()
	return said("declined", b.stores[b.instanceOf(p)].DeclineMatch(b.ctx, b.who[p], "m1"))
}

func (b *bundle) instanceOf(p ident.Player) int {
	if p == "y" {
		return 1
	}
	return 0
}

func (b *bundle) show(players ...ident.Player) string {
	b.Helper()
	var shown []Shown
	for _, p := range players {
		shown = append(shown, Shown{p, "m1"})
	}
	return said("", b.stores[0].ShowMatches(b.ctx, shown))
}

func (b *bundle) claimServers() string {
	b.Helper()
	claimed, err := b.stores[0].ClaimAllocations(b.ctx, 10, time.Minute)
	text := "claimed"
	for _, a := range claimed {
		text += fmt.Sprintf(" %s attempt %d", a.Match.ID, a.Attempt)
	}
	return said(text, err)
}

var lifeRules = []rule{
	{
		name: "players of a world with a ready check are asked; their tickets keep their places", script: "extract_group",
		given: func(b *bundle) { b.waiting(0, check2, "x"); b.waiting(1, check2, "y"); b.join(0, trio, b.who["x"]) },
		do:    func(b *bundle) string { return said(b.form(0, check2, 1), nil) },
		want: `
			- pl x = #1001010||||check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001009||||check=#1001009,1,~k,f,,
			- pub a = 2
			- pub b = 1
			- q:check:1 x = #1001007
			- q:check:1 y = #1001009
			- q:trio:1 x = #1001010
			+ m m1 = proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			+ mx m1 = @61001
			+ pl x = #1001012|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			+ pl y = #1001013|m1|@61001|h|check=#1001009,1,~k,f,,
			+ pub a = 3
			+ pub b = 2
			a told 3: match m1 x/#1001006 #1001012|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			= {Matches:1 Players:2 Parked:0 WaitSum:0s More:false After:0 OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After:0 OpensIn:0s}`,
	},
	{
		name: "a world without one whose matches need a server", script: "extract_group",
		given: func(b *bundle) { b.waiting(0, server, "x", "y") },
		do: func(b *bundle) string {
			w := server
			w.ReadyCheck = 0
			return said(b.form(0, w, 1), nil)
		},
		want: `
			- pl x = #1001008||||server=#1001008,1,~k,f,,
			- pl y = #1001009||||server=#1001009,1,~k,f,,
			- pub a = 1
			- q:server:1 x = #1001008
			- q:server:1 y = #1001009
			+ al m1 = @1001
			+ m m1 = allocating|#1001010|#0|server|#1001010|@601001|play=rm1|x;y|||||||3600000,0,600000,1,0,0,0,0|
			+ mx m1 = @601001
			+ pl x = #1001011|m1|@601001|h|server=#1001008,1,~k,f,,
			+ pl y = #1001012|m1|@601001|h|server=#1001009,1,~k,f,,
			+ pub a = 2
			a told 2: match m1 x/#1001006 #1001011|m1|@601001|h|server=#1001008,1,~k,f,, y/#1001007 #1001012|m1|@601001|h|server=#1001009,1,~k,f,,
			= {Matches:1 Players:2 Parked:0 WaitSum:0s More:false After:0 OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After:0 OpensIn:0s}`,
	},
	{
		name: "nobody joins out of a match that is proposed", script: "find_opponent",
		given: func(b *bundle) { b.proposed(check2) },
		do:    func(b *bundle) string { return b.joinAs(pairs, b.joinOf("x", "k", "f")) },
		want:  `= in match m1`,
		again: `= in match m1`,
	},
	{
		name: "the first accepts", script: "accept_match",
		given: func(b *bundle) { b.proposed(check2) },
		do:    func(b *bundle) string { return b.accept("x") },
		want: `
			- m m1 = proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			- pub a = 3
			- pub b = 2
			+ m m1 = proposed|#1001014|#0|check|#1001011|@61001|play=rm1|x;y||@61001|x|x|||3600000,60000,600000,0,0,0,0,0|
			+ pub a = 4
			+ pub b = 3
			a told 4: match m1
			= proposed
		`,
		again: `= proposed`,
	},
	{
		name: "with the last the match stands", script: "accept_match",
		given: func(b *bundle) { b.proposed(check2); b.accept("x") },
		do:    func(b *bundle) string { return b.accept("y") },
		want: `
			- m m1 = proposed|#1001014|#0|check|#1001011|@61001|play=rm1|x;y||@61001|x|x|||3600000,60000,600000,0,0,0,0,0|
			- mx m1 = @61001
			- pl x = #1001012|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001013|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub a = 4
			- pub b = 3
			+ m m1 = complete|#1001017|#0|check|#1001011|@3601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,0,0,0,0,0|
			+ mx m1 = @3601001
			+ pl x = #1001015|m1|@3601001||
			+ pl y = #1001016|m1|@3601001||
			+ pub a = 5
			+ pub b = 4
			+ st event=match_complete match=m1 record=complete|#1001017|#0|check|#1001011|@3601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,0,0,0,0,0|
			+ ws:check b0 = 30000000,1,0
			+ ws:check mean = 0,@1001
			+ ws:check open = 1
			+ ws:check total = 1
			b told 4: match m1 y/#1001008 #1001016|m1|@3601001||
			= complete
		`,
		again: `= no such match`,
	},
	{
		name: "with the last a server is asked for", script: "accept_match",
		given: func(b *bundle) { b.proposed(server); b.accept("x") },
		do:    func(b *bundle) string { return b.accept("y") },
		want: `
			- m m1 = proposed|#1001014|#0|server|#1001011|@61001|play=rm1|x;y||@61001|x|x|||3600000,60000,600000,1,0,0,0,0|
			- mx m1 = @61001
			- pub a = 4
			- pub b = 3
			+ al m1 = @1001
			+ m m1 = allocating|#1001015|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			+ mx m1 = @601001
			+ pub a = 5
			+ pub b = 4
			b told 4: match m1
			= allocating
		`,
		again: `= allocating`,
	},
	{
		name: "too late", script: "accept_match",
		given: func(b *bundle) { b.proposed(check2); b.step(time.Minute); b.touch() },
		do:    func(b *bundle) string { return b.accept("x") },
		want:  `= no such match`,
		again: `= no such match`,
	},
	{
		name: "late, but Redis was away", script: "accept_match",
		given: func(b *bundle) { b.proposed(check2); b.step(time.Minute) },
		do:    func(b *bundle) string { return b.accept("x") },
		want: `
			- m m1 = proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			- meta calm_until = 0
			- pub a = 3
			- pub b = 2
			+ m m1 = proposed|#61001000|#0|check|#1001011|@61001|play=rm1|x;y||@61001|x|x|||3600000,60000,600000,0,0,0,0,0|
			+ meta calm_until = @661001
			+ pub a = 4
			+ pub b = 3
			a told 4: match m1
			= proposed
		`,
		again: `= proposed`,
	},
	{
		name: "of another", script: "accept_match",
		given: func(b *bundle) { b.proposed(check2); b.waiting(0, trio, "z") },
		do:    func(b *bundle) string { return b.accept("z") },
		want:  `= no such match`,
		again: `= no such match`,
	},
	{
		name: "by a session that was taken over", script: "accept_match",
		given: func(b *bundle) { b.proposed(check2); old := b.who["x"]; b.arrive(1, "x"); b.who["x"] = old },
		do:    func(b *bundle) string { return b.accept("x") },
		want:  `= replaced by a newer session`,
		again: `= replaced by a newer session`,
	},
	{
		name: "who declines is out; the other is back at its place", script: "decline_match",
		given: func(b *bundle) { b.proposed(check2); b.accept("y") },
		do:    func(b *bundle) string { return b.decline("x") },
		want: `
			- m m1 = proposed|#1001014|#0|check|#1001011|@61001|play=rm1|x;y||@61001|y|y|||3600000,60000,600000,0,0,0,0,0|
			- mx m1 = @61001
			- pl x = #1001012|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001013|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub a = 4
			- pub b = 3
			+ dc:check,x(10 min) @601001
			+ kp x = @301001
			+ no:x(1440 min) #1001020|dequeued|trio|trio.#1001010|declined|@1001
			+ no:x(1440 min) #1001018|dequeued|check|check.#1001007|declined|@1001
			+ no:x(1440 min) #1001016|match_cancelled|check|m1|declined|@1001
			+ no:y(1440 min) #1001022|match_cancelled|check|m1|declined|@1001
			+ pl x = #1001019||||
			+ pl y = #1001021||||check=#1001009,1,~k,f,,
			+ pub a = 5
			+ pub b = 4
			+ q:check:1 y = #1001009
			+ st event=match_cancelled match=m1 reason=declined record=proposed|#1001022|#0|check|#1001011|@61001|play=rm1|x;y||@61001|y|y|||3600000,60000,600000,0,0,0,0,0|
			a told 5: x/#1001006 #1001015||||check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,, #1001016|match_cancelled|check|m1|declined|@1001 x/#1001006 #1001017|||| #1001018|dequeued|check|check.#1001007|declined|@1001 x/#1001006 #1001019|||| #1001020|dequeued|trio|trio.#1001010|declined|@1001
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
			- pl x = #1001012|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001013|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub a = 3
			- pub b = 2
			+ dc:check,y(10 min) @601001
			+ kp y = @301001
			+ no:x(1440 min) #1001015|match_cancelled|check|m1|declined|@1001
			+ no:y(1440 min) #1001019|dequeued|check|check.#1001009|declined|@1001
			+ no:y(1440 min) #1001017|match_cancelled|check|m1|declined|@1001
			+ pl x = #1001014||||check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			+ pl y = #1001018||||
			+ pub a = 4
			+ pub b = 3
			+ q:check:1 x = #1001007
			+ q:trio:1 x = #1001010
			+ st event=match_cancelled match=m1 reason=declined record=proposed|#1001019|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			b told 3: y/#1001008 #1001016||||check=#1001009,1,~k,f,, #1001017|match_cancelled|check|m1|declined|@1001 y/#1001008 #1001018|||| #1001019|dequeued|check|check.#1001009|declined|@1001
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
			- pl x = #1001012|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001013|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub b = 2
			+ dc:check,y(10 min) @601001
			+ kp y = @301001
			+ no:x(1440 min) #1001015|match_cancelled|check|m1|declined|@1001
			+ no:y(1440 min) #1001019|dequeued|check|check.#1001009|declined|@1001
			+ no:y(1440 min) #1001017|match_cancelled|check|m1|declined|@1001
			+ pl x = #1001014||||check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			+ pl y = #1001018||||
			+ pub b = 3
			+ st event=match_cancelled match=m1 reason=declined record=proposed|#1001019|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			b told 3: y/#1001008 #1001016||||check=#1001009,1,~k,f,, #1001017|match_cancelled|check|m1|declined|@1001 y/#1001008 #1001018|||| #1001019|dequeued|check|check.#1001009|declined|@1001
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
		name: "who declined may not come back at once", script: "extract_group",
		given: func(b *bundle) { b.proposed(check2); b.decline("x"); b.step(time.Second) },
		do:    func(b *bundle) string { return b.joinAs(check2, b.joinOf("x", "k", "f")) },
		want:  `= cooled down for 9m59s`,
		again: `= cooled down for 9m59s`,
	},
	{
		name: "after a while it may", script: "extract_group",
		given: func(b *bundle) {
			b.proposed(check2)
			b.decline("x")
			for range 5 {
				b.step(2 * time.Minute)
				b.touch()
				b.renew()
			}
			b.arrive(0, "x")
			b.arrive(1, "y")
		},
		do: func(b *bundle) string { return b.joinAs(check2, b.joinOf("x", "k", "f")) },
		want: `
			- pl x = #1001018||||
			- pub a = 4
			+ pl x = #601001002||||check=#601001002,1,k,f:2,,
			+ pub a = 5
			+ q:check:1 x = #601001002
			a told 5:
			= place #601001002 repeated false position 2 of 2 record #601001002||||check=#601001002,1,k,f:2,,
		`,
		again: `= place #601001002 repeated true position 2 of 2 record #601001002||||check=#601001002,1,k,f:2,,`,
	},
	{
		name: "to leave while it is proposed is to decline", script: "leave_match",
		given: func(b *bundle) { b.proposed(check2) },
		do:    func(b *bundle) string { return said(b.stores[0].LeaveMatch(b.ctx, b.who["x"], "m1")) },
		want: `
			- m m1 = proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			- mx m1 = @61001
			- pl x = #1001012|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001013|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub a = 3
			- pub b = 2
			+ dc:check,x(10 min) @601001
			+ kp x = @301001
			+ no:x(1440 min) #1001019|dequeued|trio|trio.#1001010|declined|@1001
			+ no:x(1440 min) #1001017|dequeued|check|check.#1001007|declined|@1001
			+ no:x(1440 min) #1001015|match_cancelled|check|m1|declined|@1001
			+ no:y(1440 min) #1001021|match_cancelled|check|m1|declined|@1001
			+ pl x = #1001018||||
			+ pl y = #1001020||||check=#1001009,1,~k,f,,
			+ pub a = 4
			+ pub b = 3
			+ q:check:1 y = #1001009
			+ st event=match_cancelled match=m1 reason=declined record=proposed|#1001021|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			a told 4: x/#1001006 #1001014||||check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,, #1001015|match_cancelled|check|m1|declined|@1001 x/#1001006 #1001016|||| #1001017|dequeued|check|check.#1001007|declined|@1001 x/#1001006 #1001018|||| #1001019|dequeued|trio|trio.#1001010|declined|@1001
		`,
		again: `= no such match`,
	},
	{
		name: "to leave while its server is asked for", script: "leave_match",
		given: (*bundle).allocating,
		do:    func(b *bundle) string { return said(b.stores[0].LeaveMatch(b.ctx, b.who["x"], "m1")) },
		want: `
			- al m1 = @1001
			- m m1 = allocating|#1001015|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			- mx m1 = @601001
			- pl x = #1001012|m1|@61001|h|server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001013|m1|@61001|h|server=#1001009,1,~k,f,,
			- pub a = 5
			- pub b = 4
			+ dc:server,x(10 min) @601001
			+ kp x = @301001
			+ no:x(1440 min) #1001021|dequeued|trio|trio.#1001010|declined|@1001
			+ no:x(1440 min) #1001019|dequeued|server|server.#1001007|declined|@1001
			+ no:x(1440 min) #1001017|match_cancelled|server|m1|left|@1001
			+ no:y(1440 min) #1001023|match_cancelled|server|m1|left|@1001
			+ pl x = #1001020||||
			+ pl y = #1001022||||server=#1001009,1,~k,f,,
			+ pub a = 6
			+ pub b = 5
			+ q:server:1 y = #1001009
			+ st event=match_cancelled match=m1 reason=left record=allocating|#1001023|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			a told 6: x/#1001006 #1001016||||server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,, #1001017|match_cancelled|server|m1|left|@1001 x/#1001006 #1001018|||| #1001019|dequeued|server|server.#1001007|declined|@1001 x/#1001006 #1001020|||| #1001021|dequeued|trio|trio.#1001010|declined|@1001
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
			- pl x = #1001012|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001013|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub a = 3
			- pub b = 2
			+ dc:check,x(10 min) @601001
			+ no:x(1440 min) #1001015|match_cancelled|check|m1|declined|@1001
			+ no:y(1440 min) #1001017|match_cancelled|check|m1|declined|@1001
			+ pl x = #1001014||||trio=#1001010,1,~k,f,,
			+ pl y = #1001016||||check=#1001009,1,~k,f,,
			+ pub a = 4
			+ pub b = 3
			+ q:check:1 y = #1001009
			+ q:trio:1 x = #1001010
			+ st event=match_cancelled match=m1 reason=declined record=proposed|#1001017|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			a told 4: x/#1001006 #1001014||||trio=#1001010,1,~k,f,, #1001015|match_cancelled|check|m1|declined|@1001 x/#1001006 is back from m1 map[trio:{1 1}]
			= left [check], match "", record ""
		`,
		again: `= left [], match "", record "#1001014||||trio=#1001010,1,~k,f,,"`,
	},
	{
		name: "to leave the world of a match that asks for its server", script: "remove_from_queue",
		given: (*bundle).allocating,
		do:    func(b *bundle) string { return b.leave("x") },
		want: `
			- al m1 = @1001
			- m m1 = allocating|#1001015|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			- mx m1 = @601001
			- pl x = #1001012|m1|@61001|h|server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001013|m1|@61001|h|server=#1001009,1,~k,f,,
			- pub a = 5
			- pub b = 4
			+ dc:server,x(10 min) @601001
			+ kp x = @301001
			+ no:x(1440 min) #1001017|match_cancelled|server|m1|left|@1001
			+ no:y(1440 min) #1001019|match_cancelled|server|m1|left|@1001
			+ pl x = #1001016||||
			+ pl y = #1001018||||server=#1001009,1,~k,f,,
			+ pub a = 6
			+ pub b = 5
			+ q:server:1 y = #1001009
			+ st event=match_cancelled match=m1 reason=left record=allocating|#1001019|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			a told 6: x/#1001006 #1001016|||| #1001017|match_cancelled|server|m1|left|@1001
			= left [server trio], match "", record ""
		`,
		again: `= left [], match "", record "#1001016||||"`,
	},
	{
		name: "a ticket elsewhere that is left while it is held does not come back", script: "remove_from_queue",
		given: func(b *bundle) { b.proposed(check2) },
		do:    func(b *bundle) string { return b.leave("x", "trio") },
		want: `
			- pl x = #1001012|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pub a = 3
			+ pl x = #1001014|m1|@61001|h|check=#1001007,1,~k,f,,
			+ pub a = 4
			a told 4:
			= left [trio], match "m1", record "#1001014|m1|@61001|h|check=#1001007,1,~k,f,,"
		`,
		again: `= left [], match "m1", record "#1001014|m1|@61001|h|check=#1001007,1,~k,f,,"`,
	},
	{
		name: "a prompt was shown", script: "show_matches",
		given: func(b *bundle) { b.proposed(check2) },
		do:    func(b *bundle) string { return b.show("x", "y", "z") },
		want: `
			- m m1 = proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			+ m m1 = proposed|#1001015|#0|check|#1001011|@61001|play=rm1|x;y||@61001||x;y|||3600000,60000,600000,0,0,0,0,0|
		`,
		again: ``,
	},
	{
		name: "of a match that stands", script: "show_matches",
		given: func(b *bundle) { b.proposed(check2); b.accept("x"); b.accept("y") },
		do:    func(b *bundle) string { return b.show("x") },
		want:  ``,
		again: ``,
	},
	{
		name: "who was asked and did not answer is out, who was not shown the prompt is back", script: "sweep",
		given: func(b *bundle) { b.proposed(check2); b.show("y"); b.step(time.Minute); b.touch(); b.renew() },
		do:    func(b *bundle) string { return said(b.stores[0].Sweep(b.ctx, time.Second, nil)) },
		want: `
			- m m1 = proposed|#1001014|#0|check|#1001011|@61001|play=rm1|x;y||@61001||y|||3600000,60000,600000,0,0,0,0,0|
			- mx m1 = @61001
			- pl x = #1001012|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001013|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub a = 3
			- pub b = 2
			+ dc:check,y(10 min) @661001
			+ kp y = @361001
			+ meta swept = @61001|0
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
		again: `= {Done:false More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "a prompt that runs out while it is calm stays", script: "sweep",
		given: func(b *bundle) { b.proposed(check2); b.show("y"); b.step(time.Minute) },
		do:    func(b *bundle) string { return said(b.stores[0].Sweep(b.ctx, time.Second, nil)) },
		want: `
			- meta calm_until = 0
			+ meta calm_until = @661001
			+ meta swept = @61001|0
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}
		`,
		again: `= {Done:false More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "a match that never gets its server", script: "sweep",
		given: func(b *bundle) { b.allocating(); b.step(10 * time.Minute); b.touch(); b.renew() },
		do:    func(b *bundle) string { return said(b.stores[0].Sweep(b.ctx, time.Second, nil)) },
		want: `
			- al m1 = @1001
			- m m1 = allocating|#1001015|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			- mx m1 = @601001
			- pl x = #1001012|m1|@61001|h|server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001013|m1|@61001|h|server=#1001009,1,~k,f,,
			+ aw x = @1801001
			+ aw y = @1801001
			+ meta swept = @601001|0
			+ no:x(1440 min) #601001001|match_cancelled|server|m1|allocation_failed|@601001
			+ no:y(1440 min) #601001003|match_cancelled|server|m1|allocation_failed|@601001
			+ pl x = #601001000||||server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			+ pl y = #601001002||||server=#1001009,1,~k,f,,
			+ st event=match_cancelled match=m1 reason=allocation_failed record=allocating|#601001003|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			= {Done:true More:false Parked:0 Gone:0 MatchesExpired:1 TicketsExpired:0 SeatsReleased:0 Due:[]}
		`,
		again: `= {Done:false More:false Parked:0 Gone:0 MatchesExpired:0 TicketsExpired:0 SeatsReleased:0 Due:[]}`,
	},
	{
		name: "a back end ends one that is proposed", script: "end_match",
		given: func(b *bundle) { b.proposed(check2) },
		do:    func(b *bundle) string { return said("ended", b.stores[0].EndMatch(b.ctx, "m1", Ended)) },
		want: `
			- m m1 = proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			- mx m1 = @61001
			- pl x = #1001012|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001013|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub a = 3
			- pub b = 2
			+ no:x(1440 min) #1001015|match_cancelled|check|m1|left|@1001
			+ no:y(1440 min) #1001017|match_cancelled|check|m1|left|@1001
			+ pl x = #1001014||||check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			+ pl y = #1001016||||check=#1001009,1,~k,f,,
			+ pub a = 4
			+ pub b = 3
			+ q:check:1 x = #1001007
			+ q:check:1 y = #1001009
			+ q:trio:1 x = #1001010
			+ st event=match_cancelled match=m1 reason=left record=proposed|#1001017|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			a told 4: x/#1001006 #1001014||||check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,, #1001015|match_cancelled|check|m1|left|@1001 x/#1001006 is back from m1 map[check:{1 2} trio:{1 1}]
			= ended
		`,
		again: `= no such match`,
	},
	{
		name: "who returns while it is proposed does not queue", script: "arrive",
		given: func(b *bundle) { b.proposed(check2); b.depart("x") },
		do:    func(b *bundle) string { return saidStates(b.stores[0].Arrive(b.ctx, []Session{{Player: "x"}})) },
		want: `
			- aw x = @361001
			- pr:x(16 min) A|#0|a|#1001006
			+ ip:a x
			+ pr:x(10 min) L|#0|a|#1001014
			= x/#1001014 as of #1001014: record "#1001012|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,", match "proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|", ranks map[check:{1 0} trio:{1 0}]
		`,
		again: `
			- pr:x(10 min) L|#0|a|#1001014
			- pub a = 3
			+ pr:x(10 min) L|#0|a|#1001015
			+ pub a = 4
			a told 4: x replaced by #1001015
			= x/#1001015 as of #1001015: record "#1001012|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,", match "proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|", ranks map[check:{1 0} trio:{1 0}]
		`,
	},
	{
		name: "a match is claimed until its lease is over", script: "claim_allocations",
		given: (*bundle).allocating,
		do:    (*bundle).claimServers,
		want: `
			- al m1 = @1001
			+ al m1 = @61001
			+ an m1 = 1
			= claimed m1 attempt 1
		`,
		again: `= claimed`,
	},
	{
		name: "who claimed it died", script: "claim_allocations",
		given: func(b *bundle) { b.allocating(); b.claimServers(); b.step(time.Minute) },
		do:    (*bundle).claimServers,
		want: `
			- al m1 = @61001
			- an m1 = 1
			- meta calm_until = 0
			+ al m1 = @121001
			+ an m1 = 2
			+ meta calm_until = @661001
			= claimed m1 attempt 2
		`,
		again: `= claimed`,
	},
	{
		name: "it has its server", script: "settle_allocation",
		given: func(b *bundle) { b.allocating(); b.claimServers() },
		do: func(b *bundle) string {
			return said("done", b.stores[0].CompleteAllocation(b.ctx, "m1", 1, json.RawMessage(`{"a":"b|c;d"}`)))
		},
		want: `
			- al m1 = @61001
			- an m1 = 1
			- m m1 = allocating|#1001015|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			- mx m1 = @601001
			- pl x = #1001012|m1|@61001|h|server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001013|m1|@61001|h|server=#1001009,1,~k,f,,
			- pub a = 5
			- pub b = 4
			+ m m1 = complete|#1001018|#0|server|#1001011|@3601001|play=rm1|x;y||@61001|x;y|x;y|eyJhIjoiYnxjO2QifQ||3600000,60000,600000,1,0,0,0,0|
			+ mx m1 = @3601001
			+ pl x = #1001016|m1|@3601001||
			+ pl y = #1001017|m1|@3601001||
			+ pub a = 6
			+ pub b = 5
			+ st event=match_complete match=m1 record=complete|#1001018|#0|server|#1001011|@3601001|play=rm1|x;y||@61001|x;y|x;y|eyJhIjoiYnxjO2QifQ||3600000,60000,600000,1,0,0,0,0|
			+ ws:server b0 = 30000000,1,0
			+ ws:server mean = 0,@1001
			+ ws:server open = 1
			+ ws:server total = 1
			a told 6: match m1 x/#1001006 #1001016|m1|@3601001||
			= done
		`,
		again: `= no such match`,
	},
	{
		name: "by an attempt that was taken over", script: "settle_allocation",
		given: func(b *bundle) { b.allocating(); b.claimServers(); b.step(time.Minute); b.claimServers() },
		do: func(b *bundle) string {
			return said("done", b.stores[0].CompleteAllocation(b.ctx, "m1", 1, json.RawMessage(`"late"`)))
		},
		want:  `= no such match`,
		again: `= no such match`,
	},
	{
		name: "again later", script: "settle_allocation",
		given: func(b *bundle) { b.allocating(); b.claimServers() },
		do:    func(b *bundle) string { return said("done", b.stores[0].RetryAllocation(b.ctx, "m1", 1, time.Second)) },
		want: `
			- al m1 = @61001
			+ al m1 = @2001
			= done
		`,
		again: `= done`,
	},
	{
		name: "no server: all are back", script: "settle_allocation",
		given: func(b *bundle) { b.allocating(); b.claimServers() },
		do:    func(b *bundle) string { return said("done", b.stores[0].FailAllocation(b.ctx, "m1", 1)) },
		want: `
			- al m1 = @61001
			- an m1 = 1
			- m m1 = allocating|#1001015|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			- mx m1 = @601001
			- pl x = #1001012|m1|@61001|h|server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001013|m1|@61001|h|server=#1001009,1,~k,f,,
			- pub a = 5
			- pub b = 4
			+ af:server(1 min) 1|@1501
			+ no:x(1440 min) #1001017|match_cancelled|server|m1|allocation_failed|@1001
			+ no:y(1440 min) #1001019|match_cancelled|server|m1|allocation_failed|@1001
			+ pl x = #1001016||||server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			+ pl y = #1001018||||server=#1001009,1,~k,f,,
			+ pub a = 6
			+ pub b = 5
			+ q:server:1 x = #1001007
			+ q:server:1 y = #1001009
			+ q:trio:1 x = #1001010
			+ st event=match_cancelled match=m1 reason=allocation_failed record=allocating|#1001019|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			a told 6: x/#1001006 #1001016||||server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,, #1001017|match_cancelled|server|m1|allocation_failed|@1001 x/#1001006 is back from m1 map[server:{1 2} trio:{1 1}]
			= done
		`,
		again: `= no such match`,
	},
	{
		name: "no more matches than a second may have", script: "extract_group",
		given: func(b *bundle) { b.waiting(0, pairs, "p", "q", "r", "s"); b.waiting(0, trio, players("t", 9)...) },
		do: func(b *bundle) string {
			w := trio
			w.MatchesPerSecond = 2
			return said(b.form(0, w, 3), nil)
		},
		want: `
			- pl t0000 = #1001023||||trio=#1001023,1,~k,f,,
			- pl t0001 = #1001024||||trio=#1001024,1,~k,f,,
			- pl t0002 = #1001025||||trio=#1001025,1,~k,f,,
			- pl t0003 = #1001026||||trio=#1001026,1,~k,f,,
			- pl t0004 = #1001027||||trio=#1001027,1,~k,f,,
			- pl t0005 = #1001028||||trio=#1001028,1,~k,f,,
			- pub a = 2
			- q:trio:1 t0000 = #1001023
			- q:trio:1 t0001 = #1001024
			- q:trio:1 t0002 = #1001025
			- q:trio:1 t0003 = #1001026
			- q:trio:1 t0004 = #1001027
			- q:trio:1 t0005 = #1001028
			+ m m1 = complete|#1001032|#0|trio|#1001032|@3601001|play=rm1|t0000;t0001;t0002|
			+ m m2 = complete|#1001036|#0|trio|#1001036|@3601001|play=rm2|t0003;t0004;t0005|
			+ mr:trio(0 min) 18000000010:2
			+ mx m1 = @3601001
			+ mx m2 = @3601001
			+ pl t0000 = #1001033|m1|@3601001||
			+ pl t0001 = #1001034|m1|@3601001||
			+ pl t0002 = #1001035|m1|@3601001||
			+ pl t0003 = #1001037|m2|@3601001||
			+ pl t0004 = #1001038|m2|@3601001||
			+ pl t0005 = #1001039|m2|@3601001||
			+ pub a = 3
			+ st event=match_complete match=m1 record=complete|#1001032|#0|trio|#1001032|@3601001|play=rm1|t0000;t0001;t0002|
			+ st event=match_complete match=m2 record=complete|#1001036|#0|trio|#1001036|@3601001|play=rm2|t0003;t0004;t0005|
			+ ws:trio b0 = 30000000,2,0
			+ ws:trio mean = 0,@1001
			+ ws:trio open = 2
			+ ws:trio total = 2
			a told 3: match m1 match m2 t0000/#1001014 #1001033|m1|@3601001|| t0001/#1001015 #1001034|m1|@3601001|| t0002/#1001016 #1001035|m1|@3601001|| t0003/#1001017 #1001037|m2|@3601001|| t0004/#1001018 #1001038|m2|@3601001|| t0005/#1001019 #1001039|m2|@3601001||
			= {Matches:2 Players:6 Parked:0 WaitSum:0s More:false After:0 OpensIn:101ms}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After:0 OpensIn:1.1s}`,
	},
}
