package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/internal/faultproxy"
	"muster/internal/redistest"
)

// patience is how long a test waits for something that must come. Only a failing test takes as long, so it is much longer than
// anything takes on a busy machine.
const patience = 60 * time.Second

// pollInterval is the pause between two looks at what is waited for.
const pollInterval = 10 * time.Millisecond

// defaultWorlds are small and quick: matches end soon, so that players play on.
const defaultWorlds = `
  - {name: duel, mode: duel, tick: 100ms, match_hold: 30s}
  - {name: trio, mode: group, size: 3, tick: 100ms, match_hold: 30s, rooms: [game, chat]}
  - {name: five, mode: group, size: 5, tick: 100ms, match_hold: 30s}
`

const settingsFile = `
realm: %s
log: {level: info, format: json}
limits: {messages_per_second: 100000, connections_per_ip: 1000000}
presence: {heartbeat: 1s, ttl: 10s, reconnect_grace: 10s}
drain: 1s
worlds:%s`

// cluster is some instances on one Redis, in one realm.
type cluster struct {
	t         *testing.T
	redis     *redistest.Server
	redisURL  string
	realm     string
	worlds    string
	config    string // path of the settings
	env       []string
	proxied   bool
	urls      map[int]string // where single instances find Redis, if not at redisURL
	instances []*instance
	history   *history.History
}

// option changes how a cluster is started.
type option func(*cluster)

// withWorlds replaces the worlds, in YAML.
func withWorlds(worlds string) option { return func(c *cluster) { c.worlds = worlds } }

// withEnv adds settings as NAME=value, without the MUSTER_ in front.
func withEnv(settings ...string) option {
	return func(c *cluster) {
		for _, s := range settings {
			c.env = append(c.env, "MUSTER_"+s)
		}
	}
}

// withShortPresence is for tests in which a player is to lose its place. Elsewhere presence outlasts any pause of a busy
// machine, so that only the fault under test takes a place from a player.
var withShortPresence = withEnv("PRESENCE_HEARTBEAT=200ms", "PRESENCE_TTL=1s", "PRESENCE_RECONNECT_GRACE=1s")

// withRedis puts the cluster on a Redis that the test arranged, at an address that may be a proxy's.
func withRedis(redis *redistest.Server, addr string) option {
	return func(c *cluster) { c.redis, c.redisURL = redis, "redis://"+addr+"/0" }
}

// withRealm names the realm, of which a Redis Cluster holds all on one node.
func withRealm(realm string) option { return func(c *cluster) { c.realm = realm } }

// withURLOf has the n-th instance, counted from 0, find Redis at an address of its own.
func withURLOf(n int, url string) option {
	return func(c *cluster) { c.urls = map[int]string{n: url} }
}

// withProxies puts a proxy between each instance and Redis.
func withProxies() option { return func(c *cluster) { c.proxied = true } }

// startCluster starts n instances and waits until all are ready. It ends with the test.
func startCluster(t *testing.T, n int, opts ...option) *cluster {
	t.Helper()
	c := &cluster{t: t, realm: redistest.Realm(t), worlds: defaultWorlds, history: history.New()}
	for _, opt := range opts {
		opt(c)
	}
	if c.redis == nil {
		c.redis = redistest.Start(t)
		c.redisURL = c.redis.URL()
	}
	c.config = filepath.Join(t.TempDir(), "muster.yaml")
	c.writeConfig()
	for i := range n {
		c.instances = append(c.instances, c.newInstance(fmt.Sprintf("I%d", i+1), c.config))
		c.instances[i].ownURL = c.urls[i]
		if c.proxied {
			c.instances[i].proxy = faultproxy.Start(t, c.redis.Addr())
		}
	}
	for _, i := range c.instances {
		i.start()
	}
	for _, i := range c.instances {
		i.awaitReady()
	}
	return c
}

// writeConfig writes the settings into the file that all instances read.
func (c *cluster) writeConfig() {
	c.t.Helper()
	if err := os.WriteFile(c.config, fmt.Appendf(nil, settingsFile, c.realm, c.worlds), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// environ is the environment of an instance: nothing of the tests' own reaches it.
func (c *cluster) environ(redisURL string) []string {
	var env []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "MUSTER_") {
			env = append(env, entry)
		}
	}
	return append(append(env, "MUSTER_REDIS_URL="+redisURL), c.env...)
}

// player is a player that is not connected yet.
func (c *cluster) player(id string) *player {
	return &player{t: c.t, id: id, log: c.history.Player(id), news: make(chan struct{})}
}

// players are n connected players, spread over the instances in turn.
func (c *cluster) players(prefix string, n int) []*player {
	c.t.Helper()
	var all []*player
	for i := range n {
		p := c.player(fmt.Sprintf("%s%d", prefix, i+1))
		p.connect(c.instances[i%len(c.instances)])
		all = append(all, p)
	}
	return all
}

// judge fails the test where the history breaks a rule, and returns how often it does.
func (c *cluster) judge(o history.Options) int {
	c.t.Helper()
	if o.Worlds == nil {
		o.Worlds = map[string]history.World{"duel": {Size: 2}, "trio": {Size: 3}, "five": {Size: 5}}
	}
	if o.Patience == 0 {
		o.Patience = within(5 * time.Second)
	}
	violations := c.history.Judge(o)
	if len(violations) == 0 {
		return 0
	}
	c.t.Errorf("the history breaks rules:\n%s", history.Report(violations))
	file, err := os.Create(filepath.Join(artifacts(c.t), c.realm+".history"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // what is missing is seen
	told := map[string]bool{}
	for _, v := range violations {
		for _, player := range []string{v.Player, v.Other} {
			if player == "" || told[player] {
				continue
			}
			told[player] = true
			if err := c.history.Tell(file, player); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	c.t.Logf("what they sent and heard is in %s", file.Name())
	return len(violations)
}

// artifacts is the directory of what tests leave for people to look at.
func artifacts(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("..", "artifacts")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	return dir
}

// eventually polls until check returns "", and fails the test with what it said last.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		wrong := check()
		if wrong == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v still: %s", patience, wrong)
		}
		<-tick.C
	}
}

// during checks again and again for a while that something stays as it is.
func during(t *testing.T, d time.Duration, check func() string) {
	t.Helper()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for end := time.After(d); ; {
		if wrong := check(); wrong != "" {
			t.Fatal(wrong)
		}
		select {
		case <-end:
			return
		case <-tick.C:
		}
	}
}
