package store

var leaveRules = []rule{
	{
		name: "all worlds", script: "remove_from_queue",
		given: func(b *bundle) { b.waiting(0, trio, "x", "y"); b.join(0, pairs, b.who["x"]) },
		do:    func(b *bundle) string { return b.leave("x") },
		want: `
			- pl x = #1001007||||trio=#1001005,1,~k,f,,;duel=#1001007,1,~k,f,,
			- pub a = 2
			- q:duel:1 x = #1001007
			- q:trio:1 x = #1001005
			+ kp x = @301001
			+ pl x = #1001008||||
			+ pub a = 3
			a told 3:
			= left [trio duel], match "", record "#1001008||||"
		`,
		again: `= left [], match "", record "#1001008||||"`,
	},
	{
		name: "one world, and one that it does not wait in", script: "remove_from_queue",
		given: func(b *bundle) { b.waiting(0, trio, "x"); b.join(0, pairs, b.who["x"]) },
		do:    func(b *bundle) string { return b.leave("x", "trio", "apart") },
		want: `
			- pl x = #1001005||||trio=#1001004,1,~k,f,,;duel=#1001005,1,~k,f,,
			- pub a = 2
			- q:trio:1 x = #1001004
			+ pl x = #1001006||||duel=#1001005,1,~k,f,,
			+ pub a = 3
			a told 3:
			= left [trio], match "", record "#1001006||||duel=#1001005,1,~k,f,,"
		`,
		again: `= left [], match "", record "#1001006||||duel=#1001005,1,~k,f,,"`,
	},
	{
		name: "a ticket with a key is remembered", script: "remove_from_queue",
		given: func(b *bundle) { b.arrive(0, "x"); b.joinAs(trio, b.joinOf("x", "key", "f")) },
		do:    func(b *bundle) string { return b.leave("x") },
		want: `
			- pl x = #1001004||||trio=#1001004,1,key,f:1,,
			- pub a = 1
			- q:trio:1 x = #1001004
			+ kp x = @301001
			+ pl x = #1001005||||trio=#1001004,1,key,f:1,@1001,
			+ pub a = 2
			a told 2:
			= left [trio], match "", record "#1001005||||trio=#1001004,1,key,f:1,@1001,"
		`,
		again: `= left [], match "", record "#1001005||||trio=#1001004,1,key,f:1,@1001,"`,
	},
	{
		name: "a match that was faster stands", script: "remove_from_queue",
		given: func(b *bundle) { b.waiting(0, pairs, "x", "y"); b.form(0, pairs, 1) },
		do:    func(b *bundle) string { return b.leave("x") },
		want:  `= left [], match "m1", record "#1001007|m1|@3601001||"`,
		again: `= left [], match "m1", record "#1001007|m1|@3601001||"`,
	},
	{
		name: "a session that was taken over leaves nothing", script: "remove_from_queue",
		given: func(b *bundle) { b.waiting(0, trio, "x"); old := b.who["x"]; b.arrive(1, "x"); b.who["x"] = old },
		do:    func(b *bundle) string { return b.leave("x") },
		want:  `= replaced by a newer session`,
		again: `= replaced by a newer session`,
	},
	{
		name: "a request of no session: the player's session is told", script: "remove_from_queue",
		given: func(b *bundle) { b.waiting(1, trio, "x"); b.who["x"] = Session{Player: "x"} },
		do:    func(b *bundle) string { return b.leave("x") },
		want: `
			- pl x = #1001004||||trio=#1001004,1,~k,f,,
			- pub b = 1
			- q:trio:1 x = #1001004
			+ kp x = @301001
			+ pl x = #1001005||||
			+ pub b = 2
			= left [trio], match "", record "#1001005||||"
		`,
		again: `= left [], match "", record "#1001005||||"`,
	},
}
