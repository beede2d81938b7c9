package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/internal/faultproxy"
	"muster/internal/redistest"
	"muster/protocol"
)

// withURL puts the cluster on a Redis of several servers, of which one is asked for keys.
func withURL(redis *redistest.Server, url string) option {
	return func(c *cluster) { c.redis, c.redisURL = redis, url }
}

// sentinelPatience is longer than the lease of an instance, as docs/operations.md asks for.
const sentinelPatience = 3500 * time.Millisecond

func TestWritesThatAFailoverLostAreBroughtBack(t *testing.T) {
	t.Parallel()
	primary := redistest.Start(t)
	link := faultproxy.Start(t, primary.Addr())
	replica := redistest.StartReplica(t, link.Addr())
	url := redistest.StartSentinel(t, primary, sentinelPatience)
	c := startCluster(t, 2, withURL(replica, url))
	p := c.players("p", 7)
	p[0].join("trio") // the replica knows of it
	p[4].join("five")
	link.BlackHole(faultproxy.Both)
	p[2].join("duel")
	p[3].join("duel")
	m := together(t, p[2], p[3]) // of which the replica knows nothing
	ticket := p[1].join("trio").TicketID
	p[4].leave("five")
	c.failover(func() { primary.Kill() }, func() string { return ended(p[5].try(&protocol.Join{World: "trio"})) })
	together(t, p[0], p[1], p[5])
	for _, x := range p[2:4] {
		if s := x.status(); s.Match == nil || s.Match.ID != m.ID {
			t.Errorf("%s is in match %+v, want %s", x.id, s.Match, m.ID)
		}
	}
	if n := heardOf[*protocol.Dequeued](p[1]); n > 0 {
		t.Errorf("ticket %s was lost", ticket)
	}
	if s := p[4].status(); len(s.Queued) > 0 {
		t.Errorf("%s waits again where it had left: %+v", p[4].id, s.Queued)
	}
	c.judge(history.Options{SettledAt: time.Now()})
}

// failoverBound is how long after its promotion a replica may take to be matched on.
const failoverBound = 5 * time.Second

// failover takes a primary away and waits until what is asked for works on the replica that is promoted.
func (c *cluster) failover(harm func(), works func() string) {
	c.t.Helper()
	from := time.Now()
	harm()
	awaitRole(c.t, c.redis, "master")
	promoted := time.Now()
	eventually(c.t, works)
	checkTook(c.t, "recovery after a promotion", time.Since(promoted), failoverBound)
	c.history.Lost(history.Loss{Span: history.Span{From: from, To: time.Now().Add(healing)}})
}

// awaitRole waits until a server is a master, or a slave, as Redis calls them.
func awaitRole(t *testing.T, redis *redistest.Server, role string) {
	t.Helper()
	eventually(t, func() string {
		info, err := redis.Do(t.Context(), "INFO", "replication")
		if err != nil || !strings.Contains(fmt.Sprint(info), "role:"+role) {
			return fmt.Sprintf("the server is no %s: %v", role, err)
		}
		return ""
	})
}

func TestANodeOfARedisClusterFailsOver(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartNodes(t, 3, 2*time.Second)
	realm := redistest.Realm(t)
	at := nodes.Of("mm:{" + realm + "}:meta")
	c := startCluster(t, 2, withURL(nodes.Replicas[at], nodes.URL()), withRealm(realm))
	p := c.players("p", 5)
	p[0].join("trio")
	p[1].join("trio")
	p[2].join("duel")
	p[3].join("duel")
	m := together(t, p[2], p[3])
	c.failover(func() {
		nodes.Primaries[at].Kill()
		nodes.Promote(at)
	}, func() string { return ended(p[4].try(&protocol.Join{World: "trio"})) })
	together(t, p[0], p[1], p[4])
	for _, x := range p[2:4] {
		if s := x.status(); s.Match == nil || s.Match.ID != m.ID {
			t.Errorf("%s is in match %+v, want %s", x.id, s.Match, m.ID)
		}
	}
	c.judge(history.Options{SettledAt: time.Now()})
}
