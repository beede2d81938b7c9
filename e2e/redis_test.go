package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/internal/faultproxy"
	"muster/internal/redistest"
	"muster/protocol"
	"muster/store"
)

// redisDo runs a command that must succeed.
func (c *cluster) redisDo(args ...any) any {
	c.t.Helper()
	reply, err := c.redis.Do(c.t.Context(), args...)
	if err != nil {
		c.t.Fatalf("%v: %v", args, err)
	}
	return reply
}

// keys are all keys of the realm.
func (c *cluster) keys() []string {
	c.t.Helper()
	var keys []string
	for _, key := range c.redisDo("KEYS", "*{"+c.realm+"}*").([]any) {
		keys = append(keys, key.(string))
	}
	return keys
}

func TestAnEmptiedScriptCacheIsNotNoticed(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2)
	p := c.players("p", 2)
	p[0].join("duel")
	c.redisDo("SCRIPT", "FLUSH")
	p[1].join("duel")
	together(t, p[0], p[1])
	c.judge(history.Options{SettledAt: time.Now()})
}

func TestARestartOfRedisWithItsDataIsHealed(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, redistest.AppendOnly())
	c := startCluster(t, 2, withRedis(redis, redis.Addr()))
	p := c.players("p", 3)
	p[0].join("trio")
	from := time.Now()
	redis.Restart()
	c.history.Troubled(history.Span{From: from, To: time.Now().Add(healing)})
	for _, x := range p[1:] {
		eventually(t, func() string { return ended(x.try(&protocol.Join{World: "trio"})) })
	}
	together(t, p...)
	for _, i := range c.instances {
		i.awaitReady()
	}
	c.judge(history.Options{SettledAt: time.Now()})
}

// ended is "" for a join that succeeded or is seen to have succeeded before.
func ended(_ protocol.Event, err error) string {
	var refusal *protocol.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refusal) && (refusal.Code == protocol.CodeAlreadyQueued || refusal.Code == protocol.CodeInMatch):
		return ""
	}
	return err.Error()
}

func TestWhileRedisIsAwayRequestsAreRefusedAndNobodyIsEvicted(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(p *faultproxy.Proxy, on bool){
		"refused": func(p *faultproxy.Proxy, on bool) {
			p.Refuse(on)
			p.Cut()
		},
		"silent": func(p *faultproxy.Proxy, on bool) {
			if on {
				p.BlackHole(faultproxy.Both)
				return
			}
			p.BlackHole(faultproxy.Neither)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outage(t, away)
		})
	}
}

// What is asked, answered `unavailable` and held up on its way is not carried out when it arrives: who asks for it again, or
// for something else, is not undone.
func TestWhatReachesRedisTooLateIsNotCarriedOut(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, withProxies())
	p := c.players("p", 3) // p1 and p3 on the first, p2 on the second
	p[0].join("duel")
	p[2].join("trio")
	p[2].leave("trio") // so that Redis has the script: one that is unknown is not carried out anyway
	from, proxy := time.Now(), c.instances[0].proxy
	proxy.BlackHole(faultproxy.ToServer)
	p[0].refused(&protocol.Leave{World: "duel"}, protocol.CodeUnavailable)
	proxy.BlackHole(faultproxy.Neither)
	c.history.Troubled(history.Span{From: from, To: time.Now().Add(healing)})
	waits := func() string {
		if n := c.instances[1].queueStatus("duel").Waiting; n != 1 {
			return fmt.Sprintf("%d wait in the duel", n)
		}
		return ""
	}
	eventually(t, waits) // when the instance's lease is good again
	during(t, 1500*time.Millisecond, waits)
	p[1].join("duel")
	together(t, p[0], p[1])
	c.judge(history.Options{SettledAt: time.Now()})
}

// outage takes Redis away for longer than any lease or presence lasts.
func outage(t *testing.T, away func(p *faultproxy.Proxy, on bool)) {
	redis := redistest.Start(t)
	proxy := faultproxy.Start(t, redis.Addr())
	c := startCluster(t, 2, withRedis(redis, proxy.Addr()), withEnv("PRESENCE_HEARTBEAT=500ms", "PRESENCE_TTL=3s", "PRESENCE_RECONNECT_GRACE=3s"))
	p := c.players("p", 40)
	for _, x := range p[:2] {
		x.join("trio")
	}
	from := time.Now()
	away(proxy, true)
	for _, x := range p[3:] {
		asked := time.Now()
		x.refused(&protocol.Join{World: "five"}, protocol.CodeUnavailable)
		checkTook(t, "a refusal", time.Since(asked), usualBound)
		if time.Since(from) > 5*time.Second {
			break
		}
	}
	eventually(t, func() string {
		if c.instances[0].readiness() == "" {
			return "readyz is still green"
		}
		return ""
	})
	if status, _ := c.instances[0].request("GET", "/healthz", "", ""); status != 200 {
		t.Errorf("healthz answers %d", status)
	}
	away(proxy, false)
	back := time.Now()
	c.history.Troubled(history.Span{From: from, To: back.Add(healing)})
	eventually(t, func() string { return ended(p[2].try(&protocol.Join{World: "trio"})) })
	together(t, p[:3]...)
	checkTook(t, "recovery", time.Since(back), usualBound)
	for _, i := range c.instances {
		i.awaitReady()
	}
	c.judge(history.Options{})
}

