package server

import (
	"context"
	"slices"
	"time"

	"muster/hub"
	"muster/internal/ident"
)

const (
	updateInterval = time.Second
	// exactHead are the places that are told exactly each second; behind them each client has its turn.
	exactHead = 100
)

// updateLoop tells those who wait here how their queues stand, at most once a second.
func (s *Server) updateLoop(ctx context.Context) {
	ticker := time.NewTicker(updateInterval)
	defer ticker.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		s.updateWorlds(ctx, s.hub.Waiting(), turn)
	}
}

// updateWorlds updates one world after the other, spread over the interval.
func (s *Server) updateWorlds(ctx context.Context, waiting map[ident.World][]ident.Player, turn int) {
	apart := time.NewTicker(updateInterval / time.Duration(len(waiting)+1))
	defer apart.Stop()
	for world, players := range waiting {
		// While Redis is away there is nothing to send; the lease's renewal logs that.
		_ = s.updateWorld(ctx, world, players, turn)
		select {
		case <-ctx.Done():
			return
		case <-apart.C:
		}
	}
}

// updateWorld reads how a queue stands, and tells the head and those whose turn it is.
func (s *Server) updateWorld(ctx context.Context, world ident.World, players []ident.Player, turn int) error {
	slices.Sort(players)
	first := turn * exactHead % (len(players)/exactHead*exactHead + exactHead)
	asked := players[min(first, len(players)):min(first+exactHead, len(players))]
	q, err := s.store.Positions(ctx, world, exactHead, asked)
	if err != nil {
		return err
	}
	s.worlds.learn(world, q.MeanWait)
	places := map[ident.Player]int{}
	for i, player := range asked {
		places[player] = q.Ranks[i]
	}
	for i, player := range q.Head {
		places[player] = i + 1
	}
	facts := s.worlds.Facts(world)
	for _, player := range players {
		if at := places[player]; at > 0 {
			view := hub.QueueView{Position: at, Size: q.Size, MeanWait: q.MeanWait}
			s.hub.UpdateQueue(player, world, view, facts, q.Now)
		}
	}
	return nil
}
