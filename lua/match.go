package lua

import (
	"context"

	"github.com/musterhq/muster/internal/ident"
)

// LeaveMatch frees a player from its open match and returns its record after it. ErrNoSuchMatch, ErrReplaced.
func (s *Store) LeaveMatch(ctx context.Context, who Session, match ident.Match) (record string, err error) {
	return s.ofMatch(ctx, "leave_match", who, match)
}

// AckMatch notes that a player knows of its match and returns its record after it. ErrNoSuchMatch, ErrReplaced.
func (s *Store) AckMatch(ctx context.Context, who Session, match ident.Match) (record string, err error) {
	return s.ofMatch(ctx, "ack_match", who, match)
}

func (s *Store) ofMatch(ctx context.Context, script string, who Session, match ident.Match) (string, error) {
	r, err := s.runShared(ctx, script, string(who.Player), optional(who.Generation), string(match))
	if err != nil {
		return "", err
	}
	return r.text(3), nil
}

// EndReason is why a complete match is over for those in it.
type EndReason string

const (
	// Ended: a back end said so.
	Ended EndReason = "ended"
	// Expired: its time has passed; EndMatch refuses it before.
	Expired EndReason = "expired"
)

// EndMatch ends a match for all who are in it. ErrNoSuchMatch.
func (s *Store) EndMatch(ctx context.Context, match ident.Match, reason EndReason) error {
	_, err := s.run(ctx, "end_match", string(match), string(reason))
	return err
}

// ReadMatch reads a match. ErrNoSuchMatch.
func (s *Store) ReadMatch(ctx context.Context, match ident.Match) (Match, error) {
	r, err := s.run(ctx, "read_match", string(match))
	if err != nil {
		return Match{}, err
	}
	return ParseMatch(match, r.text(3))
}
