package store

import (
	"time"

	"muster/internal/ident"
)

// proposed has two players of a world, on two instances, asked whether they are there; x waits in trio too.
func (b *bundle) proposed(w WorldRules) {
	b.Helper()
	b.waiting(0, w, "x")
	b.waiting(1, w, "y")
	b.join(0, trio, b.who["x"])
	b.form(0, w, 1)
}

func (b *bundle) accept(p ident.Player) string {
	b.Helper()
	return said(b.stores[b.instanceOf(p)].AcceptMatch(b.ctx, b.who[p], "m1"))
}

func (b *bundle) decline(p ident.Player) string {
	b.Helper()
	return said("declined", second(b.stores[b.instanceOf(p)].DeclineMatch(b.ctx, b.who[p], "m1")))
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
		shown = append(shown, Shown{Player: p, Match: "m1"})
	}
	return said("", b.stores[0].ShowMatches(b.ctx, shown))
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
			+ pl x = #1001011|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			+ pl y = #1001011|m1|@61001|h|check=#1001009,1,~k,f,,
			+ pub a = 3
			+ pub b = 2
			a told 3: match m1 x/#1001006 #1001011|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			= {Matches:1 Players:2 Parked:0 WaitSum:0s More:false After: OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
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
			+ pl x = #1001010|m1|@601001|h|server=#1001008,1,~k,f,,
			+ pl y = #1001010|m1|@601001|h|server=#1001009,1,~k,f,,
			+ pub a = 2
			a told 2: match m1 x/#1001006 #1001010|m1|@601001|h|server=#1001008,1,~k,f,, y/#1001007 #1001010|m1|@601001|h|server=#1001009,1,~k,f,,
			= {Matches:1 Players:2 Parked:0 WaitSum:0s More:false After: OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
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
			+ m m1 = proposed|#1001012|#0|check|#1001011|@61001|play=rm1|x;y||@61001|x|x|||3600000,60000,600000,0,0,0,0,0|
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
			- m m1 = proposed|#1001012|#0|check|#1001011|@61001|play=rm1|x;y||@61001|x|x|||3600000,60000,600000,0,0,0,0,0|
			- mx m1 = @61001
			- pl x = #1001011|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001011|m1|@61001|h|check=#1001009,1,~k,f,,
			- pub a = 4
			- pub b = 3
			+ m m1 = complete|#1001015|#0|check|#1001011|@3601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,0,0,0,0,0|
			+ mx m1 = @3601001
			+ pl x = #1001013|m1|@3601001||
			+ pl y = #1001014|m1|@3601001||
			+ pub a = 5
			+ pub b = 4
			+ st event=match_complete match=m1 record=complete|#1001015|#0|check|#1001011|@3601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,0,0,0,0,0|
			+ ws:check mean = 0,@1001
			+ ws:check open = 1
			+ ws:check total = 1
			+ ws:check waits = 30000000,1,0,0,0
			b told 4: match m1 y/#1001008 #1001014|m1|@3601001||
			= complete
		`,
		again: `= no such match`,
	},
	{
		name: "with the last a server is asked for", script: "accept_match",
		given: func(b *bundle) { b.proposed(server); b.accept("x") },
		do:    func(b *bundle) string { return b.accept("y") },
		want: `
			- m m1 = proposed|#1001012|#0|server|#1001011|@61001|play=rm1|x;y||@61001|x|x|||3600000,60000,600000,1,0,0,0,0|
			- mx m1 = @61001
			- pub a = 4
			- pub b = 3
			+ al m1 = @1001
			+ m m1 = allocating|#1001013|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
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
			- pl x = #1001016||||
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
		name: "a prompt was shown", script: "mark_prompts_shown",
		given: func(b *bundle) { b.proposed(check2) },
		do:    func(b *bundle) string { return b.show("x", "y", "z") },
		want: `
			- m m1 = proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			+ m m1 = proposed|#1001013|#0|check|#1001011|@61001|play=rm1|x;y||@61001||x;y|||3600000,60000,600000,0,0,0,0,0|
		`,
		again: ``,
	},
	{
		name: "of a match that stands", script: "mark_prompts_shown",
		given: func(b *bundle) { b.proposed(check2); b.accept("x"); b.accept("y") },
		do:    func(b *bundle) string { return b.show("x") },
		want:  ``,
		again: ``,
	},
	{
		name: "who returns while it is proposed does not queue", script: "arrive",
		given: func(b *bundle) { b.proposed(check2); b.depart("x") },
		do:    func(b *bundle) string { return saidStates(b.stores[0].Arrive(b.ctx, []Session{{Player: "x"}})) },
		want: `
			- aw x = @361001
			- pr:x(16 min) A|#0|a|#1001006
			+ ip:a x
			+ pr:x(10 min) L|#0|a|#1001012
			= x/#1001012 as of #1001012: record "#1001011|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,", match "proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|", ranks map[check:{1 0} trio:{1 0}]
		`,
		again: `
			- pr:x(10 min) L|#0|a|#1001012
			- pub a = 3
			+ pr:x(10 min) L|#0|a|#1001013
			+ pub a = 4
			a told 4: x replaced by #1001013
			= x/#1001013 as of #1001013: record "#1001011|m1|@61001|h|check=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,", match "proposed|#1001011|#0|check|#1001011|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|", ranks map[check:{1 0} trio:{1 0}]
		`,
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
			+ m m2 = complete|#1001033|#0|trio|#1001033|@3601001|play=rm2|t0003;t0004;t0005|
			+ mr:trio(0 min) 18000000010:2
			+ mx m1 = @3601001
			+ mx m2 = @3601001
			+ pl t0000 = #1001032|m1|@3601001||
			+ pl t0001 = #1001032|m1|@3601001||
			+ pl t0002 = #1001032|m1|@3601001||
			+ pl t0003 = #1001033|m2|@3601001||
			+ pl t0004 = #1001033|m2|@3601001||
			+ pl t0005 = #1001033|m2|@3601001||
			+ pub a = 3
			+ st event=match_complete match=m1 record=complete|#1001032|#0|trio|#1001032|@3601001|play=rm1|t0000;t0001;t0002|
			+ st event=match_complete match=m2 record=complete|#1001033|#0|trio|#1001033|@3601001|play=rm2|t0003;t0004;t0005|
			+ ws:trio mean = 0,@1001
			+ ws:trio open = 2
			+ ws:trio total = 2
			+ ws:trio waits = 30000000,2,0,0,0
			a told 3: match m1 match m2 t0000/#1001014 #1001032|m1|@3601001|| t0001/#1001015 #1001032|m1|@3601001|| t0002/#1001016 #1001032|m1|@3601001|| t0003/#1001017 #1001033|m2|@3601001|| t0004/#1001018 #1001033|m2|@3601001|| t0005/#1001019 #1001033|m2|@3601001||
			= {Matches:2 Players:6 Parked:0 WaitSum:0s More:false After: OpensIn:101ms}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:1.1s}`,
	},
}
