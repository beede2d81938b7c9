package store

import (
	"encoding/json"
	"fmt"
	"time"
)

// allocating has them accept, and wait for a server.
func (b *bundle) allocating() {
	b.Helper()
	b.proposed(server)
	b.accept("x")
	b.accept("y")
}

func (b *bundle) claimServers() string {
	b.Helper()
	claimed, err := b.stores[0].ClaimAllocations(b.ctx, 10, time.Minute)
	text := "claimed"
	for _, a := range claimed {
		text += fmt.Sprintf(" %s attempt %d", a.Match.ID, a.Attempt)
	}
	return said(text, err)
}

var allocationRules = []rule{
	{
		name: "a match is claimed until its lease is over", script: "claim_allocations",
		given: (*bundle).allocating,
		do:    (*bundle).claimServers,
		want: `
			- al m1 = @1001
			+ al m1 = @61001
			+ an m1 = 1
			= claimed m1 attempt 1
		`,
		again: `= claimed`,
	},
	{
		name: "who claimed it died", script: "claim_allocations",
		given: func(b *bundle) { b.allocating(); b.claimServers(); b.step(time.Minute) },
		do:    (*bundle).claimServers,
		want: `
			- al m1 = @61001
			- an m1 = 1
			- meta calm_until = 0
			+ al m1 = @121001
			+ an m1 = 2
			+ meta calm_until = @661001
			= claimed m1 attempt 2
		`,
		again: `= claimed`,
	},
	{
		name: "it has its server", script: "finish_allocation",
		given: func(b *bundle) { b.allocating(); b.claimServers() },
		do: func(b *bundle) string {
			return said("done", b.stores[0].CompleteAllocation(b.ctx, "m1", 1, json.RawMessage(`{"a":"b|c;d"}`)))
		},
		want: `
			- al m1 = @61001
			- an m1 = 1
			- m m1 = allocating|#1001013|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			- mx m1 = @601001
			- pl x = #1001011|m1|@61001|h|server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001011|m1|@61001|h|server=#1001009,1,~k,f,,
			- pub a = 5
			- pub b = 4
			+ m m1 = complete|#1001016|#0|server|#1001011|@3601001|play=rm1|x;y||@61001|x;y|x;y|eyJhIjoiYnxjO2QifQ||3600000,60000,600000,1,0,0,0,0|
			+ mx m1 = @3601001
			+ pl x = #1001014|m1|@3601001||
			+ pl y = #1001015|m1|@3601001||
			+ pub a = 6
			+ pub b = 5
			+ st event=match_complete match=m1 record=complete|#1001016|#0|server|#1001011|@3601001|play=rm1|x;y||@61001|x;y|x;y|eyJhIjoiYnxjO2QifQ||3600000,60000,600000,1,0,0,0,0|
			+ ws:server mean = 0,@1001
			+ ws:server open = 1
			+ ws:server total = 1
			+ ws:server waits = 30000000,1,0,0,0
			a told 6: match m1 x/#1001006 #1001014|m1|@3601001||
			= done
		`,
		again: `= no such match`,
	},
	{
		name: "by an attempt that was taken over", script: "finish_allocation",
		given: func(b *bundle) { b.allocating(); b.claimServers(); b.step(time.Minute); b.claimServers() },
		do: func(b *bundle) string {
			return said("done", b.stores[0].CompleteAllocation(b.ctx, "m1", 1, json.RawMessage(`"late"`)))
		},
		want:  `= no such match`,
		again: `= no such match`,
	},
	{
		name: "again later", script: "finish_allocation",
		given: func(b *bundle) { b.allocating(); b.claimServers() },
		do:    func(b *bundle) string { return said("done", b.stores[0].RetryAllocation(b.ctx, "m1", 1, time.Second)) },
		want: `
			- al m1 = @61001
			+ al m1 = @2001
			= done
		`,
		again: `= done`,
	},
	{
		name: "no server: all are back", script: "finish_allocation",
		given: func(b *bundle) { b.allocating(); b.claimServers() },
		do:    func(b *bundle) string { return said("done", b.stores[0].FailAllocation(b.ctx, "m1", 1)) },
		want: `
			- al m1 = @61001
			- an m1 = 1
			- m m1 = allocating|#1001013|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			- mx m1 = @601001
			- pl x = #1001011|m1|@61001|h|server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			- pl y = #1001011|m1|@61001|h|server=#1001009,1,~k,f,,
			- pub a = 5
			- pub b = 4
			+ af:server(1 min) 1|@1501
			+ no:x(1440 min) #1001015|match_cancelled|server|m1|allocation_failed|@1001
			+ no:y(1440 min) #1001017|match_cancelled|server|m1|allocation_failed|@1001
			+ pl x = #1001014||||server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,,
			+ pl y = #1001016||||server=#1001009,1,~k,f,,
			+ pub a = 6
			+ pub b = 5
			+ q:server:1 x = #1001007
			+ q:server:1 y = #1001009
			+ q:trio:1 x = #1001010
			+ st event=match_cancelled match=m1 reason=allocation_failed record=allocating|#1001017|#0|server|#1001011|@601001|play=rm1|x;y||@61001|x;y|x;y|||3600000,60000,600000,1,0,0,0,0|
			a told 6: x/#1001006 #1001014||||server=#1001007,1,~k,f,,;trio=#1001010,1,~k,f,, #1001015|match_cancelled|server|m1|allocation_failed|@1001 x/#1001006 is back from m1 map[server:{1 2} trio:{1 1}]
			= done
		`,
		again: `= no such match`,
	},
}
