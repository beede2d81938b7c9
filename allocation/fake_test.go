package allocation

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"muster/internal/ident"
	"muster/store"
)

// The states of a match in a fakeStore.
const (
	allocating = "allocating"
	complete   = "complete"
	cancelled  = "cancelled"
)

// fakeMatch is a match in a fakeStore.
type fakeMatch struct {
	match    store.Match
	state    string
	attempt  int
	due      time.Time // of the next attempt, and the end of a lease
	endpoint string
	pauses   []time.Duration // of the retries
}

// fakeStore keeps matches and leases as the store does, in memory. It may be away: then it answers
// store.ErrUnavailable, before a call takes effect or after.
type fakeStore struct {
	mu sync.Mutex
	// guarded by mu
	matches map[ident.Match]*fakeMatch
	order   []ident.Match
	changed chan struct{} // closed and replaced at each change
	// away and deaf are how many of the next settling calls fail: before they take effect, or only their reply.
	away, deaf int
	// leaseFactor shortens leases, so that a test need not wait for a whole one; 0 is 1.
	leaseFactor float64
	leases      []time.Duration
}

func newFakeStore(matches ...store.Match) *fakeStore {
	s := &fakeStore{matches: map[ident.Match]*fakeMatch{}, changed: make(chan struct{})}
	for _, m := range matches {
		s.matches[m.ID] = &fakeMatch{match: m, state: allocating}
		s.order = append(s.order, m.ID)
	}
	return s
}

// aMatch is a match of two in a world called w.
func aMatch(id ident.Match) store.Match {
	return store.Match{
		ID: id, World: "w", Created: 1795970000000001, Players: []ident.Player{"ann", "bob", "gone"},
		Left: []ident.Player{"gone"}, Rooms: []store.Room{{Name: "game", ID: "r1"}, {Name: "chat", ID: "r2"}},
	}
}

func (s *fakeStore) ClaimAllocations(_ context.Context, limit int, lease time.Duration) ([]store.Allocation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases = append(s.leases, lease)
	if s.leaseFactor != 0 {
		lease = time.Duration(float64(lease) * s.leaseFactor)
	}
	var claimed []store.Allocation
	now := time.Now()
	for _, id := range s.order {
		m := s.matches[id]
		if m.state != allocating || m.due.After(now) || len(claimed) == limit {
			continue
		}
		m.attempt++
		m.due = now.Add(lease)
		claimed = append(claimed, store.Allocation{Match: m.match, Attempt: m.attempt})
	}
	s.change()
	return claimed, nil
}

func (s *fakeStore) CompleteAllocation(_ context.Context, match ident.Match, attempt int, endpoint json.RawMessage) error {
	return s.settle(match, attempt, func(m *fakeMatch) { m.state, m.endpoint = complete, string(endpoint) })
}

func (s *fakeStore) RetryAllocation(_ context.Context, match ident.Match, attempt int, after time.Duration) error {
	return s.settle(match, attempt, func(m *fakeMatch) {
		m.due = time.Now().Add(after)
		m.pauses = append(m.pauses, after)
	})
}

func (s *fakeStore) FailAllocation(_ context.Context, match ident.Match, attempt int) error {
	return s.settle(match, attempt, func(m *fakeMatch) { m.state = cancelled })
}

func (s *fakeStore) settle(match ident.Match, attempt int, do func(*fakeMatch)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.change()
	if s.away > 0 {
		s.away--
		return fmt.Errorf("settle: %w", store.ErrUnavailable)
	}
	m := s.matches[match]
	if m == nil || m.state != allocating || m.attempt != attempt {
		return store.ErrNoSuchMatch
	}
	do(m)
	if s.deaf > 0 {
		s.deaf--
		return fmt.Errorf("settle: %w", store.ErrUnavailable)
	}
	return nil
}

// change wakes those who wait; the caller holds mu.
func (s *fakeStore) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// until waits until what is asked for holds, looking at each change.
func (s *fakeStore) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		ok, changed := holds(), s.changed
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// settled waits until a match is no longer allocating and returns it.
func (s *fakeStore) settled(t *testing.T, id ident.Match) fakeMatch {
	t.Helper()
	s.until(t, "match settled", func() bool { return s.matches[id].state != allocating })
	return s.look(id)
}

func (s *fakeStore) look(id ident.Match) fakeMatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.matches[id]
}

func (s *fakeStore) add(m store.Match) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.matches[m.ID] = &fakeMatch{match: m, state: allocating}
	s.order = append(s.order, m.ID)
	s.change()
}

// claimed counts the matches that were ever claimed.
func (s *fakeStore) claimed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, m := range s.matches {
		if m.attempt > 0 {
			n++
		}
	}
	return n
}
