package store

var worldRules = []rule{
	{
		name: "unchanged worlds keep their revision", script: "declare_worlds",
		do: func(b *bundle) string {
			return said(b.stores[0].DeclareWorlds(b.ctx, declared("trio", "duel", "apart")))
		},
		want:  `= #1001002`,
		again: `= #1001002`,
	},
	{
		name: "a new world, and one that is left out", script: "declare_worlds",
		do: func(b *bundle) string { return said(b.stores[0].DeclareWorlds(b.ctx, declared("trio", "duel", "new"))) },
		want: `
			- meta worlds = #1001002
			- w apart = #1001002|open|h
			+ meta worlds = #1001004
			+ w apart = #1001004|closing|
			+ w new = #1001003|open|h
			+ wc new = {}
			= #1001004
		`,
		again: `= #1001004`,
	},
	{
		name: "other settings", script: "declare_worlds",
		do: func(b *bundle) string {
			worlds := declared("trio", "duel", "apart")
			worlds[0].Hash, worlds[0].Settings = "other", "{1}"
			worlds[1].State = "closed"
			return said(b.stores[0].DeclareWorlds(b.ctx, worlds))
		},
		want: `
			- meta worlds = #1001002
			- w duel = #1001001|open|h
			- w trio = #1001000|open|h
			- wc trio = {}
			+ meta worlds = #1001004
			+ w duel = #1001004|closed|h
			+ w trio = #1001003|open|other
			+ wc trio = {1}
			= #1001004
		`,
		again: `= #1001004`,
	},
	{
		name: "a world on its way out is back", script: "declare_worlds",
		given: func(b *bundle) { b.declare(trio, pairs) },
		do: func(b *bundle) string {
			return said(b.stores[0].DeclareWorlds(b.ctx, declared("trio", "duel", "apart")))
		},
		want: `
			- meta worlds = #1001003
			- w apart = #1001003|closing|
			+ meta worlds = #1001004
			+ w apart = #1001004|open|h
			= #1001004
		`,
		again: `= #1001004`,
	},
	{
		name: "the epoch that stands", script: "open_epoch",
		do:    func(b *bundle) string { return said(b.stores[0].OpenEpoch(b.ctx, 7)) },
		want:  `= {Number:#0 MatchingOpensAt:@1000 OpensIn:-1ms Emptied:true}`,
		again: `= {Number:#0 MatchingOpensAt:@1000 OpensIn:-1ms Emptied:true}`,
	},
}
