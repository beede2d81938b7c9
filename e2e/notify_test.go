package e2e

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/internal/faultproxy"
	"muster/protocol"
)

func TestALostPublishIsMadeUpFor(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, withProxies())
	p := c.players("p", 2) // one on each
	for range 3 {
		p[0].join("duel")
		c.instances[0].proxy.LoseChunks("subscribe\r\n", 1)
		p[1].join("duel") // the match is told to the first instance by the publish that is lost
		lost := time.Now()
		m := together(t, p...)
		checkTook(t, "delivery without its publish", time.Since(lost), toldBound)
		for _, x := range p {
			x.leaveMatch(m.ID)
		}
	}
	if !c.instances[0].counted("muster_sessions_reread_total") {
		t.Error("no state was read: nothing was lost")
	}
	c.judge(history.Options{SettledAt: time.Now()})
}

func TestASessionThatDoesNotKnowThatItWasReplacedIsRefused(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, withProxies())
	p := c.players("p", 2)
	ticket := p[0].join("duel").TicketID
	old, oldConn := p[0].current()
	c.instances[0].proxy.LoseChunks("subscribe\r\n", 1) // which is to tell the first instance of the take-over
	p[0].connect(c.instances[1])
	if reply, err := p[0].ask(t.Context(), old, oldConn, &protocol.Leave{}); err == nil {
		t.Errorf("the old session's leave is answered with %s", protocol.Encode(reply))
	}
	if q := p[0].status().Queued; len(q) != 1 || q[0].TicketID != ticket {
		t.Errorf("%s waits with %+v, want %s", p[0].id, q, ticket)
	}
	if code := awaitEnd(t, old); code != protocol.CloseReplaced {
		t.Errorf("the old connection is closed with %d", code)
	}
	p[1].join("duel")
	together(t, p...)
	c.judge(history.Options{SettledAt: time.Now()})
}

func TestSubscriptionsThatAreCutLoseNothing(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2)
	p := c.players("p", 6)
	done := make(chan struct{})
	var cutting sync.WaitGroup
	cutting.Go(func() {
		for tick := time.Tick(50 * time.Millisecond); ; <-tick {
			select {
			case <-done:
				return
			default:
				c.redisDo("CLIENT", "KILL", "TYPE", "pubsub")
			}
		}
	})
	for range 5 {
		for _, x := range p {
			x.join("duel")
		}
		for _, x := range p {
			x.leaveMatch(x.awaitMatch().ID)
		}
	}
	close(done)
	cutting.Wait()
	c.judge(history.Options{SettledAt: time.Now()})
}

func TestAnInstanceThatIsCutOffHandsNobodyOutAndHeals(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, withProxies())
	p := c.players("p", 4) // p1 and p3 on the first, p2 and p4 on the second
	ticket := p[0].join("duel").TicketID
	from := time.Now()
	c.instances[0].proxy.BlackHole(faultproxy.Both)
	eventually(t, func() string { // until its lease is over, and p1 is not live
		if n := c.instances[1].queueStatus("duel").Waiting; n != 0 {
			return fmt.Sprintf("%d wait", n)
		}
		return ""
	})
	p[1].join("duel")
	p[3].join("duel")
	together(t, p[1], p[3])
	c.instances[0].proxy.BlackHole(faultproxy.Neither)
	c.history.Troubled(history.Span{From: from, To: time.Now().Add(healing)})
	eventually(t, func() string { return ended(p[2].try(&protocol.Join{World: "duel"})) })
	together(t, p[0], p[2])
	if n := heardOf[*protocol.Dequeued](p[0]); n > 0 {
		t.Errorf("ticket %s was taken from who waited through the cut", ticket)
	}
	c.judge(history.Options{SettledAt: time.Now()})
}

func TestWhoIsConnectedIsNeverToldThatItIsNot(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	p := c.players("p", 1)[0]
	done := make(chan struct{})
	var taking sync.WaitGroup
	taking.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				c.redisDo("DEL", "mm:{"+c.realm+"}:pr:"+p.id)
			}
		}
	})
	refused := 0
	for range 300 {
		_, err := p.try(&protocol.Join{World: "five"})
		var refusal *protocol.Error
		if errors.As(err, &refusal) {
			refused++
			if refusal.Code == protocol.CodeNoPresence {
				t.Errorf("a join is refused: %v", err)
				break
			}
		}
		_, _ = p.try(&protocol.Leave{}) // may meet the same
	}
	close(done)
	taking.Wait()
	t.Logf("%d joins were refused", refused)
}
