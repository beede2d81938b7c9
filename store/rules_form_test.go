package store

import (
	"time"
)

var formRules = []rule{
	{
		name: "the oldest three are taken out of all worlds, and told", script: "extract_group",
		given: func(b *bundle) {
			b.waiting(0, trio, "x", "y")
			b.waiting(1, trio, "z", "late")
			b.join(0, pairs, b.who["x"])
			b.step(time.Second)
		},
		do: func(b *bundle) string { return said(b.form(0, trio, 2), nil) },
		want: `
			- pl x = #1001011||||trio=#1001005,1,~k,f,,;duel=#1001011,1,~k,f,,
			- pl y = #1001006||||trio=#1001006,1,~k,f,,
			- pl z = #1001009||||trio=#1001009,1,~k,f,,
			- pub a = 2
			- pub b = 1
			- q:duel:1 x = #1001011
			- q:trio:1 x = #1001005
			- q:trio:1 y = #1001006
			- q:trio:1 z = #1001009
			+ m m1 = complete|#2001000|#0|trio|#2001000|@3602001|play=rm1|x;y;z|
			+ mx m1 = @3602001
			+ pl x = #2001000|m1|@3602001||
			+ pl y = #2001000|m1|@3602001||
			+ pl z = #2001000|m1|@3602001||
			+ pub a = 3
			+ pub b = 2
			+ st event=match_complete match=m1 record=complete|#2001000|#0|trio|#2001000|@3602001|play=rm1|x;y;z|
			+ ws:trio mean = 1000,@2001
			+ ws:trio open = 1
			+ ws:trio total = 1
			+ ws:trio waits = 30000000,1,1000,0,0
			a told 3: match m1 x/#1001003 #2001000|m1|@3602001|| y/#1001004 #2001000|m1|@3602001||
			= {Matches:1 Players:3 Parked:0 WaitSum:1s More:false After: OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
	},
	{
		name: "too few form nothing", script: "extract_group",
		given: func(b *bundle) { b.waiting(0, trio, "x", "y") },
		do:    func(b *bundle) string { return said(b.form(0, trio, 2), nil) },
		want:  `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
	},
	{
		name: "fewer ids than matches: more", script: "extract_group",
		given: func(b *bundle) { b.waiting(0, trio, players("p", 7)...) },
		do:    func(b *bundle) string { return said(b.form(0, trio, 1), nil) },
		want: `
			- pl p0000 = #1001010||||trio=#1001010,1,~k,f,,
			- pl p0001 = #1001011||||trio=#1001011,1,~k,f,,
			- pl p0002 = #1001012||||trio=#1001012,1,~k,f,,
			- pub a = 1
			- q:trio:1 p0000 = #1001010
			- q:trio:1 p0001 = #1001011
			- q:trio:1 p0002 = #1001012
			+ m m1 = complete|#1001017|#0|trio|#1001017|@3601001|play=rm1|p0000;p0001;p0002|
			+ mx m1 = @3601001
			+ pl p0000 = #1001017|m1|@3601001||
			+ pl p0001 = #1001017|m1|@3601001||
			+ pl p0002 = #1001017|m1|@3601001||
			+ pub a = 2
			+ st event=match_complete match=m1 record=complete|#1001017|#0|trio|#1001017|@3601001|play=rm1|p0000;p0001;p0002|
			+ ws:trio mean = 0,@1001
			+ ws:trio open = 1
			+ ws:trio total = 1
			+ ws:trio waits = 30000000,1,0,0,0
			a told 2: match m1 p0000/#1001003 #1001017|m1|@3601001|| p0001/#1001004 #1001017|m1|@3601001|| p0002/#1001005 #1001017|m1|@3601001||
			= {Matches:1 Players:3 Parked:0 WaitSum:0s More:true After: OpensIn:0s}
		`,
		again: `
			- pl p0003 = #1001013||||trio=#1001013,1,~k,f,,
			- pl p0004 = #1001014||||trio=#1001014,1,~k,f,,
			- pl p0005 = #1001015||||trio=#1001015,1,~k,f,,
			- pub a = 2
			- q:trio:1 p0003 = #1001013
			- q:trio:1 p0004 = #1001014
			- q:trio:1 p0005 = #1001015
			- ws:trio open = 1
			- ws:trio total = 1
			- ws:trio waits = 30000000,1,0,0,0
			+ m m2 = complete|#1001018|#0|trio|#1001018|@3601001|play=rm2|p0003;p0004;p0005|
			+ mx m2 = @3601001
			+ pl p0003 = #1001018|m2|@3601001||
			+ pl p0004 = #1001018|m2|@3601001||
			+ pl p0005 = #1001018|m2|@3601001||
			+ pub a = 3
			+ st event=match_complete match=m2 record=complete|#1001018|#0|trio|#1001018|@3601001|play=rm2|p0003;p0004;p0005|
			+ ws:trio open = 2
			+ ws:trio total = 2
			+ ws:trio waits = 30000000,2,0,0,0
			a told 3: match m2 p0003/#1001006 #1001018|m2|@3601001|| p0004/#1001007 #1001018|m2|@3601001|| p0005/#1001008 #1001018|m2|@3601001||
			= {Matches:1 Players:3 Parked:0 WaitSum:0s More:false After: OpensIn:0s}
		`,
	},
	{
		name: "who has no presence is out of the way, and gone if it does not come back", script: "extract_group",
		given: func(b *bundle) { b.waiting(0, trio, "x"); b.rdb.Del(b.ctx, b.key("pr", "x")) },
		do:    func(b *bundle) string { return said(b.form(0, trio, 1), nil) },
		want: `
			- q:trio:1 x = #1001004
			+ aw x = @901001
			= {Matches:0 Players:0 Parked:1 WaitSum:0s More:false After: OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
	},
	{
		name: "while it is calm it gets the time to come back", script: "extract_group",
		given: func(b *bundle) {
			b.waiting(0, trio, "x")
			b.rdb.Del(b.ctx, b.key("pr", "x"))
			b.step(4 * time.Second)
		},
		do: func(b *bundle) string { return said(b.form(0, trio, 1), nil) },
		want: `
			- meta calm_until = 0
			- q:trio:1 x = #1001004
			+ aw x = @905001
			+ meta calm_until = @605001
			= {Matches:0 Players:0 Parked:1 WaitSum:0s More:false After: OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
	},
	{
		name: "the players of a silent instance are out of the way, and may come back", script: "extract_group",
		given: func(b *bundle) { b.waiting(1, trio, "x"); b.step(4 * time.Second); b.touch() },
		do:    func(b *bundle) string { return said(b.form(0, trio, 1), nil) },
		want: `
			- q:trio:1 x = #1001004
			+ aw x = @905001
			= {Matches:0 Players:0 Parked:1 WaitSum:0s More:false After: OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
	},
	{
		name: "an entry that no record knows is removed", script: "extract_group",
		given: func(b *bundle) { b.waiting(0, trio, "x"); b.rdb.HDel(b.ctx, b.key("pl"), "x") },
		do:    func(b *bundle) string { return said(b.form(0, trio, 1), nil) },
		want: `
			- q:trio:1 x = #1001004
			= {Matches:0 Players:0 Parked:1 WaitSum:0s More:false After: OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
	},
	{
		name: "who lives by heartbeats is matched", script: "extract_group",
		given: func(b *bundle) {
			saidHeartbeat(b, "h")
			b.joinAs(trio, Join{Player: "h", Key: "key"})
			b.waiting(0, trio, "x", "y")
		},
		do: func(b *bundle) string { return said(b.form(0, trio, 1), nil) },
		want: `
			- pl h = #1001004||||trio=#1001004,1,key,:1,,
			- pl x = #1001007||||trio=#1001007,1,~k,f,,
			- pl y = #1001008||||trio=#1001008,1,~k,f,,
			- pub a = 1
			- q:trio:1 h = #1001004
			- q:trio:1 x = #1001007
			- q:trio:1 y = #1001008
			+ kp h = @301001
			+ m m1 = complete|#1001009|#0|trio|#1001009|@3601001|play=rm1|h;x;y|
			+ mx m1 = @3601001
			+ pl h = #1001009|m1|@3601001||trio=#1001004,1,key,:1,@1001,
			+ pl x = #1001009|m1|@3601001||
			+ pl y = #1001009|m1|@3601001||
			+ pub a = 2
			+ st event=match_complete match=m1 record=complete|#1001009|#0|trio|#1001009|@3601001|play=rm1|h;x;y|
			+ ws:trio mean = 0,@1001
			+ ws:trio open = 1
			+ ws:trio total = 1
			+ ws:trio waits = 30000000,1,0,0,0
			a told 2: match m1 x/#1001005 #1001009|m1|@3601001|| y/#1001006 #1001009|m1|@3601001||
			= {Matches:1 Players:3 Parked:0 WaitSum:0s More:false After: OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
	},
	{
		name: "nothing is formed of a stale revision", script: "extract_group",
		given: func(b *bundle) { b.waiting(0, trio, "x", "y", "z") },
		do: func(b *bundle) string {
			w := trio
			w.Revision = 5
			_, f, err := b.stores[0].JoinAndMatch(b.ctx, w, 8, nil, "", b.candidates(1))
			return said(f, err)
		},
		want:  `= stale revision`,
		again: `= stale revision`,
	},
	{
		name: "the oldest two", script: "find_opponent",
		given: func(b *bundle) { b.waiting(0, pairs, "x", "y", "z") },
		do:    func(b *bundle) string { return said(b.form(0, pairs, 2), nil) },
		want: `
			- pl x = #1001006||||duel=#1001006,1,~k,f,,
			- pl y = #1001007||||duel=#1001007,1,~k,f,,
			- pub a = 1
			- q:duel:1 x = #1001006
			- q:duel:1 y = #1001007
			+ m m1 = complete|#1001009|#0|duel|#1001009|@3601001|play=rm1|x;y|
			+ mx m1 = @3601001
			+ pl x = #1001009|m1|@3601001||
			+ pl y = #1001009|m1|@3601001||
			+ pub a = 2
			+ st event=match_complete match=m1 record=complete|#1001009|#0|duel|#1001009|@3601001|play=rm1|x;y|
			+ ws:duel mean = 0,@1001
			+ ws:duel open = 1
			+ ws:duel total = 1
			+ ws:duel waits = 30000000,1,0,0,0
			a told 2: match m1 x/#1001003 #1001009|m1|@3601001|| y/#1001004 #1001009|m1|@3601001||
			= {Matches:1 Players:2 Parked:0 WaitSum:0s More:false After: OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
	},
	{
		name: "the oldest that it has not met lately", script: "find_opponent",
		given: func(b *bundle) {
			b.waiting(0, apart, "y", "x")
			b.form(0, apart, 1)
			if err := b.stores[0].EndMatch(b.ctx, "m1", Ended); err != nil {
				b.Fatal(err)
			}
			b.waiting(0, apart, "x", "y", "z", "w")
		},
		do: func(b *bundle) string { return said(b.form(0, apart, 2), nil) },
		want: `
			- pl w = #1001019||||apart=#1001019,1,~k,f,,
			- pl x = #1001016||||apart=#1001016,1,~k,f,,
			- pl y = #1001017||||apart=#1001017,1,~k,f,,
			- pl z = #1001018||||apart=#1001018,1,~k,f,,
			- pub a = 5
			- q:apart:1 x = #1001016
			- q:apart:1 y = #1001017
			- q:apart:1 z = #1001018
			- q:apart:1 w = #1001019
			- ws:apart open = 0
			- ws:apart total = 1
			- ws:apart waits = 30000000,1,0,0,0
			+ m m2 = complete|#1001020|#0|apart|#1001020|@3601001|play=rm2|x;z|
			+ m m3 = complete|#1001021|#0|apart|#1001021|@3601001|play=rm3|y;w|
			+ mx m2 = @3601001
			+ mx m3 = @3601001
			+ pl w = #1001021|m3|@3601001||
			+ pl x = #1001020|m2|@3601001||
			+ pl y = #1001021|m3|@3601001||
			+ pl z = #1001020|m2|@3601001||
			+ pub a = 6
			+ rc:apart,w,y(1 min) @61001
			+ rc:apart,x,z(1 min) @61001
			+ st event=match_complete match=m2 record=complete|#1001020|#0|apart|#1001020|@3601001|play=rm2|x;z|
			+ st event=match_complete match=m3 record=complete|#1001021|#0|apart|#1001021|@3601001|play=rm3|y;w|
			+ ws:apart open = 2
			+ ws:apart total = 3
			+ ws:apart waits = 30000000,3,0,0,0
			a told 6: match m2 match m3 x/#1001012 #1001020|m2|@3601001|| z/#1001014 #1001020|m2|@3601001|| y/#1001013 #1001021|m3|@3601001|| w/#1001015 #1001021|m3|@3601001||
			= {Matches:2 Players:4 Parked:0 WaitSum:0s More:false After: OpensIn:0s}
		`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
	},
	{
		name: "those who have met wait", script: "find_opponent",
		given: func(b *bundle) {
			b.waiting(0, apart, "x", "y")
			b.form(0, apart, 1)
			if err := b.stores[0].EndMatch(b.ctx, "m1", Ended); err != nil {
				b.Fatal(err)
			}
			b.join(0, apart, b.who["x"], b.who["y"])
		},
		do:    func(b *bundle) string { return said(b.form(0, apart, 2), nil) },
		want:  `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
		again: `= {Matches:0 Players:0 Parked:0 WaitSum:0s More:false After: OpensIn:0s}`,
	},
	{
		name: "nothing is formed in a world that is closed", script: "find_opponent",
		given: func(b *bundle) { b.waiting(0, pairs, "x", "y"); b.closeWorld("duel") },
		do: func(b *bundle) string {
			_, f, err := b.stores[0].JoinAndMatch(b.ctx, b.rules(pairs), 8, nil, "", b.candidates(1))
			return said(f, err)
		},
		want:  `= world closed`,
		again: `= world closed`,
	},
}
