package e2e

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/musterhq/muster/protocol"
)

// probeAttempt bounds one try of a probe: an instance answers within 3 s, whatever befalls it.
const probeAttempt = 4 * time.Second

// probe measures how long after a moment two fresh players on different instances have met.
func (s *storm) probe(since time.Time) time.Duration {
	s.probes++
	ctx, cancel := context.WithTimeout(s.cluster.t.Context(), patience)
	defer cancel()
	where := s.random.Perm(len(s.cluster.instances))
	var pair []*player
	var wg sync.WaitGroup
	for k := range 2 {
		p := s.cluster.player(fmt.Sprintf("r%d-probe%d-%d", s.report.rounds, s.probes, k))
		i := s.cluster.instances[where[k]]
		pair = append(pair, p)
		wg.Go(func() { p.meet(ctx, i, probeWorld) })
	}
	wg.Wait()
	took := time.Since(since)
	for _, p := range pair {
		match, _ := p.believes()
		if match == "" {
			s.cluster.t.Errorf("seed %d: %s is not matched %v after the fault", s.seed, p.id, took)
			continue
		}
		// Its outcome matters to the history, not to the probe.
		_, _ = p.try(&protocol.LeaveMatch{MatchID: match})
		p.cut()
	}
	return took
}

// meet connects and joins, as often as it takes, until the player is in a match or ctx ends.
func (p *player) meet(ctx context.Context, i *instance, world string) {
	for tick := time.Tick(pollInterval); ctx.Err() == nil; <-tick {
		match, queued := p.believes()
		c, conn := p.current()
		attempt, cancel := context.WithTimeout(ctx, probeAttempt)
		switch {
		case match != "":
			cancel()
			return
		case c == nil || c.Err() != nil:
			_, _ = p.tryConnect(attempt, i) // what fails is tried again
		case queued == 0:
			_, _ = p.ask(attempt, c, conn, &protocol.Join{World: world})
		}
		cancel()
	}
}
