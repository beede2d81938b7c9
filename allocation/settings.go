package allocation

import (
	"context"
	"encoding/json"
	"time"

	"muster/internal/ident"
	"muster/store"
)

// Store is what a Worker needs of a *store.Store.
type Store interface {
	// ClaimAllocations takes up to limit matches whose next attempt is due, for a lease: until it ends nobody else
	// has them.
	ClaimAllocations(ctx context.Context, limit int, lease time.Duration) ([]store.Allocation, error)
	// CompleteAllocation makes the match complete with its endpoint, which is JSON. store.ErrNoSuchMatch where it is
	// over, or another attempt has it or settled it.
	CompleteAllocation(ctx context.Context, match ident.Match, attempt int, endpoint json.RawMessage) error
	// RetryAllocation makes the match due again after a while. Errors as above.
	RetryAllocation(ctx context.Context, match ident.Match, attempt int, after time.Duration) error
	// FailAllocation cancels the match: everybody in it is back at its place. Errors as above.
	FailAllocation(ctx context.Context, match ident.Match, attempt int) error
}

// MaxTimeout is the most that Settings.Timeout may be: a lease is not longer than this and a little.
const MaxTimeout = 30 * time.Second

// Settings say who is asked for the servers of a world. Exactly one of Webhook and Agones is set.
type Settings struct {
	// Webhook is an http or https URL.
	Webhook string
	// Secret signs the webhook's requests; empty is not signing.
	Secret string
	Agones *Agones
	// Timeout is how long an answer may take, up to MaxTimeout; Attempts how often is asked in all.
	Timeout  time.Duration
	Attempts int
}

// Agones is an Agones allocator service, spoken to over its REST gateway.
type Agones struct {
	// URL is that of the service, without the path of the call.
	URL       string
	Namespace string
	// Selector are labels that a game server must have, such as agones.dev/fleet.
	Selector map[string]string
}

// Outcome is how an attempt ended.
type Outcome string

// The outcomes of an attempt.
const (
	// Allocated: there is a server.
	Allocated Outcome = "allocated"
	// Refused: the allocator said that asking again is of no use.
	Refused Outcome = "refused"
	// Failed: the allocator could not be reached, or said that it cannot now.
	Failed Outcome = "failed"
	// TimedOut: the answer did not come in time.
	TimedOut Outcome = "timeout"
	// BadReply: the allocator answered with what is no endpoint.
	BadReply Outcome = "bad_reply"
	// Exhausted: nobody was asked, since the attempts are used up by instances that died.
	Exhausted Outcome = "exhausted"
	// NoAllocator: nobody was asked, since the world has no allocator that this instance knows of.
	NoAllocator Outcome = "no_allocator"
	// Stopped: this instance was stopped before the answer came; another asks anew.
	Stopped Outcome = "stopped"
)

// Observer is told what happens, for metrics; any of it may be nil. The functions must not block.
type Observer struct {
	// Attempted is called for every attempt: how it ended, and how long the allocator took (0 where it was not
	// asked).
	Attempted func(world ident.World, outcome Outcome, took time.Duration)
	// Abandoned is called for every attempt whose outcome the store did not take while the lease lasted. The
	// match is taken over as if this instance had died.
	Abandoned func(world ident.World)
}
