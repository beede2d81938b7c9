package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"muster/hub"
	"muster/internal/ident"
	"muster/journal"
	"muster/protocol"
	"muster/store"
)

// matchID is the match that the path names.
func matchID(c *gin.Context) (ident.Match, error) {
	if id := c.Param("id"); ident.Valid(id) {
		return ident.Match(id), nil
	}
	return "", store.ErrNoSuchMatch
}

func (s *Server) getMatch(ctx context.Context, c *gin.Context) (int, any, error) {
	id, err := matchID(c)
	if err != nil {
		return 0, nil, err
	}
	m, err := s.store.ReadMatch(ctx, id)
	if errors.Is(err, store.ErrNoSuchMatch) && s.after.journal != nil {
		return s.recordedMatch(ctx, id)
	}
	if err != nil {
		return 0, nil, err
	}
	acked, err := s.hasAcked(ctx, c, id)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, hub.MatchView(m, acked), nil
}

// recordedMatch answers from the durable record, of a match that is over.
func (s *Server) recordedMatch(ctx context.Context, id ident.Match) (int, any, error) {
	m, err := s.after.journal.Match(ctx, id)
	switch {
	case errors.Is(err, journal.ErrNoSuchMatch):
		return 0, nil, store.ErrNoSuchMatch
	case err != nil:
		return 0, nil, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return http.StatusOK, recordedView(m), nil
}

// recorded is a match of the durable record, as the API shows it: the object of one that is open, with how it ended.
type recorded struct {
	*protocol.Match
	Reason  string `json:"reason,omitempty"`
	EndedAt int64  `json:"ended_at,omitempty"`
}

func recordedView(m journal.Match) recorded {
	view := &protocol.Match{
		ID: string(m.ID), World: string(m.World), State: m.State, CreatedAt: m.CreatedAt.UnixMilli(), Rooms: m.Rooms,
		Players: protocol.List[protocol.Player]{}, Endpoint: m.Endpoint,
	}
	if m.EndsAt != nil {
		view.ExpiresAt = m.EndsAt.UnixMilli()
	}
	for _, p := range m.Players {
		view.Players = append(view.Players, protocol.Player{ID: string(p.ID)})
	}
	r := recorded{Match: view, Reason: m.Reason}
	if m.EndedAt != nil {
		r.EndedAt = m.EndedAt.UnixMilli()
	}
	return r
}

// hasAcked tells whether the caller is a player who has acknowledged the match.
func (s *Server) hasAcked(ctx context.Context, c *gin.Context, match ident.Match) (bool, error) {
	player, err := caller(c, "")
	if err != nil {
		return false, nil //nolint:nilerr // a back end, which is no player
	}
	st, err := s.stateOf(ctx, player)
	if err != nil {
		return false, err
	}
	record, err := store.ParseRecord(st.Record)
	return record.Match == match && record.Acked, err
}

func (s *Server) postSeats(ctx context.Context, c *gin.Context) (int, any, error) {
	var body protocol.SeatsBody
	if err := decode(c, &body); err != nil {
		return 0, nil, err
	}
	id, err := matchID(c)
	if err != nil {
		return 0, nil, err
	}
	var taken *int
	if body.Taken != nil {
		seen := int(*body.Taken)
		taken = &seen
	}
	seats, err := s.store.OpenSeats(ctx, id, int(min(body.Open, seatsMax)), taken)
	if err != nil {
		return 0, nil, err
	}
	s.matching.Wake(seats.World)
	return http.StatusOK, gin.H{"open": seats.Open, "taken": seats.Taken}, nil
}

// seatsMax is the most players of a match.
const seatsMax = 100

// ofMatch carries out what a player asks of the match that it is in.
type ofMatch func(ctx context.Context, who store.Session, match ident.Match) (store.Outcome, error)

// postOfMatch is the endpoint of a player's request about its match.
func postOfMatch(do ofMatch) endpoint {
	return func(ctx context.Context, c *gin.Context) (int, any, error) {
		var body protocol.OfMatchBody
		if err := decode(c, &body); err != nil {
			return 0, nil, err
		}
		player, err := caller(c, body.PlayerID)
		if err != nil {
			return 0, nil, err
		}
		if _, err := do(ctx, store.Session{Player: player}, ident.Match(body.MatchID)); err != nil {
			return 0, nil, err
		}
		return http.StatusOK, gin.H{"match_id": body.MatchID}, nil
	}
}

func (s *Server) acceptMatch(ctx context.Context, who store.Session, match ident.Match) (store.Outcome, error) {
	out, err := s.store.AcceptMatch(ctx, who, match)
	if err == nil && out.State == store.Allocating {
		s.allocations.Wake()
	}
	return out, err
}

func (s *Server) deleteMatch(ctx context.Context, c *gin.Context) (int, any, error) {
	id, err := matchID(c)
	if err != nil {
		return 0, nil, err
	}
	if err := s.store.EndMatch(ctx, id, store.Ended); err != nil {
		return 0, nil, err
	}
	return http.StatusNoContent, nil, nil
}
