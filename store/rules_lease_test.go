package store

import (
	"time"
)

var leaseRules = []rule{
	{
		name: "a good lease is extended", script: "renew_lease",
		given: func(b *bundle) { b.step(time.Second) },
		do:    func(b *bundle) string { return said(b.stores[0].RenewLease(b.ctx)) },
		want: `
			- ins a = @4001
			+ ins a = @5001
			= {Lapsed:false Published:0 WorldsRevision:#1001002 LastPlace:#1001002 Now:@2001}
		`,
		again: `= {Lapsed:false Published:0 WorldsRevision:#1001002 LastPlace:#1001002 Now:@2001}`,
	},
	{
		name: "one that had lapsed says so", script: "renew_lease",
		given: func(b *bundle) { b.step(3 * time.Second); b.touch() },
		do:    func(b *bundle) string { return said(b.stores[0].RenewLease(b.ctx)) },
		want: `
			- ins a = @4001
			+ ins a = @7001
			= {Lapsed:true Published:0 WorldsRevision:#1001002 LastPlace:#1001002 Now:@4001}
		`,
		again: `= {Lapsed:false Published:0 WorldsRevision:#1001002 LastPlace:#1001002 Now:@4001}`,
	},
	{
		name: "one from before Redis' clock stepped back goes on", script: "renew_lease",
		given: func(b *bundle) { b.set(b.now - time.Minute.Microseconds()) },
		do:    func(b *bundle) string { return said(b.stores[0].RenewLease(b.ctx)) },
		want: `
			- meta ahead = 0
			+ meta ahead = 60000000
			= {Lapsed:false Published:0 WorldsRevision:#1001002 LastPlace:#1001002 Now:@1001}
		`,
		again: `= {Lapsed:false Published:0 WorldsRevision:#1001002 LastPlace:#1001002 Now:@1001}`,
	},
	{
		name: "an instance that stops is silent at once", script: "end_lease",
		do: func(b *bundle) string { return said("ended", b.stores[0].EndLease(b.ctx)) },
		want: `
			- ins a = @4001
			+ ins a = 0
			= ended
		`,
		again: `= ended`,
	},
	{
		name: "one that was never known stays so", script: "end_lease",
		given: func(b *bundle) { b.stores[0].opts.Instance = "never" },
		do:    func(b *bundle) string { return said("ended", b.stores[0].EndLease(b.ctx)) },
		want:  `= ended`,
		again: `= ended`,
	},
}
