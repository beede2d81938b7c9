package e2e

import (
	"context"
	"fmt"
	"sync"
	"time"

	"muster/protocol"
)

// probeAttempt bounds one try of a probe: an instance answers within 3 s, whatever befalls it.
const probeAttempt = 4 * time.Second

// probe measures how long after a moment two fresh players on different instances have met.
func (s *storm) probe(since time.Time) time.Duration {
	where := s.random.Perm(len(s.cluster.instances))
	pair := s.pair("probe")
	return s.meeting(since, pair, s.cluster.instances[where[0]], s.cluster.instances[where[1]])
}

// pair are two players that do not take part in anything else.
func (s *storm) pair(kind string) []*player {
	s.probes++
	var pair []*player
	for k := range 2 {
		pair = append(pair, s.cluster.player(fmt.Sprintf("r%d-%s%d-%d", s.report.rounds, kind, s.probes, k)))
	}
	return pair
}

// meeting has a pair meet, each player on its instance and nobody else, and returns how long after a moment both
// knew of it. Then it lets them go.
func (s *storm) meeting(since time.Time, pair []*player, at ...*instance) time.Duration {
	ctx, cancel := context.WithTimeout(s.cluster.t.Context(), patience)
	defer cancel()
	var wg sync.WaitGroup
	for k, p := range pair {
		wg.Go(func() { p.meet(ctx, at[k], probeWorld) })
	}
	wg.Wait()
	took := time.Since(since)
	first, _ := pair[0].believes()
	if second, _ := pair[1].believes(); first == "" || first != second {
		s.cluster.t.Errorf("seed %d: %v after the fault %s is in match %q, and %s in %q", s.seed, took, pair[0].id, first, pair[1].id, second)
	}
	for _, p := range pair {
		s.letGo(p)
	}
	return took
}

// letGo ends what a player of a probe has.
func (s *storm) letGo(p *player) {
	if c, _ := p.current(); c == nil {
		return
	}
	// The outcome matters to the history, not to the probe.
	_, _ = p.try(&protocol.Leave{})
	if match, _ := p.believes(); match != "" {
		_, _ = p.try(&protocol.LeaveMatch{MatchID: match})
	}
	p.cut()
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

// wait connects and joins, as often as it takes, until the player waits, or is matched: the fault before may have left what only the
// next call meets, such as replies that are still to be lost.
func (p *player) wait(i *instance, world string) {
	for tick := time.Tick(pollInterval); p.t.Context().Err() == nil; <-tick {
		if c, _ := p.current(); c == nil || c.Err() != nil {
			p.insist(i)
		}
		if match, queued := p.believes(); match != "" || queued > 0 {
			return // where others wait it may be matched at once
		}
		_, _ = p.try(&protocol.Join{World: world}) // what fails is tried again
	}
}

// orphan kills an instance that two players are on, one of whom waits for the other, and has them come back
// to another instance.
func (s *storm) orphan(i *instance) {
	pair := s.pair("orphan")
	pair[0].wait(i, probeWorld)
	pair[1].insist(i)
	i.kill()
	other := s.cluster.instances[0]
	if other == i {
		other = s.cluster.instances[1]
	}
	for _, p := range pair {
		p.insist(other)
	}
	took := s.meeting(time.Now(), pair, other, other)
	checkTook(s.cluster.t, fmt.Sprintf("seed %d: a match of players of a killed instance", s.seed), took, reconnectBound)
	s.report.suffered(comeBack, took)
}

// told does harm to what instances are told while a pair on two of them meets: one of the two can learn of it
// only by what is lost. That it does in time can be asked only where nothing else is broken.
func (s *storm) told(harm func()) {
	if !s.alone {
		harm()
		return
	}
	pair, at := s.pair("told"), s.cluster.instances
	for k, p := range pair {
		p.insist(at[k])
	}
	harm()
	took := s.meeting(time.Now(), pair, at[0], at[1])
	checkTook(s.cluster.t, fmt.Sprintf("seed %d: delivery of a match whose publish was lost", s.seed), took, toldBound)
	s.report.suffered(toldLate, took)
}
