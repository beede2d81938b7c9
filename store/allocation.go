package store

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"muster/internal/ident"
)

// Allocation is a match that waits for its server.
type Allocation struct {
	Match Match
	// Attempt counts how often somebody was about to ask, from 1. One that died meanwhile counts too.
	Attempt int
}

// ClaimAllocations takes up to limit matches whose turn it is: nobody else has them until the lease is over. A match that
// cannot be read is part of the error, and the others are returned with it.
func (s *Store) ClaimAllocations(ctx context.Context, limit int, lease time.Duration) ([]Allocation, error) {
	r, err := s.run(ctx, "claim_allocations", limit, lease.Milliseconds())
	if err != nil {
		return nil, err
	}
	var claimed []Allocation
	var failed []error
	for i := statusFieldsBefore; i < len(r); i++ {
		l := r.list(i)
		m, err := ParseMatch(ident.Match(l.text(1)), l.text(3))
		if err != nil {
			failed = append(failed, err)
			continue
		}
		claimed = append(claimed, Allocation{Match: m, Attempt: int(l.number(2))})
	}
	return claimed, errors.Join(failed...)
}

// CompleteAllocation has a match stand with the server it got. ErrNoSuchMatch where it is over, or a later attempt has it.
func (s *Store) CompleteAllocation(ctx context.Context, match ident.Match, attempt int, endpoint json.RawMessage) error {
	return s.settle(ctx, match, attempt, "complete", base64.RawURLEncoding.EncodeToString(endpoint))
}

// RetryAllocation has a server for the match asked for again after a while. ErrNoSuchMatch.
func (s *Store) RetryAllocation(ctx context.Context, match ident.Match, attempt int, after time.Duration) error {
	return s.settle(ctx, match, attempt, "retry", after.Milliseconds())
}

// FailAllocation cancels a match that gets no server: everybody is back at its places. ErrNoSuchMatch.
func (s *Store) FailAllocation(ctx context.Context, match ident.Match, attempt int) error {
	return s.settle(ctx, match, attempt, "failed", "")
}

func (s *Store) settle(ctx context.Context, match ident.Match, attempt int, outcome string, detail any) error {
	r, err := s.run(ctx, "finish_allocation", string(match), attempt, outcome, detail)
	if err != nil {
		return err
	}
	s.back(r.text(3))
	return nil
}
