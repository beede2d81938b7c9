package load

import (
	"context"
	"sync"
	"time"

	"muster/protocol"
)

const (
	// lookInterval is how often the connections are looked at.
	lookInterval = 100 * time.Millisecond
	// progressInterval is how often progress is told.
	progressInterval = time.Second
	// goodbye is for how long connections are closed properly at the end; what is left is dropped.
	goodbye = 3 * time.Second
)

// watch connects players again whose connections ended, and tells progress, until ctx ends.
func (r *run) watch(ctx context.Context, began time.Time) {
	look, tell := time.NewTicker(lookInterval), time.NewTicker(progressInterval)
	defer look.Stop()
	defer tell.Stop()
	previous := Progress{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			for _, p := range r.players {
				p.lookAfter(ctx)
			}
		case <-tell.C:
			if r.o.Progress != nil {
				previous = r.progress(time.Since(began), previous)
				r.o.Progress(previous)
			}
		}
	}
}

// settle waits until all who joined were told, or nothing happens any more, and then finds out what
// became of the rest: it asks for their states and waits once more. Where something moved meanwhile, the
// answers are outdated, and it begins anew.
func (r *run) settle(asking, life context.Context) {
	limit := time.Now().Add(r.o.Settle)
	if deadline, ok := asking.Deadline(); ok && asking.Err() == nil {
		limit = deadline.Add(r.o.Settle)
	}
	var asked []*player
	for {
		r.awaitQuiet(limit)
		askedAt := time.Now()
		r.happened(askedAt)
		asked = asked[:0]
		for _, p := range r.players {
			if p.askState(life) {
				asked = append(asked, p)
			}
		}
		r.awaitQuiet(limit.Add(r.o.Settle))
		if r.waiting.Load() == 0 || r.quietSince().Equal(askedAt) || time.Now().After(limit) {
			break
		}
	}
	r.concludeWaiting(asked)
	r.judge.end(r.connectedPlayers())
}

// awaitQuiet waits until nobody waits any more, or nothing has happened for half of the time to settle.
func (r *run) awaitQuiet(limit time.Time) {
	until(limit, func() bool { return r.waiting.Load() == 0 || time.Since(r.quietSince()) > r.o.Settle/2 })
}

// quietSince is when a player last heard anything of its join.
func (r *run) quietSince() time.Time { return time.Unix(0, r.news.Load()) }

// until polls until a condition holds, at the longest to the limit.
func until(limit time.Time, holds func() bool) {
	ticker := time.NewTicker(lookInterval / 10)
	defer ticker.Stop()
	for !holds() && time.Now().Before(limit) {
		<-ticker.C
	}
}

// concludeWaiting judges the players who were asked for their state. Some may wait for ever, but not as
// many as make a match.
func (r *run) concludeWaiting(asked []*player) {
	r.stay = map[string]int{}
	for _, p := range asked {
		p.mu.Lock()
		unanswered, untold, worlds := p.asked && p.conn != nil && p.conn.Err() == nil, p.untold, p.stays
		waits := p.phase == waiting
		p.mu.Unlock()
		switch {
		case !waits: // any more
			continue
		case unanswered:
			r.judge.fault(Unanswered, "%s asked for its state and was not answered", p.id)
		case untold != nil:
			r.judge.fault(NeverTold, "%s was told of match %s only when it asked", p.id, untold.ID)
			r.judge.tell(p.id, untold, time.Now()) // so that it is not blamed again
		}
		for _, w := range worlds {
			r.stay[w]++
		}
	}
	for name, n := range r.stay {
		// In a duel those who met may not meet again, by the world's rematch_cooldown.
		w := r.worlds[name]
		if mayRefuse := w.Mode == "duel" && r.o.Leave; w.exact() && n >= w.Size && !mayRefuse {
			r.judge.fault(NeverTold, "%d players wait in %s, where %d make a match", n, name, w.Size)
		}
	}
}

// connectedPlayers are the players who are connected now.
func (r *run) connectedPlayers() map[string]bool {
	connected := make(map[string]bool, len(r.players))
	for _, p := range r.players {
		p.mu.Lock()
		connected[p.id] = p.conn != nil && p.conn.Err() == nil
		p.mu.Unlock()
	}
	return connected
}

// closeAll closes all connections. The server is given its time for the handshake, but not for ever.
func (r *run) closeAll(ctx context.Context) {
	limit := time.Now().Add(goodbye)
	work := make(chan *player)
	var wg sync.WaitGroup
	for range dialsAtOnce {
		wg.Go(func() {
			for p := range work {
				p.close(ctx, limit)
			}
		})
	}
	for _, p := range r.players {
		work <- p
	}
	close(work)
	wg.Wait()
}

// close closes the player's connection. One who waits leaves first, so that the next run finds nobody.
func (p *player) close(ctx context.Context, limit time.Time) {
	p.mu.Lock()
	c, stays := p.conn, p.phase == waiting
	p.conn = nil
	p.mu.Unlock()
	switch {
	case c == nil:
	case time.Now().After(limit):
		c.CloseNow()
	default:
		if stays {
			_ = c.SendText(ctx, protocol.Encode(&protocol.Leave{})) // the end of the connection will do too
		}
		c.Close(protocol.CloseNormal)
	}
}
