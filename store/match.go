package store

import (
	"context"
	"time"

	"muster/internal/ident"
)

// Outcome is what became of a player by its own request.
type Outcome struct {
	// Record is the player's record after it; "" where a match fell through, as it is in what is told.
	Record string
	// State is the match's, of one that was accepted.
	State string
	// Before is the last place before it: what has a place up to it was so when the request was carried out.
	Before ident.Place
}

// LeaveMatch frees a player from its open match. One that is held falls through. ErrNoSuchMatch, ErrReplaced.
func (s *Store) LeaveMatch(ctx context.Context, who Session, match ident.Match) (Outcome, error) {
	return s.ask(ctx, question{script: "leave_match", who: who, match: match, asked: time.Now()})
}

// StartLeaveMatch is LeaveMatch for one who does not wait: done is told, once, and must not block.
func (s *Store) StartLeaveMatch(ctx context.Context, arrived time.Time, who Session, match ident.Match, done func(Outcome, error)) {
	s.startAsking(ctx, question{script: "leave_match", who: who, match: match, asked: arrived}, done)
}

// DeclineMatch has a match that the player was proposed fall through. What became of the player is in what is told.
// ErrNoSuchMatch, also of a match that stands; ErrReplaced.
func (s *Store) DeclineMatch(ctx context.Context, who Session, match ident.Match) (Outcome, error) {
	r, err := s.ofMatch(ctx, "decline_match", who, match)
	if err != nil {
		return Outcome{}, err
	}
	s.back(r.text(4))
	return Outcome{Before: r.place(5)}, nil
}

// back hands over the worlds whose players are back at their places.
func (s *Store) back(worlds string) {
	if worlds != "" {
		s.onRequeue(worldsOf(worlds)...)
	}
}

func worldsOf(text string) []ident.World {
	var worlds []ident.World
	for w := range items(text) {
		worlds = append(worlds, ident.World(w))
	}
	return worlds
}

// AcceptMatch notes that a player takes part in the match that it was proposed. With the last one the match stands, or
// asks for a server: its state says which. ErrNoSuchMatch, also of a match that stands or whose time is over; ErrReplaced.
func (s *Store) AcceptMatch(ctx context.Context, who Session, match ident.Match) (Outcome, error) {
	r, err := s.ofMatch(ctx, "accept_match", who, match)
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{State: r.text(3), Before: r.place(4)}, nil
}

// AckMatch notes that a player knows of its match. ErrNoSuchMatch, ErrReplaced.
func (s *Store) AckMatch(ctx context.Context, who Session, match ident.Match) (Outcome, error) {
	return s.ask(ctx, question{script: "ack_match", who: who, match: match, asked: time.Now()})
}

// StartAckMatch is AckMatch for one who does not wait: done is told, once, and must not block.
func (s *Store) StartAckMatch(ctx context.Context, arrived time.Time, who Session, match ident.Match, done func(Outcome, error)) {
	s.startAsking(ctx, question{script: "ack_match", who: who, match: match, asked: arrived}, done)
}

func (s *Store) ofMatch(ctx context.Context, script string, who Session, match ident.Match) (reply, error) {
	return s.run(ctx, script, string(who.Player), optional(who.Generation), string(match))
}

// Shown is a prompt that reached its player: it was written to the player's socket, or answers an HTTP request.
type Shown struct {
	Player ident.Player
	Match  ident.Match
	// ByHTTP prompts count for players that live by heartbeats: the others are asked over their WebSocket.
	ByHTTP bool
}

// ShowMatches notes which prompts reached their players: nobody is put out for one that did not. At most 100 a call.
func (s *Store) ShowMatches(ctx context.Context, shown []Shown) error {
	args := []any{len(shown)}
	for _, p := range shown {
		args = append(args, string(p.Player), string(p.Match), oneIf(p.ByHTTP))
	}
	_, err := s.run(ctx, "mark_prompts_shown", args...)
	return err
}

// EndReason is why a complete match is over for those in it.
type EndReason string

const (
	// Ended: a back end said so.
	Ended EndReason = "ended"
	// Expired: its time has passed; EndMatch refuses it before.
	Expired EndReason = "expired"
)

// EndMatch ends a match for all who are in it; one that is held falls through. ErrNoSuchMatch.
func (s *Store) EndMatch(ctx context.Context, match ident.Match, reason EndReason) error {
	r, err := s.run(ctx, "end_match", string(match), string(reason))
	if err != nil {
		return err
	}
	s.back(r.text(3))
	return nil
}

// ReadMatch reads a match. ErrNoSuchMatch.
func (s *Store) ReadMatch(ctx context.Context, match ident.Match) (Match, error) {
	r, err := s.run(ctx, "read_match", string(match))
	if err != nil {
		return Match{}, err
	}
	return ParseMatch(match, r.text(3))
}

// Seats is how a match's seats stand.
type Seats struct {
	// Open more players may come, Taken did since the first were opened.
	Open, Taken int
	World       ident.World
}

// OpenSeats has so many seats of a match open: the world's queue fills them before it forms new matches. Where taken is
// not nil, nothing is changed unless so many were taken. ErrNoSuchMatch, also of a match that does not stand yet.
func (s *Store) OpenSeats(ctx context.Context, match ident.Match, open int, taken *int) (Seats, error) {
	var expected any = ""
	if taken != nil {
		expected = *taken
	}
	r, err := s.run(ctx, "open_seats", string(match), open, expected)
	if err != nil {
		return Seats{}, err
	}
	return Seats{Open: int(r.number(3)), Taken: int(r.number(4)), World: ident.World(r.text(5))}, nil
}

// ArchivedMatch is a match as a durable record has it: its id and the text that ParseMatch reads.
type ArchivedMatch struct {
	ID   ident.Match
	Text string
}

// RestoreMatches brings back matches that stood before a loss of history, for all for whom nothing newer stands, and
// returns how many. Those that Redis has, that are over, or that were formed since are passed over. At most about 100
// players a call.
func (s *Store) RestoreMatches(ctx context.Context, matches []ArchivedMatch) (int, error) {
	args := []any{len(matches)}
	for _, m := range matches {
		args = append(args, string(m.ID), m.Text)
	}
	r, err := s.run(ctx, "restore_matches", args...)
	if err != nil {
		return 0, err
	}
	s.back(r.text(4))
	return int(r.number(3)), nil
}
