package server

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/musterhq/muster/hub"
	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/lua"
	"github.com/musterhq/muster/protocol"
)

// matchID is the match that the path names.
func matchID(c *gin.Context) (ident.Match, error) {
	if id := c.Param("id"); ident.Valid(id) {
		return ident.Match(id), nil
	}
	return "", lua.ErrNoSuchMatch
}

func (s *Server) getMatch(ctx context.Context, c *gin.Context) (int, any, error) {
	id, err := matchID(c)
	if err != nil {
		return 0, nil, err
	}
	m, err := s.store.ReadMatch(ctx, id)
	if err != nil {
		return 0, nil, err
	}
	acked, err := s.hasAcked(ctx, c, id)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, hub.MatchView(m, acked), nil
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
	record, err := lua.ParseRecord(st.Record)
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
	s.matching.Poke(seats.World)
	return http.StatusOK, gin.H{"open": seats.Open, "taken": seats.Taken}, nil
}

// seatsMax is the most players of a match.
const seatsMax = 100

func (s *Server) deleteMatch(ctx context.Context, c *gin.Context) (int, any, error) {
	id, err := matchID(c)
	if err != nil {
		return 0, nil, err
	}
	if err := s.store.EndMatch(ctx, id, lua.Ended); err != nil {
		return 0, nil, err
	}
	return http.StatusNoContent, nil, nil
}
