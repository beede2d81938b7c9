package store

import (
	"context"
	"time"

	"muster/internal/ident"
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
	if err := s.ensureAccess(ctx); err != nil {
		return Epoch{}, err
	}
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

// Lease is the instance's lease after a renewal.
type Lease struct {
	// Lapsed says that it had ended (or never been): this instance's sessions have to arrive again.
	Lapsed bool
	// Published counts what the instance was told; see Notification.Number.
	Published int64
	// WorldsRevision is that of the newest change of worlds, LastPlace the realm's last number.
	WorldsRevision, LastPlace ident.Place
	// Now is Redis' time in Unix milliseconds.
	Now int64
}

// RenewLease extends this instance's lease. To be called each second: a lease is 3 s long.
func (s *Store) RenewLease(ctx context.Context) (Lease, error) {
	if err := s.ensureAccess(ctx); err != nil {
		return Lease{}, err
	}
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
