package store

import (
	"fmt"
	"time"

	"muster/internal/ident"
)

// joinAndMatch has players join a world in a call that may form as many matches, and says what came of it.
func (b *bundle) joinAndMatch(w WorldRules, matches int, joins ...Join) string {
	b.Helper()
	result, formed, err := b.stores[0].JoinAndMatch(b.ctx, b.rules(w), 2, joins, "", b.candidates(matches))
	if err != nil {
		return saidErr(err)
	}
	return fmt.Sprintf("%s; %d matches of %d, parked %d", saidJoined(result), formed.Matches, formed.Players, formed.Parked)
}

// newcomerRules are of those who are matched, or not, by the call that they join with.
var newcomerRules = []rule{
	{
		name: "who is matched at once never queues", script: "extract_group",
		given: func(b *bundle) { b.arrive(0, "x", "y", "z", "u") },
		do: func(b *bundle) string {
			return b.joinAndMatch(trio, 1, b.joinOf("x", "~1", "f"), b.joinOf("y", "~2", "f"), b.joinOf("z", "~3", "f"), b.joinOf("u", "~4", "f"))
		},
		want: `
			+ m m1 = complete|#1001014|#0|trio|#1001014|@3601001|play=rm1|x;y;z|
			+ mx m1 = @3601001
			+ pl u = #1001013||||trio=#1001013,1,~4,f,,
			+ pl x = #1001014|m1|@3601001||
			+ pl y = #1001014|m1|@3601001||
			+ pl z = #1001014|m1|@3601001||
			+ pub a = 1
			+ q:trio:1 u = #1001013
			+ st event=match_complete match=m1 record=complete|#1001014|#0|trio|#1001014|@3601001|play=rm1|x;y;z|
			+ ws:trio mean = 0,@1001
			+ ws:trio open = 1
			+ ws:trio total = 1
			+ ws:trio waits = 30000000,1,0,0,0
			a told 1: match m1 x/#1001006 #1001014|m1|@3601001|| y/#1001007 #1001014|m1|@3601001|| z/#1001008 #1001014|m1|@3601001||
			= place #1001010 repeated false position 1 of 1 record ; place #1001011 repeated false position 2 of 2 record ; place #1001012 repeated false position 3 of 3 record ; place #1001013 repeated false position 4 of 4 record #1001013||||trio=#1001013,1,~4,f,,; 1 matches of 3, parked 0
		`,
		again: `= in match m1; in match m1; in match m1; place #1001013 repeated true position 1 of 1 record #1001013||||trio=#1001013,1,~4,f,,; 0 matches of 0, parked 0`,
	},
	{
		name: "its ticket is remembered where the client gave it a key", script: "find_opponent",
		given: func(b *bundle) { b.arrive(0, "x", "y") },
		do: func(b *bundle) string {
			return b.joinAndMatch(pairs, 1, b.joinOf("x", "key", "f"), b.joinOf("y", "~2", "f"))
		},
		want: `
			+ kp x = @301001
			+ m m1 = complete|#1001010|#0|duel|#1001010|@3601001|play=rm1|x;y|
			+ mx m1 = @3601001
			+ pl x = #1001010|m1|@3601001||duel=#1001008,1,key,f:1,@1001,
			+ pl y = #1001010|m1|@3601001||
			+ pub a = 1
			+ st event=match_complete match=m1 record=complete|#1001010|#0|duel|#1001010|@3601001|play=rm1|x;y|
			+ ws:duel mean = 0,@1001
			+ ws:duel open = 1
			+ ws:duel total = 1
			+ ws:duel waits = 30000000,1,0,0,0
			a told 1: match m1 x/#1001006 #1001010|m1|@3601001||duel=#1001008,1,key,f:1,@1001, y/#1001007 #1001010|m1|@3601001||
			= place #1001008 repeated false position 1 of 1 record ; place #1001009 repeated false position 2 of 2 record ; 1 matches of 2, parked 0
		`,
		again: `= place #1001008 repeated true position 1 of 1 record #1001010|m1|@3601001||duel=#1001008,1,key,f:1,@1001,; in match m1; 0 matches of 0, parked 0`,
	},
	{
		name: "tickets elsewhere end, also those of old", script: "find_opponent",
		given: func(b *bundle) {
			b.waiting(0, trio, "x")
			b.arrive(0, "y")
			b.joinAs(pairs, b.joinOf("y", "old", "f"))
			b.leave("y", "duel")
		},
		do: func(b *bundle) string {
			return b.joinAndMatch(pairs, 1, b.joinOf("x", "~1", "f"), b.joinOf("y", "new", "f"))
		},
		want: `
			- pl x = #1001007||||trio=#1001007,1,~k,f,,
			- pl y = #1001010||||duel=#1001009,1,old,f:1,@1001,
			- pub a = 3
			- q:trio:1 x = #1001007
			+ m m1 = complete|#1001013|#0|duel|#1001013|@3601001|play=rm1|x;y|
			+ mx m1 = @3601001
			+ pl x = #1001013|m1|@3601001||
			+ pl y = #1001013|m1|@3601001||duel=#1001012,1,new,f:2,@1001,
			+ pub a = 4
			+ st event=match_complete match=m1 record=complete|#1001013|#0|duel|#1001013|@3601001|play=rm1|x;y|
			+ ws:duel mean = 0,@1001
			+ ws:duel open = 1
			+ ws:duel total = 1
			+ ws:duel waits = 30000000,1,0,0,0
			a told 4: match m1 x/#1001006 #1001013|m1|@3601001|| y/#1001008 #1001013|m1|@3601001||duel=#1001012,1,new,f:2,@1001,
			= place #1001011 repeated false position 1 of 1 record ; place #1001012 repeated false position 2 of 2 record ; 1 matches of 2, parked 0
		`,
		again: `= in match m1; place #1001012 repeated true position 2 of 2 record #1001013|m1|@3601001||duel=#1001012,1,new,f:2,@1001,; 0 matches of 0, parked 0`,
	},
	{
		name: "who joins twice in a call has one ticket", script: "find_opponent",
		given: func(b *bundle) { b.arrive(0, "x", "y") },
		do: func(b *bundle) string {
			return b.joinAndMatch(pairs, 1, b.joinOf("x", "~1", "f"), b.joinOf("x", "~1", "f"), b.joinOf("x", "~2", "f"), b.joinOf("y", "~3", "f"))
		},
		want: `
			+ m m1 = complete|#1001010|#0|duel|#1001010|@3601001|play=rm1|x;y|
			+ mx m1 = @3601001
			+ pl x = #1001010|m1|@3601001||
			+ pl y = #1001010|m1|@3601001||
			+ pub a = 1
			+ st event=match_complete match=m1 record=complete|#1001010|#0|duel|#1001010|@3601001|play=rm1|x;y|
			+ ws:duel mean = 0,@1001
			+ ws:duel open = 1
			+ ws:duel total = 1
			+ ws:duel waits = 30000000,1,0,0,0
			a told 1: match m1 x/#1001006 #1001010|m1|@3601001|| y/#1001007 #1001010|m1|@3601001||
			= place #1001008 repeated false position 1 of 1 record ; place #1001008 repeated true position 1 of 1 record ; already queued as duel.#1001008; place #1001009 repeated false position 2 of 2 record ; 1 matches of 2, parked 0
		`,
		again: `= in match m1; in match m1; in match m1; in match m1; 0 matches of 0, parked 0`,
	},
	{
		name: "behind those who waited", script: "extract_group",
		given: func(b *bundle) { b.waiting(0, trio, "w"); b.arrive(0, "x", "y", "z") },
		do: func(b *bundle) string {
			return b.joinAndMatch(trio, 1, b.joinOf("x", "", "f"), b.joinOf("y", "", "f"), b.joinOf("z", "", "f"))
		},
		want: `
			- pl w = #1001007||||trio=#1001007,1,~k,f,,
			- pub a = 1
			- q:trio:1 w = #1001007
			+ m m1 = complete|#1001014|#0|trio|#1001014|@3601001|play=rm1|w;x;y|
			+ mx m1 = @3601001
			+ pl w = #1001014|m1|@3601001||
			+ pl x = #1001014|m1|@3601001||
			+ pl y = #1001014|m1|@3601001||
			+ pl z = #1001013||||trio=#1001013,1,,f,,
			+ pub a = 2
			+ q:trio:1 z = #1001013
			+ st event=match_complete match=m1 record=complete|#1001014|#0|trio|#1001014|@3601001|play=rm1|w;x;y|
			+ ws:trio mean = 0,@1001
			+ ws:trio open = 1
			+ ws:trio total = 1
			+ ws:trio waits = 30000000,1,0,0,0
			a told 2: match m1 w/#1001006 #1001014|m1|@3601001|| x/#1001008 #1001014|m1|@3601001|| y/#1001009 #1001014|m1|@3601001||
			= place #1001011 repeated false position 2 of 2 record ; place #1001012 repeated false position 3 of 3 record ; place #1001013 repeated false position 4 of 4 record #1001013||||trio=#1001013,1,,f,,; 1 matches of 3, parked 0
		`,
		again: `= in match m1; in match m1; already queued as trio.#1001013; 0 matches of 0, parked 0`,
	},
	{
		name: "a match that is only held keeps their tickets", script: "extract_group",
		given: func(b *bundle) { b.arrive(0, "x", "y") },
		do: func(b *bundle) string {
			return b.joinAndMatch(check2, 1, b.joinOf("x", "~1", "f"), b.joinOf("y", "key", "f"))
		},
		want: `
			+ m m1 = proposed|#1001010|#0|check|#1001010|@61001|play=rm1|x;y||@61001|||||3600000,60000,600000,0,0,0,0,0|
			+ mx m1 = @61001
			+ pl x = #1001010|m1|@61001|h|check=#1001008,1,~1,f,,
			+ pl y = #1001010|m1|@61001|h|check=#1001009,1,key,f:2,,
			+ pub a = 1
			a told 1: match m1 x/#1001006 #1001010|m1|@61001|h|check=#1001008,1,~1,f,, y/#1001007 #1001010|m1|@61001|h|check=#1001009,1,key,f:2,,
			= place #1001008 repeated false position 1 of 1 record ; place #1001009 repeated false position 2 of 2 record ; 1 matches of 2, parked 0
		`,
		again: `= place #1001008 repeated true position 0 of 0 record #1001010|m1|@61001|h|check=#1001008,1,~1,f,,; place #1001009 repeated true position 2 of 2 record #1001010|m1|@61001|h|check=#1001009,1,key,f:2,,; 0 matches of 0, parked 0`,
	},
	{
		name: "a room takes them at once", script: "reserve_seats",
		given: func(b *bundle) { b.arrive(0, "x", "y") },
		do: func(b *bundle) string {
			return b.joinAndMatch(rooms, 1, b.joinOf("x", "~1", "f"), b.joinOf("y", "key", "f"))
		},
		want: `
			+ kp y = @301001
			+ m m1 = complete|#1001012|#0|room|#1001010|@3601001|play=rm1|x;y||||||1|3600000,0,0,0,3,60000,0,0|1
			+ mx m1 = @3601001
			+ op:room m1 = 1
			+ pl x = #1001010|m1|@3601001|s|
			+ pl y = #1001011|m1|@3601001|s|room=#1001009,1,key,f:2,@1001,
			+ pub a = 1
			+ sh x = @61001
			+ sh y = @61001
			+ st event=match_complete match=m1 record=complete|#1001010|#0|room|#1001010|@3601001|play=rm1|x||||||2|3600000,0,0,0,3,60000,0,0|0
			+ ws:room mean = 0,@1001
			+ ws:room open = 1
			+ ws:room total = 1
			+ ws:room waits = 30000000,1,0,0,0
			a told 1: match m1 x/#1001006 #1001010|m1|@3601001|s| y/#1001007 #1001011|m1|@3601001|s|room=#1001009,1,key,f:2,@1001,
			= place #1001008 repeated false position 1 of 1 record ; place #1001009 repeated false position 2 of 2 record ; 1 matches of 2, parked 0
		`,
		again: `= in match m1; place #1001009 repeated true position 2 of 2 record #1001011|m1|@3601001|s|room=#1001009,1,key,f:2,@1001,; 0 matches of 0, parked 0`,
	},
	{
		name: "who is asked to join while its own instance is silent waits for its return", script: "find_opponent",
		given: func(b *bundle) {
			b.arrive(1, "x")
			b.arrive(0, "y")
			b.step(4 * time.Second)
			b.touch()
			if _, err := b.stores[0].RenewLease(b.ctx); err != nil {
				b.Fatal(err)
			}
		},
		do: func(b *bundle) string {
			return b.joinAndMatch(pairs, 1, Join{Player: "x", Key: "key", Fingerprint: "f"}, b.joinOf("y", "~1", "f"))
		},
		want: `
			+ aw x = @905001
			+ pl x = #5001000||||duel=#5001000,1,key,f:1,,
			+ pl y = #5001001||||duel=#5001001,1,~1,f,,
			+ pub a = 1
			+ pub b = 1
			+ q:duel:1 y = #5001001
			a told 1:
			= place #5001000 repeated false position 1 of 1 record #5001000||||duel=#5001000,1,key,f:1,,; place #5001001 repeated false position 2 of 2 record #5001001||||duel=#5001001,1,~1,f,,; 0 matches of 0, parked 1
		`,
		again: `= place #5001000 repeated true position 1 of 1 record #5001000||||duel=#5001000,1,key,f:1,,; place #5001001 repeated true position 1 of 1 record #5001001||||duel=#5001001,1,~1,f,,; 0 matches of 0, parked 0`,
	},
	{
		name: "the mean wait is that of the last ten minutes", script: "find_opponent",
		given: func(b *bundle) {
			for i, wait := range []time.Duration{8 * time.Second, 20 * time.Second, 40 * time.Second} {
				b.waiting(0, pairs, ident.Player(fmt.Sprint("p", i)))
				b.step(wait)
				b.renew()
				b.touch()
				b.waiting(0, pairs, ident.Player(fmt.Sprint("q", i)))
				b.form(0, pairs, 1)
				b.step(4 * time.Minute)
			}
			b.renew()
			b.touch()
			b.arrive(0, "x", "y")
		},
		do: func(b *bundle) string {
			return b.joinAndMatch(pairs, 1, b.joinOf("x", "~1", "f"), b.joinOf("y", "~2", "f"))
		},
		want: `
			- pub a = 9
			- ws:duel mean = 22666,@549001
			- ws:duel older = 30000004,1,20000;30000000,1,8000
			- ws:duel open = 3
			- ws:duel total = 3
			- ws:duel waits = 30000009,1,40000,2,28000
			+ m m4 = complete|#789001004|#0|duel|#789001004|@4389001|play=rm4|x;y|
			+ mx m4 = @4389001
			+ pl x = #789001004|m4|@4389001||
			+ pl y = #789001004|m4|@4389001||
			+ pub a = 10
			+ st event=match_complete match=m4 record=complete|#789001004|#0|duel|#789001004|@4389001|play=rm4|x;y|
			+ ws:duel mean = 20000,@789001
			+ ws:duel older = 30000009,1,40000;30000004,1,20000
			+ ws:duel open = 4
			+ ws:duel total = 4
			+ ws:duel waits = 30000013,1,0,2,60000
			a told 10: match m4 x/#789001000 #789001004|m4|@4389001|| y/#789001001 #789001004|m4|@4389001||
			= place #789001002 repeated false position 1 of 1 record ; place #789001003 repeated false position 2 of 2 record ; 1 matches of 2, parked 0
		`,
		again: `= in match m4; in match m4; 0 matches of 0, parked 0`,
	},
}
