package lua

import (
	"context"
	"fmt"
	"time"

	"github.com/musterhq/muster/internal/ident"
)

// Epoch is a span in which Redis' history was unbroken.
type Epoch struct {
	Number ident.Place
	// MatchingOpensAt is when matches are formed again, in Unix milliseconds by Redis' clock.
	MatchingOpensAt int64
	// OpensIn is how long that was off when the call was made; 0 or less where it has come.
	OpensIn time.Duration
	// Emptied says that Redis had nothing of the realm when it was opened.
	Emptied bool
}

// OpenEpoch returns Redis' current epoch, and opens a new one if its history is not the one that the last
// was opened under. floor is the highest place that this instance has seen. It does not set the Store's
// epoch: see SetEpoch.
func (s *Store) OpenEpoch(ctx context.Context, floor ident.Place) (Epoch, error) {
	recovery := s.opts.Recovery
	if s.Embedded() {
		recovery = 0 // nobody else can have anything to assert
	}
	replies, err := s.attempt(ctx, []call{{script: "open_epoch", args: []any{floor.String(), recovery.Milliseconds()}}})
	if err != nil {
		return Epoch{}, err
	}
	r := replies[0]
	return Epoch{
		Number: r.place(3), MatchingOpensAt: r.number(4), Emptied: r.number(5) == 1,
		OpensIn: time.Duration(r.number(4)-r.number(2)) * time.Millisecond,
	}, r.err()
}

// Assertion is what an instance last saw of one of its sessions.
type Assertion struct {
	Session
	// AsOf is the last place at which Record was known to be the truth.
	AsOf ident.Place
	// Record is the record's text; "" for an idle player.
	Record string
	// Match is the text of the match that the record names, if any.
	Match string
}

// Asserted is what became of an assertion.
type Asserted int

const (
	// Stands: Redis has it now.
	Stands Asserted = iota + 1
	// Adopt: Redis has newer knowledge; the session has to look again.
	Adopt
	// Replaced: a newer session has the player.
	Replaced
)

// AssertState brings what sessions last saw into an epoch that the Store has not set yet. Every assertion
// gets its answer. At most about 100 players a call, those of the matches counted; see AssertionBatches.
func (s *Store) AssertState(ctx context.Context, epoch ident.Place, assertions []Assertion) ([]Asserted, error) {
	if len(assertions) == 0 {
		return nil, nil
	}
	var players, matches []any
	at := map[ident.Match]int{} // where its text is, the newest that any of them saw
	for _, a := range assertions {
		record, err := ParseRecord(a.Record)
		if err != nil {
			return nil, err
		}
		players = append(players, string(a.Player), a.Generation.String(), a.AsOf.String(), a.Record)
		if record.Match == "" || a.Match == "" {
			continue
		}
		if i, ok := at[record.Match]; !ok {
			matches = append(matches, string(record.Match), a.Match)
			at[record.Match] = len(matches) - 1
		} else if isNewer(record.Match, a.Match, matches[i]) {
			matches[i] = a.Match
		}
	}
	args := append([]any{len(assertions), len(at)}, append(players, matches...)...)
	replies, err := s.attempt(ctx, []call{{script: "assert_state", args: args, epoch: epoch}})
	if err != nil {
		return nil, err
	}
	r := replies[0]
	if err := r.err(); err != nil {
		return nil, err
	}
	s.deliver(r)
	outcomes := make([]Asserted, len(assertions))
	for i := range assertions {
		switch status := r.number(statusFieldsBefore + i); status {
		case statusDone:
			outcomes[i] = Stands
		case statusAdopt:
			outcomes[i] = Adopt
		case codeReplaced:
			outcomes[i] = Replaced
		default:
			return nil, fmt.Errorf("assert_state: status %d", status)
		}
	}
	return outcomes, nil
}

// isNewer tells of two texts of a match whether the first is of a later version.
func isNewer(id ident.Match, text string, than any) bool {
	other, _ := than.(string)
	m, err := ParseMatch(id, text)
	known, knownErr := ParseMatch(id, other)
	return err == nil && (knownErr != nil || m.Version > known.Version)
}

// AssertionBatches cuts assertions so that no call touches more than about 100 players.
func AssertionBatches(all []Assertion) [][]Assertion {
	var batches [][]Assertion
	weight, begin := 0, 0
	for i, a := range all {
		w := 1
		if a.Match != "" {
			if m, err := ParseMatch("", a.Match); err == nil {
				w += len(m.Players)
			}
		}
		if weight+w > maxPlayersPerCall && i > begin {
			batches = append(batches, all[begin:i])
			weight, begin = 0, i
		}
		weight += w
	}
	if begin < len(all) {
		batches = append(batches, all[begin:])
	}
	return batches
}

// Lease is the instance's lease after a renewal.
type Lease struct {
	// Lapsed says that it had ended (or never been): this instance's sessions have to arrive again.
	Lapsed bool
	// Published counts what the instance was told; see Told.Number.
	Published int64
	// WorldsRevision is that of the newest change of worlds, LastPlace the realm's last number.
	WorldsRevision, LastPlace ident.Place
	// Now is Redis' time in Unix milliseconds.
	Now int64
}

// RenewLease extends this instance's lease. To be called each second: a lease is 3 s long.
func (s *Store) RenewLease(ctx context.Context) (Lease, error) {
	r, err := s.run(ctx, "renew_lease")
	if err != nil {
		return Lease{}, err
	}
	return Lease{
		Lapsed: r.number(3) == 1, Published: r.number(4), WorldsRevision: r.place(5), LastPlace: r.place(6), Now: r.number(2),
	}, nil
}

// EndLease gives the lease back, after the players have departed.
func (s *Store) EndLease(ctx context.Context) error {
	_, err := s.run(ctx, "end_lease")
	return err
}
