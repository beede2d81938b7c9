package store

import (
	"time"

	"muster/internal/ident"
)

var readRules = []rule{
	{
		name: "all worlds", script: "read_worlds",
		given: func(b *bundle) { b.declare(trio, pairs) },
		do: func(b *bundle) string {
			worlds, newest, err := b.stores[0].ReadWorlds(b.ctx)
			byName := map[ident.World]DeclaredWorld{}
			for _, w := range worlds {
				byName[w.Name] = w
			}
			return said([]any{byName, newest}, err)
		},
		want:  `= [map[apart:{Name:apart State:closing Revision:#1001003 Hash: Settings:{}} duel:{Name:duel State:open Revision:#1001001 Hash:h Settings:{}} trio:{Name:trio State:open Revision:#1001000 Hash:h Settings:{}}] #1001003]`,
		again: `= [map[apart:{Name:apart State:closing Revision:#1001003 Hash: Settings:{}} duel:{Name:duel State:open Revision:#1001001 Hash:h Settings:{}} trio:{Name:trio State:open Revision:#1001000 Hash:h Settings:{}}] #1001003]`,
	},
	{
		name: "a match", script: "read_match",
		given: (*bundle).matched,
		do:    func(b *bundle) string { return said(b.stores[0].ReadMatch(b.ctx, "m1")) },
		want:  `= {ID:m1 State:complete Version:#1001007 Created:#1001007 Epoch:#0 World:duel EndsAt:@3601001 Rooms:[{Name:play ID:rm1}] Players:[x y] Left:[] AcceptBy:0 Accepted:[] Shown:[] Endpoint:[] Seats:false Open:0 Taken:0}`,
		again: `= {ID:m1 State:complete Version:#1001007 Created:#1001007 Epoch:#0 World:duel EndsAt:@3601001 Rooms:[{Name:play ID:rm1}] Players:[x y] Left:[] AcceptBy:0 Accepted:[] Shown:[] Endpoint:[] Seats:false Open:0 Taken:0}`,
	},
	{
		name: "one that does not exist", script: "read_match",
		do:    func(b *bundle) string { return said(b.stores[0].ReadMatch(b.ctx, "m1")) },
		want:  `= no such match`,
		again: `= no such match`,
	},
	{
		name: "head, ranks and counts", script: "queue_status",
		given: func(b *bundle) {
			b.matched()
			b.step(time.Second)
			b.waiting(0, pairs, "a", "b", "c")
		},
		do: func(b *bundle) string {
			return said(b.stores[0].Positions(b.ctx, "duel", 2, []ident.Player{"c", "x", "a"}))
		},
		want:  `= {Size:3 OldestAt:@2001 Matches:1 Open:1 MeanWait:{Wait:0s At:@1001} Head:[a b] Ranks:[3 0 1] Now:@2001}`,
		again: `= {Size:3 OldestAt:@2001 Matches:1 Open:1 MeanWait:{Wait:0s At:@1001} Head:[a b] Ranks:[3 0 1] Now:@2001}`,
	},
	{
		name: "an empty queue", script: "queue_status",
		do:    func(b *bundle) string { return said(b.stores[0].Positions(b.ctx, "duel", 2, nil)) },
		want:  `= {Size:0 OldestAt:0 Matches:0 Open:0 MeanWait:{Wait:0s At:0} Head:[] Ranks:[] Now:@1001}`,
		again: `= {Size:0 OldestAt:0 Matches:0 Open:0 MeanWait:{Wait:0s At:0} Head:[] Ranks:[] Now:@1001}`,
	},
	{
		name: "waiting, matched, idle", script: "player_state",
		given: func(b *bundle) { b.matched(); b.waiting(0, trio, "w"); b.join(0, pairs, b.who["w"]) },
		do:    func(b *bundle) string { return saidStates(b.stores[0].States(b.ctx, []ident.Player{"w", "x", "idle"})) },
		want:  `= w/#1001008 as of #1001010: record "#1001010||||trio=#1001009,1,~k,f,,;duel=#1001010,1,~k,f,,", match "", ranks map[duel:{1 1} trio:{1 1}]; x/#1001003 as of #1001010: record "#1001007|m1|@3601001||", match "complete|#1001007|#0|duel|#1001007|@3601001|play=rm1|x;y|", ranks map[]; idle/0 as of #1001010: record "", match "", ranks map[]`,
		again: `= w/#1001008 as of #1001010: record "#1001010||||trio=#1001009,1,~k,f,,;duel=#1001010,1,~k,f,,", match "", ranks map[duel:{1 1} trio:{1 1}]; x/#1001003 as of #1001010: record "#1001007|m1|@3601001||", match "complete|#1001007|#0|duel|#1001007|@3601001|play=rm1|x;y|", ranks map[]; idle/0 as of #1001010: record "", match "", ranks map[]`,
	},
}
