package store

import (
	"time"

	"muster/internal/ident"
)

var presenceRules = []rule{
	{
		name: "a new session is live and has a generation", script: "arrive",
		do: func(b *bundle) string { return saidStates(b.stores[0].Arrive(b.ctx, []Session{{Player: "x"}})) },
		want: `
			+ ip:a x
			+ pr:x(10 min) L|#0|a|#1001003
			= x/#1001003 as of #1001003: record "", match "", ranks map[]
		`,
		again: `
			- pr:x(10 min) L|#0|a|#1001003
			+ pr:x(10 min) L|#0|a|#1001004
			+ pub a = 1
			a told 1: x replaced by #1001004
			= x/#1001004 as of #1001004: record "", match "", ranks map[]
		`,
	},
	{
		name: "a newer session takes over, and the older one's instance is told", script: "arrive",
		given: func(b *bundle) { b.waiting(1, trio, "x") },
		do:    func(b *bundle) string { return saidStates(b.stores[0].Arrive(b.ctx, []Session{{Player: "x"}})) },
		want: `
			- ip:b x
			- pr:x(10 min) L|#0|b|#1001003
			- pub b = 1
			+ ip:a x
			+ pr:x(10 min) L|#0|a|#1001005
			+ pub b = 2
			= x/#1001005 as of #1001005: record "#1001004||||trio=#1001004,1,~k,f,,", match "", ranks map[trio:{1 1}]
		`,
		again: `
			- pr:x(10 min) L|#0|a|#1001005
			+ pr:x(10 min) L|#0|a|#1001006
			+ pub a = 1
			a told 1: x replaced by #1001006
			= x/#1001006 as of #1001006: record "#1001004||||trio=#1001004,1,~k,f,,", match "", ranks map[trio:{1 1}]
		`,
	},
	{
		name: "another live session is not taken over unseen", script: "arrive",
		given: func(b *bundle) { b.waiting(1, trio, "x") },
		do: func(b *bundle) string {
			return saidStates(b.stores[0].ArriveOver(b.ctx, []Arrival{{Session: Session{Player: "x"}, Over: b.who["x"].Generation - 1}}))
		},
		want:  `= x: session #1001003 has the player`,
		again: `= x: session #1001003 has the player`,
	},
	{
		name: "the session that is named is taken over", script: "arrive",
		given: func(b *bundle) { b.arrive(1, "x") },
		do: func(b *bundle) string {
			return saidStates(b.stores[0].ArriveOver(b.ctx, []Arrival{{Session: Session{Player: "x"}, Over: b.who["x"].Generation}}))
		},
		want: `
			- ip:b x
			- pr:x(10 min) L|#0|b|#1001003
			+ ip:a x
			+ pr:x(10 min) L|#0|a|#1001004
			+ pub b = 1
			= x/#1001004 as of #1001004: record "", match "", ranks map[]
		`,
		again: `= x: session #1001004 has the player`,
	},
	{
		name: "a session of a silent instance is in nobody's way", script: "arrive",
		given: func(b *bundle) { b.arrive(1, "x"); b.step(4 * time.Second) },
		do: func(b *bundle) string {
			return saidStates(b.stores[0].ArriveOver(b.ctx, []Arrival{{Session: Session{Player: "x"}}}))
		},
		want: `
			- ip:b x
			- meta calm_until = 0
			- pr:x(10 min) L|#0|b|#1001003
			+ ip:a x
			+ meta calm_until = @605001
			+ pr:x(10 min) L|#0|a|#5001000
			+ pub b = 1
			= x/#5001000 as of #5001000: record "", match "", ranks map[]
		`,
		again: `
			- pr:x(10 min) L|#0|a|#5001000
			+ pr:x(10 min) L|#0|a|#5001001
			+ pub a = 1
			a told 1: x replaced by #5001001
			= x/#5001001 as of #5001001: record "", match "", ranks map[]
		`,
	},
	{
		name: "a session that was taken over does not get past the newer one", script: "arrive",
		given: func(b *bundle) { b.arrive(0, "x"); b.who["old"] = b.who["x"]; b.arrive(1, "x") },
		do:    func(b *bundle) string { return saidStates(b.stores[0].Arrive(b.ctx, []Session{b.who["old"]})) },
		want:  `= x: replaced by a newer session`,
		again: `= x: replaced by a newer session`,
	},
	{
		name: "who was away is back at its places", script: "arrive",
		given: func(b *bundle) {
			b.waiting(0, trio, "x", "y")
			b.join(0, pairs, b.who["x"])
			b.depart("x")
		},
		do: func(b *bundle) string { return saidStates(b.stores[0].Arrive(b.ctx, []Session{b.who["x"]})) },
		want: `
			- aw x = @361001
			- pr:x(16 min) A|#0|a|#1001003
			+ ip:a x
			+ pr:x(10 min) L|#0|a|#1001003
			+ q:duel:1 x = #1001007
			+ q:trio:1 x = #1001005
			= x/#1001003 as of #1001007: record "#1001007||||trio=#1001005,1,~k,f,,;duel=#1001007,1,~k,f,,", match "", ranks map[duel:{1 1} trio:{1 2}]
		`,
		again: `= x/#1001003 as of #1001007: record "#1001007||||trio=#1001005,1,~k,f,,;duel=#1001007,1,~k,f,,", match "", ranks map[duel:{1 1} trio:{1 2}]`,
	},
	{
		name: "tickets of a world that closed meanwhile end", script: "arrive",
		given: func(b *bundle) {
			b.waiting(0, trio, "x")
			b.join(0, pairs, b.who["x"])
			b.depart("x")
			b.declare(pairs, apart)
			b.sweep()
		},
		do: func(b *bundle) string { return saidStates(b.stores[0].Arrive(b.ctx, []Session{b.who["x"]})) },
		want: `
			- aw x = @361001
			- pl x = #1001005||||trio=#1001004,1,~k,f,,;duel=#1001005,1,~k,f,,
			- pr:x(16 min) A|#0|a|#1001003
			+ ip:a x
			+ no:x(1440 min) #1001008|dequeued|trio|trio.#1001004|world_closed|@1001
			+ pl x = #1001007||||duel=#1001005,1,~k,f,,
			+ pr:x(10 min) L|#0|a|#1001003
			+ q:duel:1 x = #1001005
			= x/#1001003 as of #1001008: record "#1001007||||duel=#1001005,1,~k,f,,", match "", ranks map[duel:{1 1}], notice dequeued trio.#1001004 world_closed
		`,
		again: `= x/#1001003 as of #1001008: record "#1001007||||duel=#1001005,1,~k,f,,", match "", ranks map[duel:{1 1}], notice dequeued trio.#1001004 world_closed`,
	},
	{
		name: "a match and notices are in the answer", script: "arrive",
		given: func(b *bundle) {
			b.waiting(0, pairs, "x", "y", "z")
			b.form(0, pairs, 1)
			b.depart("z")
			b.pass(testGrace+time.Second, trio)
		},
		do: func(b *bundle) string {
			return saidStates(b.stores[0].Arrive(b.ctx, []Session{{Player: "x"}, {Player: "z"}}))
		},
		want: `
			- pr:x(4 min) L|#0|a|#1001003
			- pub a = 2
			+ ip:a z
			+ pr:x(10 min) L|#0|a|#362001002
			+ pr:z(10 min) L|#0|a|#362001003
			+ pub a = 3
			a told 3: x replaced by #362001002
			= x/#362001002 as of #362001003: record "#1001009|m1|@3601001||", match "complete|#1001009|#0|duel|#1001009|@3601001|play=rm1|x;y|", ranks map[]; z/#362001003 as of #362001003: record "", match "", ranks map[], notice dequeued duel.#1001008 presence_lost
		`,
		again: `
			- pr:x(10 min) L|#0|a|#362001002
			- pr:z(10 min) L|#0|a|#362001003
			- pub a = 3
			+ pr:x(10 min) L|#0|a|#362001004
			+ pr:z(10 min) L|#0|a|#362001005
			+ pub a = 4
			a told 4: x replaced by #362001004 z replaced by #362001005
			= x/#362001004 as of #362001005: record "#1001009|m1|@3601001||", match "complete|#1001009|#0|duel|#1001009|@3601001|play=rm1|x;y|", ranks map[]; z/#362001005 as of #362001005: record "", match "", ranks map[], notice dequeued duel.#1001008 presence_lost
		`,
	},
	{
		name: "the same player twice in a call: the later one has it", script: "arrive",
		do: func(b *bundle) string {
			return saidStates(b.stores[0].Arrive(b.ctx, []Session{{Player: "x"}, {Player: "x"}}))
		},
		want: `
			+ ip:a x
			+ pr:x(10 min) L|#0|a|#1001004
			+ pub a = 1
			a told 1: x replaced by #1001004
			= x/#1001003 as of #1001004: record "", match "", ranks map[]; x/#1001004 as of #1001004: record "", match "", ranks map[]
		`,
		again: `
			- pr:x(10 min) L|#0|a|#1001004
			- pub a = 1
			+ pr:x(10 min) L|#0|a|#1001006
			+ pub a = 2
			a told 2: x replaced by #1001005 x replaced by #1001006
			= x/#1001005 as of #1001006: record "", match "", ranks map[]; x/#1001006 as of #1001006: record "", match "", ranks map[]
		`,
	},
	{
		name: "who waits keeps its places, is skipped, and will be gone", script: "depart",
		given: func(b *bundle) { b.waiting(0, trio, "x", "y") },
		do:    func(b *bundle) string { return b.depart("x") },
		want: `
			- ip:a x
			- pr:x(10 min) L|#0|a|#1001003
			- q:trio:1 x = #1001005
			+ aw x = @361001
			+ pr:x(16 min) A|#0|a|#1001003
			= [<nil>]
		`,
		again: `= [no presence]`,
	},
	{
		name: "who waits nowhere is just gone", script: "depart",
		given: func(b *bundle) { b.arrive(0, "x") },
		do:    func(b *bundle) string { return b.depart("x") },
		want: `
			- ip:a x
			- pr:x(10 min) L|#0|a|#1001003
			= [<nil>]
		`,
		again: `= [no presence]`,
	},
	{
		name: "a session that was taken over departs nobody", script: "depart",
		given: func(b *bundle) { b.waiting(0, trio, "x"); old := b.who["x"]; b.arrive(1, "x"); b.who["x"] = old },
		do:    func(b *bundle) string { return b.depart("x") },
		want:  `= [replaced by a newer session]`,
		again: `= [replaced by a newer session]`,
	},
	{
		name: "live, taken over, unknown", script: "refresh",
		given: func(b *bundle) {
			b.arrive(0, "x", "y")
			b.who["old"] = b.who["y"]
			b.arrive(1, "y")
			b.step(4 * time.Minute)
		},
		do: func(b *bundle) string {
			return said(b.stores[0].Refresh(b.ctx, []Session{b.who["x"], b.who["old"], {Player: "z", Generation: 5}}))
		},
		want: `
			- meta calm_until = 0
			- pr:x(6 min) L|#0|a|#1001003
			+ meta calm_until = @841001
			+ pr:x(10 min) L|#0|a|#1001003
			= [<nil> replaced by a newer session no presence]
		`,
		again: `= [<nil> replaced by a newer session no presence]`,
	},
	{
		name: "who is away has to arrive again", script: "refresh",
		given: func(b *bundle) { b.waiting(0, trio, "x"); b.depart("x") },
		do:    func(b *bundle) string { return said(b.stores[0].Refresh(b.ctx, []Session{b.who["x"]})) },
		want:  `= [no presence]`,
		again: `= [no presence]`,
	},
	{
		name: "a player without a socket is live, and will be gone", script: "heartbeat",
		do: func(b *bundle) string { return saidHeartbeat(b, "x") },
		want: `
			+ aw x = @601001
			+ pr:x(20 min) H|#0||#1001003
			= x/#1001003 as of #1001003: record "", match "", ranks map[]
		`,
		again: `= x/#1001003 as of #1001003: record "", match "", ranks map[]`,
	},
	{
		name: "a live socket's presence is never overwritten", script: "heartbeat",
		given: func(b *bundle) { b.waiting(1, trio, "x") },
		do:    func(b *bundle) string { return saidHeartbeat(b, "x") },
		want:  `= x/#1001003 as of #1001004: record "#1001004||||trio=#1001004,1,~k,f,,", match "", ranks map[trio:{1 1}]`,
		again: `= x/#1001003 as of #1001004: record "#1001004||||trio=#1001004,1,~k,f,,", match "", ranks map[trio:{1 1}]`,
	},
	{
		name: "who was away is back at its places", script: "heartbeat",
		given: func(b *bundle) { b.waiting(0, trio, "x"); b.depart("x") },
		do:    func(b *bundle) string { return saidHeartbeat(b, "x") },
		want: `
			- aw x = @361001
			- pr:x(16 min) A|#0|a|#1001003
			+ aw x = @601001
			+ pr:x(20 min) H|#0||#1001005
			+ q:trio:1 x = #1001004
			= x/#1001005 as of #1001005: record "#1001004||||trio=#1001004,1,~k,f,,", match "", ranks map[trio:{1 1}]
		`,
		again: `= x/#1001005 as of #1001005: record "#1001004||||trio=#1001004,1,~k,f,,", match "", ranks map[trio:{1 1}]`,
	},
	{
		name: "a socket that could not be refreshed, as nobody could speak, is not taken for gone", script: "heartbeat",
		given: func(b *bundle) { b.waiting(1, trio, "x"); b.step(4 * time.Second) },
		do:    func(b *bundle) string { return saidHeartbeat(b, "x") },
		want: `
			- meta calm_until = 0
			+ meta calm_until = @605001
			= x/#1001003 as of #1001004: record "#1001004||||trio=#1001004,1,~k,f,,", match "", ranks map[trio:{1 1}]
		`,
		again: `= x/#1001003 as of #1001004: record "#1001004||||trio=#1001004,1,~k,f,,", match "", ranks map[trio:{1 1}]`,
	},
	{
		name: "nor is one whose presence ended meanwhile", script: "heartbeat",
		given: func(b *bundle) { b.waiting(1, trio, "x"); b.step(testPresenceTTL + time.Second) },
		do:    func(b *bundle) string { return saidHeartbeat(b, "x") },
		want: `
			- meta calm_until = 0
			+ meta calm_until = @1202001
			= x/0 as of #1001004: record "#1001004||||trio=#1001004,1,~k,f,,", match "", ranks map[trio:{1 1}]
		`,
		again: `= x/0 as of #1001004: record "#1001004||||trio=#1001004,1,~k,f,,", match "", ranks map[trio:{1 1}]`,
	},
	{
		name: "but who had none lives by it", script: "heartbeat",
		given: func(b *bundle) { saidHeartbeat(b, "x"); b.step(2*testPresenceTTL + time.Second) },
		do:    func(b *bundle) string { return saidHeartbeat(b, "x") },
		want: `
			- aw x = @601001
			- meta calm_until = 0
			+ aw x = @1802001
			+ meta calm_until = @1802001
			+ pr:x(20 min) H|#0||#1202001000
			= x/#1202001000 as of #1202001000: record "", match "", ranks map[]
		`,
		again: `= x/#1202001000 as of #1202001000: record "", match "", ranks map[]`,
	},
	{
		name: "a silent instance's player is there by it", script: "heartbeat",
		given: func(b *bundle) { b.waiting(1, trio, "x"); b.step(4 * time.Second); b.touch() },
		do:    func(b *bundle) string { return saidHeartbeat(b, "x") },
		want: `
			- ip:b x
			- pr:x(10 min) L|#0|b|#1001003
			+ aw x = @605001
			+ pr:x(20 min) H|#0||#5001000
			= x/#5001000 as of #5001000: record "#1001004||||trio=#1001004,1,~k,f,,", match "", ranks map[trio:{1 1}]
		`,
		again: `= x/#5001000 as of #5001000: record "#1001004||||trio=#1001004,1,~k,f,,", match "", ranks map[trio:{1 1}]`,
	},
}

func saidHeartbeat(b *bundle, p ident.Player) string {
	b.Helper()
	st, err := b.stores[0].Heartbeat(b.ctx, p)
	return saidStates([]PlayerState{st}, err)
}
