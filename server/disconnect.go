package server

import (
	"context"

	"github.com/coder/websocket"

	"muster/internal/ident"
	"muster/store"
)

// end ends a connection that could not be read, and says good-bye to it.
func (c *socket) end(ctx context.Context, err error) {
	defer c.over()
	c.transport.Over(err)
	c.part(ctx, websocket.CloseStatus(err))
}

// part ends the session of a connection that is over. A close with 1000 leaves the worlds that have leave_on_close.
func (c *socket) part(ctx context.Context, code websocket.StatusCode) {
	c.gone.Store(true)
	c.settle()
	c.session.Over()
	c.server.hub.Leave(c.session)
	isLeaving := code == websocket.StatusNormalClosure
	if isLeaving {
		c.awaitRequests(ctx)
	}
	id := c.session.ID()
	if id.Generation == 0 {
		return
	}
	c.server.log.Debug().Str("player_id", string(id.Player)).Stringer("session_id", id.Generation).Int("code", int(code)).Msg("session ends")
	if isLeaving {
		c.leaveOnClose(ctx, id)
	}
	c.depart(id)
}

// awaitRequests returns when no request of the connection is in flight any more: the last one may be a join.
func (c *socket) awaitRequests(ctx context.Context) {
	ended := make(chan struct{})
	c.session.AfterRequests(func() { close(ended) })
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

func (c *socket) leaveOnClose(ctx context.Context, id store.Session) {
	var worlds []ident.World
	for _, w := range c.server.matching.Worlds() {
		if w.LeaveOnClose && c.session.MayWaitIn(w.Name) {
			worlds = append(worlds, w.Name)
		}
	}
	if len(worlds) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if _, err := c.server.store.RemoveFromQueue(ctx, id, worlds...); err != nil {
		c.server.log.Warn().Err(err).Str("player_id", string(id.Player)).Msg("queue not left on close; the player is away instead")
	}
}

func (c *socket) depart(id store.Session) {
	grace := c.server.config.Presence.ReconnectGrace
	if c.server.draining.Load() {
		grace = c.server.config.Presence.TTL + c.server.config.Drain
	}
	c.server.presence.Depart(id, grace)
}

// departIfGone undoes an arrival that was on its way when the connection ended.
func (c *socket) departIfGone() {
	if c.gone.Load() {
		c.server.hub.Leave(c.session)
		c.depart(c.session.ID())
	}
}
