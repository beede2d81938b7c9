package store

import (
	"fmt"
	"time"

	"muster/internal/ident"
)

// lifeRetries are the rows of the scripts of a match's life.
var lifeRetries = []retry{
	{
		script: "accept_match", // the first
		ready: func(b *bundle) func() string {
			b.declare(trio, pairs, apart, check2)
			b.proposed(check2)
			return func() string { return b.accept("x") }
		},
	},
	{
		script: "accept_match", // the last, with which it stands
		ready: func(b *bundle) func() string {
			b.declare(trio, pairs, apart, check2)
			b.proposed(check2)
			b.accept("y")
			return func() string { return b.accept("x") }
		},
		again: ErrNoSuchMatch.Error(), // as whoever accepts what is complete is answered
	},
	{
		script: "decline_match",
		ready: func(b *bundle) func() string {
			b.declare(trio, pairs, apart, check2)
			b.proposed(check2)
			return func() string { return b.decline("x") }
		},
		again: ErrNoSuchMatch.Error(), // it is gone
	},
	{
		script: "leave_match", // a seat
		ready: func(b *bundle) func() string {
			b.declare(trio, pairs, apart, rooms)
			b.seated()
			return func() string { return said(b.stores[0].LeaveMatch(b.ctx, b.who["x"], "m1")) }
		},
		again: ErrNoSuchMatch.Error(),
	},
	{
		script: "mark_prompts_shown",
		ready: func(b *bundle) func() string {
			b.declare(trio, pairs, apart, check2)
			b.proposed(check2)
			return func() string { return b.show("x", "y") }
		},
	},
	{
		script: "tidy_groups",
		ready: func(b *bundle) func() string {
			b.reader(b.stores[0], "stale", time.Hour)
			b.passes(groupTTL - 10*time.Minute)
			b.reader(b.stores[0], "g", time.Hour)
			b.set(b.now + (10 * time.Minute).Microseconds())
			return func() string { return said("tidied", b.stores[0].TidyStream(b.ctx)) }
		},
	},
	{
		script: "claim_allocations",
		ready: func(b *bundle) func() string {
			b.declare(trio, pairs, apart, server)
			b.allocating()
			return b.claimServers
		},
		again: "claimed", // nothing: claimed for a reply that was lost: somebody's again when the lease is over
	},
	{
		script: "finish_allocation",
		ready: func(b *bundle) func() string {
			b.declare(trio, pairs, apart, server)
			b.allocating()
			b.claimServers()
			return func() string { return said("done", b.stores[0].CompleteAllocation(b.ctx, "m1", 1, []byte(`"s"`))) }
		},
		again: ErrNoSuchMatch.Error(), // it is settled
	},
	{
		script: "open_seats",
		ready: func(b *bundle) func() string {
			b.matched()
			return func() string { return b.openSeats(2, nil) }
		},
	},
	{
		script: "reserve_seats",
		ready: func(b *bundle) func() string {
			b.declare(trio, pairs, apart, rooms)
			return b.forming(rooms)
		},
		again: nothingFormed,
	},
	{
		script: "restore_matches",
		ready: func(b *bundle) func() string {
			b.arrive(0, "x")
			text := fmt.Sprintf("complete|%d|1|room|%d|%d|play=r|x;y||||||1|3600000,0,0,0,3,60000,0,0|1", testStart+9, testStart+5, testStart/1000+3600000)
			return func() string {
				return said(b.stores[0].RestoreMatches(b.ctx, []ArchivedMatch{{ident.Match("m7"), text}}))
			}
		},
		again: "0", // it is there
	},
}
