package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/internal/race"
	"muster/internal/redistest"
)

var (
	lifeFlag     = flag.Int("life", 0, "how many matches TestMatchesLive is to see; 0 is one round")
	lifeSeedFlag = flag.Uint64("life-seed", 0, "seed of TestMatchesLive's first round; 0 takes one at random")
)

// Numbers of one round of TestMatchesLive.
const (
	lifePlayers = 90
	// lifeStorm is how long instances are killed; the short form has time for two kills and PostgreSQL's.
	lifeStorm, shortLifeStorm = 20 * time.Second, 6 * time.Second
	// lifeFailing is how many of a hundred calls of the allocator fail.
	lifeFailing = 30
	// lifeServing is how long a match may wait for its server: each of three instances is killed while it asks, and
	// lets it lie for a lease.
	lifeServing = 25 * time.Second
)

// lifeSettings are worlds whose matches have a life; the allocator is at a URL.
func lifeSettings(url string) string {
	allocator := fmt.Sprintf("allocator: {webhook: %q, timeout: %v, attempts: 3}", url, allocatorTimeout)
	return `
  - {name: check, mode: group, size: 2, tick: 100ms, match_hold: 30s, ready_check: 2s, decline_cooldown: 300ms}
  - {name: served, mode: duel, tick: 100ms, match_hold: 30s, ready_check: 2s, ` + allocator + `}
  - {name: server-only, mode: duel, tick: 100ms, match_hold: 30s, ` + allocator + `}
  - {name: lounge, mode: fill, size: 4, tick: 100ms, match_hold: 30s, seat_hold: 2s}
  - {name: duel, mode: duel, tick: 100ms, match_hold: 30s}
`
}

// lifeJudged are the same worlds as the history has to know them.
var lifeJudged = map[string]history.World{
	"check":       {Size: 2, Held: true},
	"served":      {Size: 2, Held: true, Serving: lifeServing},
	"server-only": {Size: 2, Held: true, Serving: lifeServing},
	"lounge":      {Size: 4, Fill: true},
	"duel":        {Size: 2, Backfill: true},
}

// TestMatchesLive moves players through proposals, allocations, seats and backfill, while the allocator fails, players
// decline and do not answer, and instances are killed; in the long form Redis is too, in some rounds. Then it judges
// all that every client saw, and compares it with the books in Redis and with the durable record, whose PostgreSQL is
// killed once a round. Each round has new players and a seed of its
// own.
func TestMatchesLive(t *testing.T) {
	seed := *lifeSeedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	redis, servers := redistest.Start(t, redistest.AppendOnly()), startGameServers(t, seed)
	record := startRecord(t)
	c := startCluster(t, 3, withRedis(redis, redis.Addr()), withWorlds(lifeSettings(servers.URL)+record.settings()),
		withEnv("PRESENCE_TTL=3s", "PRESENCE_RECONNECT_GRACE=3s", "JOURNAL_URL="+record.postgres.URL()))
	soak := &lifeSoak{cluster: c, servers: servers, record: record, began: time.Now()}
	for ; ; seed++ {
		soak.round(seed)
		if t.Failed() || soak.count.Matches+soak.count.Cancelled >= *lifeFlag {
			break
		}
	}
	if !t.Failed() {
		record.compare(c)
	}
	if !t.Failed() && *lifeFlag > 0 {
		record.told(t)
	}
	t.Logf("the life of matches in numbers: %s", soak)
}

// lifeSoak is all rounds together.
type lifeSoak struct {
	cluster  *cluster
	servers  *gameServers
	record   *record
	began    time.Time
	rounds   int
	kills    int
	restarts int // of Redis
	count    history.Count
	declined int64
	silent   int64
	opened   int64
}

