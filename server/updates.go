package server

import (
	"context"
	"slices"
	"time"

	"github.com/musterhq/muster/hub"
	"github.com/musterhq/muster/internal/ident"
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
		for world, players := range s.hub.Waiting() {
			// While Redis is away there is nothing to tell; the lease's renewal says so in the log.
			_ = s.updateWorld(ctx, world, players, turn)
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
