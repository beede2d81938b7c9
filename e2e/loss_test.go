package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/protocol"
)

func TestAnOutageEvictsNobodyWhoIsAway(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, withEnv("PRESENCE_RECONNECT_GRACE=3s"))
	p := c.players("p", 3)
	ticket := p[0].join("trio").TicketID
	from := time.Now()
	p[0].cut()
	eventually(t, func() string {
		if n := c.instances[1].queueStatus("trio").Waiting; n != 0 {
			return fmt.Sprintf("%d wait", n)
		}
		return ""
	}) // it is away
	c.redis.Pause()
	<-time.After(4 * time.Second) // longer than its grace; Redis comes back with its clock moved on
	c.redis.Resume()
	for _, i := range c.instances {
		i.awaitReady()
	}
	<-time.After(500 * time.Millisecond) // several sweeps, of the presence.ttl that it is calm
	c.history.Troubled(history.Span{From: from, To: time.Now().Add(healing)})
	welcome := p[0].connect(c.instances[1])
	if len(welcome.Queued) != 1 || welcome.Queued[0].TicketID != ticket {
		t.Errorf("the welcome names %+v, want %s", welcome.Queued, ticket)
	}
	c.judge(history.Options{})
}

func TestTheOldestIsNotOvertakenAfterALoss(t *testing.T) {
	t.Parallel()
	// Longer than presence.ttl: the one has no bearing on the other.
	c := startCluster(t, 2, withEnv("REDIS_RECOVERY=12s"))
	p := c.players("p", 4) // p1 and p3 on the first, p2 and p4 on the second
	oldest := p[0].join("duel")
	// Its instance is late, though well within redis.recovery.
	from := time.Now()
	c.instances[0].pause()
	c.redis.FlushAll()
	var wg sync.WaitGroup
	for _, x := range []*player{p[1], p[3]} {
		wg.Go(func() {
			eventually(t, func() string { return ended(x.try(&protocol.Join{World: "duel"})) })
		})
	}
	wg.Wait()
	during(t, time.Second, func() string {
		if heardOf[*protocol.MatchCompleted](p[1]) > 0 {
			return "matched before the late instance had its say"
		}
		return ""
	})
	c.instances[0].resume()
	m := p[0].awaitMatch()
	c.history.Lost(history.Loss{Span: history.Span{From: from, To: time.Now().Add(healing)}})
	eventually(t, func() string { return ended(p[2].try(&protocol.Join{World: "duel"})) })
	for _, x := range p[1:] {
		x.awaitMatch()
	}
	for _, x := range p {
		if s := x.status(); s.Match == nil || s.Match.CreatedAt < m.CreatedAt {
			t.Errorf("%s was matched before %s, who waited since %d", x.id, p[0].id, oldest.EnqueuedAt)
		}
	}
	c.judge(history.Options{SettledAt: time.Now()})
}

// TestAMatchThatOnlyWhoLeftItKnewGoesWithTheHistory: of three who were matched one was told and left, the others were not
// told yet. Nobody can bring the match back, and the two wait again where they waited.
func TestAMatchThatOnlyWhoLeftItKnewGoesWithTheHistory(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, withProxies())
	told, others := c.player("told"), []*player{c.player("other1"), c.player("other2")}
	told.connect(c.instances[0])
	for _, p := range others {
		p.connect(c.instances[1])
	}
	lose := func() {
		for _, p := range others {
			p.join("trio")
		}
		from := time.Now()
		c.instances[1].proxy.DelayOf("subscribe\r\n", time.Minute)
		told.join("trio")
		told.leaveMatch(told.awaitMatch().ID)
		c.redis.FlushAll()
		for _, p := range others {
			eventually(t, func() string { return ended(p.try(&protocol.Status{})) }) // by then their instance has asserted
		}
		c.instances[1].proxy.DelayOf("subscribe\r\n", 0)
		c.history.Lost(history.Loss{Span: history.Span{From: from, To: time.Now().Add(healing)}})
	}
	lose()
	for others[0].status().Match != nil { // its instance looked before the loss, as it does each second
		for _, p := range others {
			p.leaveMatch(p.status().Match.ID)
		}
		lose()
	}
	eventually(t, func() string { return ended(told.try(&protocol.Join{World: "trio"})) })
	eventually(t, func() string {
		m := told.status().Match
		for _, p := range others {
			if other := p.status().Match; m == nil || other == nil || other.ID != m.ID {
				return fmt.Sprintf("told is in %+v, %s in %+v", m, p.id, other)
			}
		}
		return ""
	})
	c.judge(history.Options{SettledAt: time.Now()})
}

// TestWhatRedisRefusesForAWhileHurtsNobody has Redis answer, but not what it is asked for.
func TestWhatRedisRefusesForAWhileHurtsNobody(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(s *storm){
		"busy with a script": (*storm).busyRedis,
		"read-only":          (*storm).readOnlyRedis,
		"paused":             (*storm).pauseRedis,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, 2)
			p := c.players("p", 3)
			p[0].join("trio")
			p[1].join("trio")
			from := time.Now()
			harm(newStorm(c, 1))
			over := time.Now()
			eventually(t, func() string { return ended(p[2].try(&protocol.Join{World: "trio"})) })
			together(t, p...)
			checkTook(t, "recovery", time.Since(over), usualBound)
			for _, x := range p {
				if n := heardOf[*protocol.Dequeued](x); n > 0 {
					t.Errorf("%s lost its place", x.id)
				}
			}
			c.history.Troubled(history.Span{From: from, To: over.Add(healing)})
			c.judge(history.Options{SettledAt: time.Now()})
		})
	}
}
