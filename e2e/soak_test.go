package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/internal/redistest"
)

var (
	soakFlag    = flag.Duration("soak", 0, "how long TestSoak goes on; 0 is one round")
	seedFlag    = flag.Uint64("seed", 0, "seed of TestSoak's first round; 0 takes one at random")
	kindsFlag   = flag.String("faults", "", "parts of the names of the faults that TestSoak takes, with | between them; empty takes all")
	playersFlag = flag.Int("players", 100, "how many players TestSoak moves; the default takes about half of two cores, with the race detector on")
	slackFlag   = flag.Float64("slack", 0, "factor on the times that a recovery may take; 0 is 1 with -soak; without it they are only reported")
	writeFlag   = flag.Bool("write-guarantees", false, "write TestSoak's table into docs/notes/soaks.md")
)

func itoa(n int) string { return strconv.Itoa(n) }

// slack is the factor on all bounds. A short run shares its machine with other tests.
func slack() float64 {
	switch {
	case *slackFlag > 0:
		return *slackFlag
	case *soakFlag > 0:
		return 1
	default:
		return 4
	}
}

// within is a bound as this run takes it.
func within(bound time.Duration) time.Duration { return time.Duration(float64(bound) * slack()) }

// checkTook fails the test if something took longer than a bound, in a run that is for measuring: a soak, or one with -slack.
// Any other run shares its machine and its time decides nothing.
func checkTook(t *testing.T, what string, took, bound time.Duration) {
	t.Helper()
	if (*soakFlag > 0 || *slackFlag > 0) && took > within(bound) {
		t.Errorf("%s took %v, at most %v", what, took, within(bound))
	}
}

// Numbers of one round. The short form strikes with some faults only; its seed is at random, so that each comes up in time.
const (
	roundAlone, shortAlone   = 7, 4 // faults that strike one after another
	roundAtOnce, shortAtOnce = 3, 1 // times that two or three strike at once
	// healing is how long the players' state may take to be right again after a fault.
	healing = 3 * time.Second
	// soakTTL is longer than the lease of an instance, so that the lease alone tells that one is silent.
	soakTTL   = 5 * time.Second
	soakGrace = time.Second
)

// soakWorlds are the worlds that the players are moved through, and their sizes.
var soakWorlds = map[string]int{"duel": 2, "trio": 3, "five": 5}

// probeWorld is for probes alone, so that they meet each other.
const probeWorld = "probe"

// TestSoak moves players over three instances while everything around them breaks, and judges
// all that every client saw. Each round has new players, some of the faults and a seed of its own, by
// which its schedule can be repeated.
func TestSoak(t *testing.T) {
	redis := redistest.Start(t, redistest.AppendOnly())
	c := startCluster(t, 3, withRedis(redis, redis.Addr()), withProxies(), withShortPresence, withEnv("PRESENCE_TTL="+soakTTL.String()),
		withWorlds(strings.TrimRight(defaultWorlds, "\n")+`
  - {name: probe, mode: duel, tick: 100ms, match_hold: 30s}
`))
	report := newReport(t)
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	for end := time.Now().Add(*soakFlag); ; seed++ {
		t.Logf("round %d: go test ./e2e -run '^TestSoak$' -seed %d", report.rounds+1, seed)
		c.history = history.New()
		s := newStorm(c, seed)
		s.report = report
		s.blow()
		if t.Failed() || time.Now().After(end) {
			break
		}
	}
	t.Logf("the soak in numbers:\n%s", report)
	if *writeFlag && !t.Failed() {
		report.write("../docs/notes/soaks.md")
	}
	if *soakFlag > 0 && !t.Failed() {
		<-time.After(30 * time.Second) // for as long as a match is held
		eventually(t, c.remains)
		c.endlessKeys(permanent...)
	}
}

// storm is one round of faults.
type storm struct {
	cluster *cluster
	random  *rand.Rand
	seed    uint64
	report  *report
	deck    []fault // of chosenFaults, what is still to come
	probes  int
	victim  *instance       // the one that this fault may harm; nil for any
	alone   bool            // no other fault strikes at the same time
	later   *sync.WaitGroup // what goes on beyond the fault, until the end of the round
}

func newStorm(c *cluster, seed uint64) *storm {
	return &storm{cluster: c, random: rand.New(rand.NewPCG(seed, 0)), seed: seed, later: &sync.WaitGroup{}}
}

// blow runs the round and judges it.
func (s *storm) blow() {
	c := s.cluster
	var worlds []string
	judged := map[string]history.World{probeWorld: {Size: 2}}
	for _, name := range []string{"duel", "trio", "five"} {
		worlds = append(worlds, name)
		judged[name] = history.World{Size: soakWorlds[name]}
	}
	s.report.rounds++
	d, players := startDriver(c, s.seed, fmt.Sprintf("r%d", s.report.rounds), *playersFlag, worlds...)
	s.report.measureLoad()
	alone, atOnce := roundAlone, roundAtOnce
	if *soakFlag == 0 {
		alone, atOnce = shortAlone, shortAtOnce
	}
	for n := range alone + atOnce {
		<-time.After(s.between(300*time.Millisecond, 1200*time.Millisecond))
		most := 1
		if n >= alone {
			most = 2 + s.random.IntN(2)
		}
		s.suffer(s.draw(most))
		if c.t.Failed() {
			break // what comes of it is not worth the time
		}
	}
	<-time.After(healing)
	s.later.Wait()
	d.finish()
	settled := d.settle(players)
	s.report.violations += c.judge(history.Options{SettledAt: settled, Worlds: judged, Grace: soakGrace, Calm: soakTTL})
	s.report.count = s.report.count.Plus(c.history.Count())
	for _, p := range players {
		p.leaveAll()
	}
}

func (s *storm) between(least, most time.Duration) time.Duration {
	return least + time.Duration(s.random.Int64N(int64(most-least)))
}

// any is an instance at random, or the one that was assigned.
func (s *storm) any() *instance {
	if s.victim != nil {
		return s.victim
	}
	return s.cluster.instances[s.random.IntN(len(s.cluster.instances))]
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
