package store

import (
	"time"
)

var joinRules = []rule{
	{
		name: "a ticket stands in queue and record, and waits there already the second time", script: "extract_group",
		given: func(b *bundle) { b.arrive(0, "x") },
		do:    func(b *bundle) string { return b.joinAs(trio, b.joinOf("x", "", "f")) },
		want: `
			+ pl x = #1001004||||trio=#1001004,1,,f,,
			+ pub a = 1
			+ q:trio:1 x = #1001004
			a told 1:
			= place #1001004 repeated false position 1 of 1 record #1001004||||trio=#1001004,1,,f,,
		`,
		again: `= already queued as trio.#1001004`,
	},
	{
		name: "the same key is answered as the first was", script: "extract_group",
		given: func(b *bundle) { b.waiting(0, trio, "w"); b.arrive(0, "x") },
		do:    func(b *bundle) string { return b.joinAs(trio, b.joinOf("x", "key", "f")) },
		want: `
			- pub a = 1
			+ pl x = #1001006||||trio=#1001006,1,key,f:2,,
			+ pub a = 2
			+ q:trio:1 x = #1001006
			a told 2:
			= place #1001006 repeated false position 2 of 2 record #1001006||||trio=#1001006,1,key,f:2,,
		`,
		again: `= place #1001006 repeated true position 2 of 2 record #1001006||||trio=#1001006,1,key,f:2,,`,
	},
	{
		name: "also within a call, and in its order", script: "extract_group",
		given: func(b *bundle) { b.arrive(0, "x", "y") },
		do: func(b *bundle) string {
			return b.joinAs(trio, b.joinOf("x", "key", "f"), b.joinOf("y", "~1", "f"), b.joinOf("x", "key", "f"))
		},
		want: `
			+ pl x = #1001005||||trio=#1001005,1,key,f:1,,
			+ pl y = #1001006||||trio=#1001006,1,~1,f,,
			+ pub a = 1
			+ q:trio:1 x = #1001005
			+ q:trio:1 y = #1001006
			a told 1:
			= place #1001005 repeated false position 1 of 1 record #1001005||||trio=#1001005,1,key,f:1,,; place #1001006 repeated false position 2 of 2 record #1001006||||trio=#1001006,1,~1,f,,; place #1001005 repeated true position 1 of 1 record #1001005||||trio=#1001005,1,key,f:1,,
		`,
		again: `= place #1001005 repeated true position 1 of 1 record #1001005||||trio=#1001005,1,key,f:1,,; place #1001006 repeated true position 2 of 2 record #1001006||||trio=#1001006,1,~1,f,,; place #1001005 repeated true position 1 of 1 record #1001005||||trio=#1001005,1,key,f:1,,`,
	},
	{
		name: "the same key is answered after the ticket has ended", script: "extract_group",
		given: func(b *bundle) {
			b.arrive(0, "x")
			b.joinAs(trio, b.joinOf("x", "key", "f"))
			b.leave("x")
			b.step(4 * time.Minute)
			b.touch()
		},
		do:    func(b *bundle) string { return b.joinAs(trio, b.joinOf("x", "key", "f")) },
		want:  `= place #1001004 repeated true position 1 of 1 record #1001005||||trio=#1001004,1,key,f:1,@1001,`,
		again: `= place #1001004 repeated true position 1 of 1 record #1001005||||trio=#1001004,1,key,f:1,@1001,`,
	},
	{
		name: "a key for other content is refused", script: "extract_group",
		given: func(b *bundle) { b.arrive(0, "x"); b.joinAs(trio, b.joinOf("x", "key", "f")) },
		do:    func(b *bundle) string { return b.joinAs(trio, b.joinOf("x", "key", "other")) },
		want:  `= ticket key used for other content`,
		again: `= ticket key used for other content`,
	},
	{
		name: "in a match", script: "extract_group",
		given: func(b *bundle) { b.waiting(0, pairs, "x", "y"); b.form(0, pairs, 1) },
		do:    func(b *bundle) string { return b.joinAs(trio, b.joinOf("x", "", "f")) },
		want:  `= in match m1`,
		again: `= in match m1`,
	},
	{
		name: "in as many worlds as one may", script: "extract_group",
		given: func(b *bundle) { b.waiting(0, pairs, "x"); b.join(0, apart, b.who["x"]) },
		do:    func(b *bundle) string { return b.joinAs(trio, b.joinOf("x", "", "f")) },
		want:  `= too many worlds`,
		again: `= too many worlds`,
	},
	{
		name: "a full queue takes those that it has room for", script: "extract_group",
		given: func(b *bundle) { b.arrive(0, "x", "y") },
		do: func(b *bundle) string {
			w := trio
			w.QueueLimit = 1
			return b.joinAs(w, b.joinOf("x", "~1", "f"), b.joinOf("y", "~1", "f"))
		},
		want: `
			+ pl x = #1001005||||trio=#1001005,1,~1,f,,
			+ pub a = 1
			+ q:trio:1 x = #1001005
			a told 1:
			= place #1001005 repeated false position 1 of 1 record #1001005||||trio=#1001005,1,~1,f,,; queue full
		`,
		again: `= place #1001005 repeated true position 1 of 1 record #1001005||||trio=#1001005,1,~1,f,,; queue full`,
	},
	{
		name: "absent, away, taken over", script: "extract_group",
		given: func(b *bundle) {
			b.waiting(0, pairs, "away")
			b.depart("away")
			b.arrive(0, "old")
			old := b.who["old"]
			b.arrive(1, "old")
			b.who["old"] = old
		},
		do: func(b *bundle) string {
			return b.joinAs(trio, Join{Player: "absent", Key: "~1"}, b.joinOf("away", "~1", "f"), b.joinOf("old", "~1", "f"))
		},
		want:  `= no presence; no presence; replaced by a newer session`,
		again: `= no presence; no presence; replaced by a newer session`,
	},
	{
		name: "a request of no session: the player's session is told", script: "extract_group",
		given: func(b *bundle) { b.arrive(0, "x"); b.arrive(1, "y") },
		do: func(b *bundle) string {
			return b.joinAs(trio, Join{Player: "x", Key: "~1"}, Join{Player: "y", Key: "~1"})
		},
		want: `
			+ pl x = #1001005||||trio=#1001005,1,~1,,,
			+ pl y = #1001006||||trio=#1001006,1,~1,,,
			+ pub a = 1
			+ pub b = 1
			+ q:trio:1 x = #1001005
			+ q:trio:1 y = #1001006
			a told 1: x/#1001003 #1001005||||trio=#1001005,1,~1,,,
			= place #1001005 repeated false position 1 of 1 record #1001005||||trio=#1001005,1,~1,,,; place #1001006 repeated false position 2 of 2 record #1001006||||trio=#1001006,1,~1,,,
		`,
		again: `= place #1001005 repeated true position 1 of 2 record #1001005||||trio=#1001005,1,~1,,,; place #1001006 repeated true position 2 of 2 record #1001006||||trio=#1001006,1,~1,,,`,
	},
	{
		name: "who lives by heartbeats may join", script: "extract_group",
		given: func(b *bundle) { saidHeartbeat(b, "x") },
		do:    func(b *bundle) string { return b.joinAs(trio, Join{Player: "x", Key: "~1"}) },
		want: `
			+ pl x = #1001004||||trio=#1001004,1,~1,,,
			+ q:trio:1 x = #1001004
			= place #1001004 repeated false position 1 of 1 record #1001004||||trio=#1001004,1,~1,,,
		`,
		again: `= place #1001004 repeated true position 1 of 1 record #1001004||||trio=#1001004,1,~1,,,`,
	},
	{
		name: "an older revision of the world's settings", script: "extract_group",
		given: func(b *bundle) { b.arrive(0, "x") },
		do: func(b *bundle) string {
			w := trio
			w.Revision = 5
			return b.joinAs(w, b.joinOf("x", "~1", "f"))
		},
		want:  `= stale revision`,
		again: `= stale revision`,
	},
	{
		name: "a world that nobody declared", script: "extract_group",
		given: func(b *bundle) { b.arrive(0, "x") },
		do:    func(b *bundle) string { return b.joinAs(group("nowhere", 3), b.joinOf("x", "~1", "f")) },
		want:  `= unknown world`,
		again: `= unknown world`,
	},
	{
		name: "a world on its way out", script: "extract_group",
		given: func(b *bundle) { b.arrive(0, "x"); b.declare(pairs, apart) },
		do:    func(b *bundle) string { return b.joinAs(trio, b.joinOf("x", "~1", "f")) },
		want:  `= unknown world`,
		again: `= unknown world`,
	},
	{
		name: "a closed world", script: "extract_group",
		given: func(b *bundle) { b.arrive(0, "x"); b.closeWorld("trio") },
		do:    func(b *bundle) string { return b.joinAs(trio, b.joinOf("x", "~1", "f")) },
		want:  `= world closed`,
		again: `= world closed`,
	},
}