func (s *lifeSoak) round(seed uint64) {
	c := s.cluster
	s.rounds++
	c.t.Logf("round %d: go test ./e2e -run '^TestMatchesLive$' -life-seed %d", s.rounds, seed)
	c.history = history.New()
	s.servers.fail(lifeFailing)
	l, players := startLives(c, seed, fmt.Sprintf("r%d", s.rounds), lifePlayers)
	s.storm(rand.New(rand.NewPCG(seed, 1)))
	s.servers.fail(0)
	settled := l.finish(players)
	c.judge(history.Options{SettledAt: settled, Worlds: lifeJudged})
	s.compare(players)
	s.record.outcomes = append(s.record.outcomes, c.history.Outcomes(lifeJudged)...)
	s.count = s.count.Plus(c.history.Count())
	s.declined, s.silent, s.opened = s.declined+l.declined.Load(), s.silent+l.silent.Load(), s.opened+l.opened.Load()
	for _, p := range players {
		p.leaveAll()
	}
	eventually(c.t, c.nothingHeld)
}

// storm kills instances, one every few seconds, and in every third round Redis once.
func (s *lifeSoak) storm(random *rand.Rand) {
	began, lasts := time.Now(), lifeStorm
	if *lifeFlag == 0 {
		lasts = shortLifeStorm
	}
	for n := 1; time.Since(began) < lasts; n++ {
		<-time.After(time.Second + time.Duration(random.Int64N(int64(3*time.Second))))
		if s.rounds%3 == 0 && n == 3 {
			s.restartRedis(random)
			continue
		}
		if n == 2 {
			s.restartRecord()
		}
		i := s.cluster.instances[random.IntN(len(s.cluster.instances))]
		i.kill()
		s.kills++
		<-time.After(time.Duration(random.Int64N(int64(time.Second))))
		i.start()
		i.awaitReady()
	}
}

// restartRecord kills PostgreSQL, for which nobody waits.
func (s *lifeSoak) restartRecord() {
	s.record.postgres.Kill()
	<-time.After(500 * time.Millisecond)
	s.record.postgres.Restart()
}

// restartRedis kills Redis, which comes back with its data.
func (s *lifeSoak) restartRedis(random *rand.Rand) {
	from := time.Now()
	s.restarts++
	s.cluster.redis.Kill()
	<-time.After(time.Duration(random.Int64N(int64(2 * time.Second))))
	s.cluster.redis.Restart()
	for _, i := range s.cluster.instances {
		i.awaitReady()
	}
	// Nothing ends by time for a presence.ttl after it.
	s.cluster.history.Troubled(history.Span{From: from, To: time.Now().Add(healing + 3*time.Second)})
}

// compare holds the books in Redis against each other, and against what the players were told.
func (s *lifeSoak) compare(players []*player) {
	c, sizes := s.cluster, map[string]int{}
	for name, world := range lifeJudged {
		sizes[name] = world.Size
	}
	eventually(c.t, func() string { // a match may end between two looks
		b := c.readBooks()
		if wrong := b.balance(sizes); wrong != "" {
			return wrong
		}
		for _, p := range players {
			if wrong := b.told(p); wrong != "" {
				return wrong
			}
		}
		return ""
	})
}

// String is the soak in numbers.
func (s *lifeSoak) String() string {
	return strings.Join([]string{
		fmt.Sprintf("%v, %d rounds of %d players on 3 instances, race detector %s", time.Since(s.began).Round(time.Second), s.rounds, lifePlayers, onOff(race.Enabled)),
		fmt.Sprintf("killed: %d instances, %d times Redis, %d times PostgreSQL", s.kills, s.restarts, s.rounds),
		fmt.Sprintf("%d matches compared with the record", len(s.record.outcomes)),
		fmt.Sprintf("%d joins, %d matches proposed, %d stood, %d fell through", s.count.Joins, s.count.Proposed, s.count.Matches, s.count.Cancelled),
		fmt.Sprintf("%d declined, %d did not answer", s.declined, s.silent),
		fmt.Sprintf("%d players seated in rooms that were there, %d seats opened for backfill", s.count.Seated, s.opened),
		fmt.Sprintf("%d tickets and %d matches told lost", s.count.LostTickets, s.count.LostMatches),
		s.servers.String(),
	}, "; ")
}
