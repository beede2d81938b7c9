package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/musterhq/muster/e2e/history"
	"github.com/musterhq/muster/internal/faultproxy"
	"github.com/musterhq/muster/internal/redistest"
)

var (
	soakFlag = flag.Duration("soak", 0, "how long TestSoak goes on; 0 is one round")
	seedFlag = flag.Uint64("seed", 0, "seed of TestSoak's first round; 0 takes one at random")
)

func itoa(n int) string { return strconv.Itoa(n) }

// Numbers of one round.
const (
	roundPlayers = 300
	roundFaults  = 9
	// healing is how long the players' state may take to be right again after a fault.
	healing = 3 * time.Second
)

// TestSoak moves hundreds of players over three instances while instances crash and drain, Redis is cut
// off, frozen and emptied, and judges all that every client saw. Each round has new players and a seed of
// its own, by which its schedule can be repeated.
func TestSoak(t *testing.T) {
	redis := redistest.Start(t)
	proxy := faultproxy.Start(t, redis.Addr())
	c := startCluster(t, 3, withRedis(redis, proxy.Addr()), withEnv("PRESENCE_TTL=2s"))
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	end := time.Now().Add(*soakFlag)
	for round := 1; ; round++ {
		t.Logf("round %d: go test ./e2e -run '^TestSoak$' -seed %d", round, seed)
		c.history = history.New()
		(&storm{cluster: c, proxy: proxy, random: rand.New(rand.NewPCG(seed, 0)), seed: seed}).blow(round)
		if t.Failed() || time.Now().After(end) {
			return
		}
		seed++
	}
}

// storm is one round of faults.
type storm struct {
	cluster *cluster
	proxy   *faultproxy.Proxy
	random  *rand.Rand
	seed    uint64
}

func (s *storm) blow(round int) {
	c := s.cluster
	d, players := startDriver(c, s.seed, fmt.Sprintf("r%d", round), roundPlayers, "duel", "trio", "five")
	faults := []func(){s.crash, s.crash, s.drain, s.empty, s.emptyAndCrash, s.cut, s.blackout, s.loseReplies, s.freeze}
	for _, i := range s.random.Perm(roundFaults) {
		<-time.After(s.between(500*time.Millisecond, 2*time.Second))
		faults[i]()
	}
	<-time.After(healing)
	d.finish()
	settled := d.settle(players)
	c.judge(history.Options{SettledAt: settled})
	for _, p := range players {
		p.leaveAll()
	}
}

func (s *storm) between(least, most time.Duration) time.Duration {
	return least + time.Duration(s.random.Int64N(int64(most-least)))
}

func (s *storm) any() *instance { return s.cluster.instances[s.random.IntN(len(s.cluster.instances))] }

func (s *storm) say(what string, i *instance) {
	if i != nil {
		what += " " + i.name
	}
	s.cluster.t.Logf("%s %s", time.Now().Format("15:04:05.000"), what)
}

// crash kills an instance and starts it again.
func (s *storm) crash() {
	i := s.any()
	s.say("crash", i)
	i.kill()
	<-time.After(s.between(100*time.Millisecond, time.Second))
	i.start()
	i.awaitReady()
}

// drain stops an instance in order and starts it again.
func (s *storm) drain() {
	i := s.any()
	s.say("drain", i)
	if code := i.stop(); code != 0 {
		s.cluster.t.Errorf("%s drained with exit code %d", i.name, code)
	}
	i.start()
	i.awaitReady()
}

// empty takes all data from Redis.
func (s *storm) empty() {
	s.say("empty", nil)
	s.lose()
}

// emptyAndCrash takes all data from Redis and an instance with it, before it can say what it knew.
func (s *storm) emptyAndCrash() {
	i := s.any()
	s.say("empty and crash", i)
	i.kill()
	s.lose()
	i.start()
	i.awaitReady()
}

// lose empties Redis. Who is not connected to an instance that lives from now until all is healed may
// lose its place; those of a crashed one are not connected.
func (s *storm) lose() {
	from := time.Now()
	s.cluster.history.Lost(history.Loss{Span: history.Span{From: from, To: from.Add(healing)}})
	s.cluster.redis.FlushAll()
	<-time.After(healing)
}

// cut breaks all connections to Redis.
func (s *storm) cut() {
	s.say("cut", nil)
	s.troubled(func() { s.proxy.Cut() })
}

// blackout holds back all that goes to Redis or comes from it.
func (s *storm) blackout() {
	s.say("blackout", nil)
	s.troubled(func() {
		s.proxy.BlackHole(faultproxy.Both)
		<-time.After(s.between(200*time.Millisecond, 4*time.Second))
		s.proxy.BlackHole(faultproxy.Neither)
	})
}

// loseReplies lets Redis do what nobody hears of.
func (s *storm) loseReplies() {
	s.say("lose replies", nil)
	s.troubled(func() { s.proxy.SwallowRepliesTo("EVALSHA", 20) })
}

// freeze lets Redis stand still.
func (s *storm) freeze() {
	s.say("freeze", nil)
	s.troubled(func() {
		s.cluster.redis.Pause()
		<-time.After(s.between(200*time.Millisecond, 4*time.Second))
		s.cluster.redis.Resume()
	})
}

func (s *storm) troubled(fault func()) {
	from := time.Now()
	fault()
	s.cluster.history.Troubled(history.Span{From: from, To: time.Now().Add(healing)})
}

// leaveAll ends what the player has and its connection, so that it is in nobody's way.
func (p *player) leaveAll() {
	p.leave("")
	if match, _ := p.believes(); match != "" {
		p.leaveMatch(match)
	}
	c, _ := p.current()
	c.CloseNow()
}