func TestAFullRedisRefusesJoinsAndLetsPlayersGo(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1, withEnv("PRESENCE_HEARTBEAT=300ms", "PRESENCE_TTL=2s", "PRESENCE_RECONNECT_GRACE=2s"))
	p := c.players("p", 21)
	for _, x := range p[:2] {
		x.join("five")
	}
	c.redisDo("CONFIG", "SET", "maxmemory", "1mb")
	p[20].refused(&protocol.Join{World: "five"}, protocol.CodeUnavailable)
	if left := p[0].leave("five"); len(left) != 1 {
		t.Errorf("with a full Redis, leaving left %v", left)
	}
	during(t, 3*time.Second, func() string { // longer than presence.ttl
		if n := heardOf[*protocol.Dequeued](p[1]); n > 0 {
			return "a player was thrown out"
		}
		return ""
	})
	c.redisDo("CONFIG", "SET", "maxmemory", "0")
	eventually(t, func() string { return ended(p[20].try(&protocol.Join{World: "five"})) })
	if q := p[20].status().Queued; len(q) != 1 || q[0].QueueSize != 2 {
		t.Errorf("afterwards p21 has %+v", q)
	}
	c.judge(history.Options{SettledAt: time.Now()})
}

// permanent are the keys of the realm that end by no TTL; what they hold of players and instances is
// swept. A queue ends with its last ticket.
var permanent = []string{"meta", "w", "ins", "pub", "aw", "pl", "m", "mx", "st", "ws", "wc", "wt", "kp", "ip"}

func TestPlayersLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, withShortPresence, withWorlds(`
  - {name: duel, mode: duel, tick: 100ms, match_hold: 1s}
  - {name: trio, mode: group, size: 3, tick: 100ms, match_hold: 1s}
`))
	p := c.players("p", 3)
	p[0].join("duel")
	p[0].join("trio")
	p[1].join("duel")
	together(t, p[0], p[1])
	p[2].join("trio")
	p[2].connect(c.instances[1])
	c.endlessKeys(append(permanent, "q")...)
	for _, i := range c.instances {
		i.kill()
	}
	c.instances[0].start()
	c.instances[0].awaitReady()
	eventually(t, c.remains)
	c.endlessKeys(permanent...)
}

// endlessKeys fails the test for each key without a TTL that is not of a given kind.
func (c *cluster) endlessKeys(kinds ...string) {
	c.t.Helper()
	for _, key := range c.keys() {
		kind, _, _ := strings.Cut(key[strings.Index(key, "}:")+2:], ":")
		if c.redisDo("PTTL", key).(int64) == -1 && !slices.Contains(kinds, kind) {
			c.t.Errorf("%s never ends", key)
		}
	}
}

// remains is what is left of players who are gone, "" for nothing. Notices and keys of joins are kept for
// a while.
func (c *cluster) remains() string {
	for _, key := range c.keys() {
		switch kind, _, _ := strings.Cut(key[strings.Index(key, "}:")+2:], ":"); kind {
		case "pr", "q", "aw", "m", "mx":
			return key + " is there"
		case "pl":
			records := c.redisDo("HVALS", key).([]any)
			for _, text := range records {
				if record, err := store.ParseRecord(text.(string)); err != nil || record.Match != "" || len(record.Waiting()) > 0 {
					return fmt.Sprintf("%s holds %s (%v)", key, text, err)
				}
			}
		}
	}
	return ""
}

func TestAnEmptiedRedisIsFilledAgain(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2)
	p := c.players("p", 6)
	pair := p[:2]
	pair[0].join("duel")
	pair[1].join("duel")
	m := together(t, pair...)
	first := p[2].join("trio")
	second := p[3].join("trio")
	from := time.Now()
	c.redis.FlushAll()
	eventually(t, func() string { return ended(p[4].try(&protocol.Join{World: "trio"})) })
	together(t, p[2:5]...)
	c.history.Lost(history.Loss{Span: history.Span{From: from, To: time.Now().Add(healing)}})
	checkTook(t, "recovery", time.Since(from), usualBound)
	for _, x := range pair {
		if s := x.status(); s.Match == nil || s.Match.ID != m.ID {
			t.Errorf("%s is in match %+v, want %s", x.id, s.Match, m.ID)
		}
	}
	if first.EnqueuedAt > second.EnqueuedAt {
		t.Errorf("places went backwards: %d, %d", first.EnqueuedAt, second.EnqueuedAt)
	}
	c.judge(history.Options{SettledAt: time.Now()})
}

func TestWhatDiedWithItsInstanceIsToldLost(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2)
	p := c.players("p", 2) // one on each
	ticket := p[0].join("duel").TicketID
	from := time.Now()
	c.instances[0].kill()
	c.redis.FlushAll()
	var welcome *protocol.Welcome
	eventually(t, func() string {
		var err error
		if welcome, err = p[0].tryConnect(t.Context(), c.instances[1]); err != nil {
			return err.Error()
		}
		return ""
	})
	c.history.Lost(history.Loss{Span: history.Span{From: from, To: time.Now().Add(healing)}})
	if len(welcome.Queued) != 0 {
		t.Fatalf("the welcome names %+v", welcome.Queued)
	}
	if gone := await[*protocol.Dequeued](p[0]); gone.TicketID != ticket || gone.Reason != protocol.ReasonLost {
		t.Errorf("told %+v", gone)
	}
	c.judge(history.Options{SettledAt: time.Now()})
}
