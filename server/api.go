package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"muster/hub"
	"muster/internal/ident"
	"muster/matching"
	"muster/protocol"
	"muster/store"
)

// playerHeader names the player in dev mode.
const playerHeader = "X-Player-Id"

// routes are the HTTP API of PROTOCOL.md, section 7.
func (s *Server) routes(e *gin.Engine) {
	// A page of another origin could not read an answer, but its request would have been carried out.
	v1 := e.Group("/v1", s.refuseForeign)
	v1.GET("/ws", s.upgrade)
	v1.POST("/matching/join", s.handle(s.postJoin))
	v1.POST("/matching/leave", s.handle(s.postLeave))
	v1.POST("/matching/heartbeat", s.handle(s.postHeartbeat))
	for verb, do := range map[string]ofMatch{
		"accept": s.acceptMatch, "decline": s.store.DeclineMatch, "ack": s.store.AckMatch, "leave_match": s.store.LeaveMatch,
	} {
		v1.POST("/matching/"+verb, s.handle(postOfMatch(do)))
	}
	v1.GET("/matching/my-status", s.handle(s.getMyStatus)) // no HEAD: a proposal that is answered counts as shown
	getAndHead(v1, "/matching/worlds", s.handle(s.getWorlds))
	getAndHead(v1, "/matching/queue-status/:world", s.handle(s.getQueueStatus))
	getAndHead(v1, "/matches/:id", s.handle(s.getMatch))
	v1.POST("/matches/:id/seats", s.handle(s.postSeats))
	v1.DELETE("/matches/:id", s.handle(s.deleteMatch))
	getAndHead(e, "/healthz", getHealth)
	getAndHead(e, "/readyz", s.getReady)
}

// endpoint answers a request with a status and a body; nil is no body.
type endpoint func(ctx context.Context, c *gin.Context) (status int, body any, err error)

// handle makes an endpoint a handler: bounded in time, errors as problems.
func (s *Server) handle(do endpoint) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx, cancel := context.WithTimeout(c.Request.Context(), requestTimeout)
		defer cancel()
		status, body, err := do(ctx, c)
		switch {
		case err != nil:
			wire := retryable(s.wireError(err))
			s.metrics.errorSent(wire.Code)
			writeProblem(c, wire)
		case body == nil:
			c.Status(status)
		default:
			c.PureJSON(status, body)
		}
	}
}

func getHealth(c *gin.Context) { c.PureJSON(http.StatusOK, gin.H{"status": "ok"}) }

func (s *Server) getReady(c *gin.Context) {
	switch {
	case s.draining.Load():
		writeProblem(c, retryable(protocol.NewError(protocol.CodeDraining)))
	case !s.Ready():
		writeProblem(c, retryable(protocol.NewError(protocol.CodeUnavailable)))
	default:
		c.PureJSON(http.StatusOK, gin.H{"status": "ready"})
	}
}

// caller is the player that a request is about: the one that a back end names in the body, or the caller
// itself. In dev mode every caller is a back end.
func caller(c *gin.Context, named string) (ident.Player, error) {
	id := c.GetHeader(playerHeader)
	if named != "" {
		id = named
	}
	if id == "" {
		return "", protocol.Errorf(protocol.CodeUnauthorized, "no player: name one with the header %s", playerHeader)
	}
	if !ident.Valid(id) {
		return "", protocol.Errorf(protocol.CodeBadMessage, "%s: must be an id of 1 to %d characters", playerHeader, protocol.MaxIDLength)
	}
	return ident.Player(id), nil
}

// decode reads the request's body.
func decode(c *gin.Context, body protocol.Body) error {
	raw, err := io.ReadAll(c.Request.Body)
	if err != nil {
		return protocol.Errorf(protocol.CodeBadMessage, "the body could not be read")
	}
	return protocol.DecodeBody(raw, body)
}

func (s *Server) postJoin(ctx context.Context, c *gin.Context) (int, any, error) {
	var body protocol.JoinBody
	if err := decode(c, &body); err != nil {
		return 0, nil, err
	}
	player, err := caller(c, body.PlayerID)
	if err != nil {
		return 0, nil, err
	}
	world, err := s.joinable(&body.Join)
	if err != nil {
		return 0, nil, err
	}
	joined, err := s.matching.Join(ctx, world.Name, store.Join{Player: player, Key: body.Ticket, Fingerprint: body.Fingerprint()})
	if err != nil {
		return 0, nil, s.httpError(ctx, err)
	}
	status := http.StatusCreated
	if joined.Repeated && body.Ticket != "" {
		status = http.StatusOK
	}
	return status, s.joined(world.Name, joined), nil
}

// httpError adds to in_match and in_proposal which match it is.
func (s *Server) httpError(ctx context.Context, err error) error {
	wire := s.wireError(err)
	var inMatch *store.InMatchError
	if errors.As(err, &inMatch) {
		if m, err := s.store.ReadMatch(ctx, inMatch.Match); err == nil {
			wire.Match = hub.MatchView(m, false)
		}
	}
	return wire
}

