package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/protocol"
)

// stepTimes is how often each step is taken in the long form of TestAnInstanceDiesAtEachStep.
const stepTimes = 20

// steps are the moments between a match's formation and its completion at which an instance dies: the one that does
// the step. Each leads a fresh pair to the step and kills.
var steps = []struct {
	name string
	take func(s *stepPair)
}{
	{"formed", func(s *stepPair) { s.during(s.b, &protocol.Join{World: "served"}) }},
	{"shown", func(s *stepPair) {
		s.b.join("served")
		await[*protocol.MatchProposed](s.b)
		s.kill()
	}},
	{"one accepted", func(s *stepPair) {
		s.b.join("served")
		s.during(s.b, s.accept())
	}},
	{"all accepted", func(s *stepPair) {
		s.b.join("served")
		do[*protocol.Accepted](s.a, s.accept())
		s.during(s.b, s.accept())
	}},
	{"claimed", func(s *stepPair) { s.serve(func() { s.kill() }, nil) }},
	{"allocator answered", func(s *stepPair) {
		s.serve(nil, func() {
			<-time.After(s.moment())
			s.kill()
		})
	}},
	{"told", func(s *stepPair) {
		s.serve(nil, nil)
		s.a.awaitMatch()
		s.kill()
	}},
}

// TestAnInstanceDiesAtEachStep kills the instance that takes a step in a match's life, right then. Whatever was done
// by then stands or falls for both players alike, both learn it, and they meet in the end.
func TestAnInstanceDiesAtEachStep(t *testing.T) {
	t.Parallel()
	times := 1
	if *lifeFlag > 0 {
		times = stepTimes
	}
	seed := rand.Uint64()
	servers := startGameServers(t, seed)
	c := startCluster(t, 3, withWorlds(lifeSettings(servers.URL)))
	random := rand.New(rand.NewPCG(seed, 2))
	for number, step := range steps {
		same, again := 0, 0
		for n := range times {
			s := newStepPair(c, servers, random, fmt.Sprintf("s%d-%d-", number, n))
			step.take(s)
			if s.carryOn() == s.first {
				same++
			}
			if servers.callsOf(s.first) > 1 {
				again++
			}
			s.victim.start()
			s.victim.awaitReady()
			s.part()
		}
		t.Logf("%s: of %d pairs %d are in the match that it befell, the others in a later one; for %d a server was asked for again",
			step.name, times, same, again)
	}
	c.judge(history.Options{SettledAt: time.Now(), Worlds: lifeJudged})
}

// stepPair is two players on two instances, of which one is going to die.
type stepPair struct {
	t         *testing.T
	cluster   *cluster
	servers   *gameServers
	random    *rand.Rand
	a, b      *player
	victim    *instance // b's
	first     string    // the match that both were asked about first
	dead      chan struct{}
	accepting map[string]bool // by player, match and connection
}

// newStepPair connects a pair, of which the first waits.
func newStepPair(c *cluster, servers *gameServers, random *rand.Rand, prefix string) *stepPair {
	s := &stepPair{
		t: c.t, cluster: c, servers: servers, random: random, a: c.player(prefix + "a"), b: c.player(prefix + "b"),
		dead: make(chan struct{}), accepting: map[string]bool{},
	}
	at := random.Perm(len(c.instances))
	s.victim = c.instances[at[1]]
	s.a.connect(c.instances[at[0]])
	s.b.connect(s.victim)
	s.a.join("served")
	return s
}

// moment is a short time, about as long as a request takes.
func (s *stepPair) moment() time.Duration {
	return time.Duration(s.random.Int64N(int64(3 * time.Millisecond)))
}

func (s *stepPair) kill() {
	s.victim.kill()
	close(s.dead)
}

// during kills while a request of a player is on its way.
func (s *stepPair) during(p *player, r protocol.Request) {
	go func() { _, _ = p.try(r) }() // the history judges what is answered
	<-time.After(s.moment())
	s.kill()
}

// accept is the acceptance of the match that both were asked about.
func (s *stepPair) accept() *protocol.Accept {
	if s.first == "" {
		s.first = await[*protocol.MatchProposed](s.a).Match.ID
		await[*protocol.MatchProposed](s.b)
	}
	return &protocol.Accept{MatchID: s.first}
}

// serve has both accept. The functions, if not nil, are called when the allocator is asked for the first time, and
// when it has answered.
func (s *stepPair) serve(asked, answered func()) {
	kills := asked != nil || answered != nil
	s.servers.hook(func(_ string, number int) {
		if asked != nil && number == 1 {
			asked()
		}
	}, func(match string) {
		if answered != nil && s.servers.callsOf(match) == 1 {
			go answered()
		}
	})
	s.b.join("served")
	do[*protocol.Accepted](s.a, s.accept())
	go func(r protocol.Request) { _, _ = s.b.try(r) }(s.accept()) // its instance may die before it answers
	if kills {
		<-s.dead
		s.servers.hook(nil, nil)
	}
}

// carryOn has both do what a player does, until they are in one match, which it returns.
func (s *stepPair) carryOn() (match string) {
	deadline := time.Now().Add(settleWithin)
	for tick := time.Tick(pollInterval); time.Now().Before(deadline); <-tick {
		a, b := s.live(s.a), s.live(s.b)
		if s.first == "" && a != nil {
			s.first = a.ID
		}
		if a != nil && b != nil && a.ID == b.ID && a.State == protocol.StateComplete && b.State == protocol.StateComplete {
			return a.ID
		}
	}
	s.t.Fatalf("%s and %s do not meet", s.a.id, s.b.id)
	return ""
}

// connected reports whether a player has a connection; it tries to connect one that has none.
func (s *stepPair) connected(ctx context.Context, p *player) bool {
	c, _ := p.current()
	if c != nil && c.Err() == nil {
		return true
	}
	if i := s.cluster.instances[s.random.IntN(len(s.cluster.instances))]; i.running() {
		_, _ = p.tryConnect(ctx, i) // a failure is tried again
	}
	return false
}

// live has a player connect, join and accept, as needed, and returns its match.
func (s *stepPair) live(p *player) *protocol.Match {
	ctx, cancel := context.WithTimeout(s.t.Context(), attempt)
	defer cancel()
	match := p.log.Match()
	if !s.connected(ctx, p) {
		return match
	}
	c, conn := p.current()
	switch {
	case match == nil && len(p.log.Waiting()) == 0:
		_, _ = p.ask(ctx, c, conn, &protocol.Join{World: "served"})
	case match != nil && match.State == protocol.StateProposed:
		key := fmt.Sprint(p.id, match.ID, conn)
		if !s.accepting[key] {
			s.accepting[key] = true
			_, _ = p.ask(ctx, c, conn, &protocol.Accept{MatchID: match.ID}) // a failure is tried again on the next connection
		}
	}
	return match
}

// part has both leave their match, and join nothing: a ticket of theirs could be matched with the next pair's. That a
// connection died with its instance may be noticed only now.
func (s *stepPair) part() {
	for _, p := range []*player{s.a, s.b} {
		eventually(s.t, func() string {
			ctx, cancel := context.WithTimeout(s.t.Context(), attempt)
			defer cancel()
			if !s.connected(ctx, p) {
				return p.id + " has no connection"
			}
			match := p.log.Match()
			if match == nil {
				p.cut()
				return ""
			}
			_, err := p.try(&protocol.LeaveMatch{MatchID: match.ID})
			return fmt.Sprintf("%s is in match %s still: %v", p.id, match.ID, err)
		})
	}
}