func (s *Server) postLeave(ctx context.Context, c *gin.Context) (int, any, error) {
	var body protocol.LeaveBody
	if err := decode(c, &body); err != nil {
		return 0, nil, err
	}
	player, err := caller(c, body.PlayerID)
	if err != nil {
		return 0, nil, err
	}
	worlds, err := s.leavable(&body.Leave)
	if err != nil {
		return 0, nil, err
	}
	left, err := s.store.RemoveFromQueue(ctx, store.Session{Player: player}, worlds...)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, leftReply(left), nil
}

func (s *Server) postHeartbeat(ctx context.Context, c *gin.Context) (int, any, error) {
	var body protocol.HeartbeatBody
	if err := decode(c, &body); err != nil {
		return 0, nil, err
	}
	player, err := caller(c, body.PlayerID)
	if err != nil {
		return 0, nil, err
	}
	st, err := s.store.Heartbeat(ctx, player)
	if err != nil {
		return 0, nil, err
	}
	for world := range st.Ranks {
		s.matching.Wake(world)
	}
	return http.StatusOK, s.shown(st), nil
}

func (s *Server) getMyStatus(ctx context.Context, c *gin.Context) (int, any, error) {
	player, err := caller(c, "")
	if err != nil {
		return 0, nil, err
	}
	st, err := s.stateOf(ctx, player)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, s.shown(st), nil
}

// shown is a player's state as it answers a request. A match that is proposed is shown by it to a player that lives by
// heartbeats, which is asked in no other way.
func (s *Server) shown(st store.PlayerState) protocol.PlayerState {
	if record, err := store.ParseRecord(st.Record); err == nil && record.Held {
		if m, err := store.ParseMatch(record.Match, st.Match); err == nil && m.State == store.Proposed && !slices.Contains(m.Shown, st.Player) {
			s.prompts.add(store.Shown{Player: st.Player, Match: m.ID, ByHTTP: true})
		}
	}
	return hub.State(st, s.worlds.Facts)
}

// worldSummary is a world in the list of those that a client may join: its rules in short.
type worldSummary struct {
	Name            ident.World   `json:"name"`
	Mode            matching.Mode `json:"mode"`
	Size            int           `json:"size"`
	Waiting         int           `json:"waiting"`
	OpenMatches     int64         `json:"open_matches"`
	EstimatedWaitMS *int64        `json:"estimated_wait_ms"`
	Rooms           []string      `json:"rooms"`
	PartyMax        int           `json:"party_max"`
}

func (s *Server) getWorlds(ctx context.Context, _ *gin.Context) (int, any, error) {
	if s.matching.Revision() == 0 {
		return 0, nil, store.ErrUnavailable
	}
	summaries, names := []worldSummary{}, []ident.World{}
	for _, w := range s.matching.Worlds() {
		if w.State == matching.Open {
			summaries = append(summaries, worldSummary{Name: w.Name, Mode: w.Mode, Size: w.MatchSize(), Rooms: w.Rooms, PartyMax: w.PartyMax})
			names = append(names, w.Name)
		}
	}
	queues, err := s.store.Queues(ctx, names)
	if err != nil {
		return 0, nil, err
	}
	for i, q := range queues {
		summaries[i].Waiting, summaries[i].OpenMatches, summaries[i].EstimatedWaitMS = q.Size, q.Open, hub.Estimate(q.MeanWait, q.Now, 0)
	}
	return http.StatusOK, map[string]any{"worlds": summaries}, nil
}

// queueStatus is how a world's queue stands.
type queueStatus struct {
	World           ident.World   `json:"world"`
	Mode            matching.Mode `json:"mode"`
	Size            int           `json:"size"`
	Waiting         int           `json:"waiting"`
	OpenMatches     int64         `json:"open_matches"`
	MatchesTotal    int64         `json:"matches_total"`
	EstimatedWaitMS *int64        `json:"estimated_wait_ms"`
	OldestWaitedMS  int64         `json:"oldest_waited_ms"`
}

func (s *Server) getQueueStatus(ctx context.Context, c *gin.Context) (int, any, error) {
	world, ok := s.matching.World(ident.World(c.Param("world")))
	if !ok {
		if s.matching.Revision() == 0 {
			return 0, nil, store.ErrUnavailable
		}
		return 0, nil, store.ErrUnknownWorld
	}
	q, err := s.store.Positions(ctx, world.Name, 0, nil)
	if err != nil {
		return 0, nil, err
	}
	status := queueStatus{
		World: world.Name, Mode: world.Mode, Size: world.MatchSize(), Waiting: q.Size, OpenMatches: q.Open,
		MatchesTotal: q.Matches, EstimatedWaitMS: hub.Estimate(q.MeanWait, q.Now, 0),
	}
	if q.OldestAt > 0 {
		status.OldestWaitedMS = max(0, q.Now-q.OldestAt)
	}
	return http.StatusOK, status, nil
}
