package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"muster/client"
	"muster/e2e/history"
	"muster/internal/faultproxy"
	"muster/protocol"
)

func TestAPlayerThatComesBackIsToldThatItWaits(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2)
	p := c.players("p", 2)
	ticket := p[0].join("duel").TicketID
	p[0].cut()
	eventually(t, func() string {
		if n := c.instances[1].queueStatus("duel").Waiting; n != 0 {
			return fmt.Sprintf("%d wait", n)
		}
		return ""
	}) // it is away, within its grace
	welcome := p[0].connect(c.instances[1])
	if len(welcome.Queued) != 1 || welcome.Queued[0].TicketID != ticket {
		t.Errorf("the welcome names %+v, want %s", welcome.Queued, ticket)
	}
	p[1].join("duel")
	m := together(t, p[0], p[1])
	for _, x := range p {
		x.leaveMatch(m.ID)
	}

	p[0].join("duel")
	p[0].cut()
	p[0].connect(c.instances[0])
	if left := p[0].leave("duel"); len(left) != 1 {
		t.Errorf("leaving after coming back left %v", left)
	}
	c.judge(history.Options{SettledAt: time.Now()})
}

func TestAPlayerThatStaysAwayIsToldThatItLostItsPlace(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, withShortPresence)
	p := c.players("p", 1)[0]
	ticket := p.join("duel").TicketID
	p.cut()
	// Past the grace the place is gone, not only skipped.
	eventually(t, func() string {
		for _, i := range c.instances {
			if i.counted(`muster_tickets_ended_total\{reason="presence_lost"\}`) {
				return ""
			}
		}
		return "the ticket has not ended"
	})
	welcome := p.connect(c.instances[1])
	if len(welcome.Queued) != 0 {
		t.Fatalf("the welcome names %+v", welcome.Queued)
	}
	if gone := await[*protocol.Dequeued](p); gone.TicketID != ticket || gone.Reason != protocol.ReasonPresenceLost {
		t.Errorf("told %+v", gone)
	}
	c.judge(history.Options{SettledAt: time.Now()})
}

func TestATakeOverClosesTheOldAndMovesTheMatch(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2)
	p := c.players("p", 2)
	p[0].join("duel")
	old, _ := p[0].current()
	p[0].connect(c.instances[1])
	if code := awaitEnd(t, old); code != protocol.CloseReplaced {
		t.Errorf("the old connection is closed with %d", code)
	}
	p[1].join("duel")
	m := together(t, p[0], p[1])
	old, _ = p[0].current()
	if welcome := p[0].connect(c.instances[0]); welcome.Match == nil || welcome.Match.ID != m.ID {
		t.Errorf("the third connection is welcomed with match %+v", welcome.Match)
	}
	if code := awaitEnd(t, old); code != protocol.CloseReplaced {
		t.Errorf("the second connection is closed with %d", code)
	}
	c.judge(history.Options{SettledAt: time.Now()})
}

func TestADeadConnectionDoesNotSpeakForANewerOne(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, withEnv("PRESENCE_HEARTBEAT=500ms", "PRESENCE_TTL=3s", "PRESENCE_RECONNECT_GRACE=3s"))
	proxy := faultproxy.Start(t, c.instances[0].addr)
	p := c.players("p", 2)
	behind := *c.instances[0]
	behind.addr = proxy.Addr()
	p[0].connect(&behind)
	p[0].join("duel")
	old, oldConn := p[0].current()
	proxy.BlackHole(faultproxy.Both)
	p[0].connect(c.instances[1])
	late := &protocol.Leave{Envelope: protocol.Envelope{ID: "late"}}
	p[0].log.Send(oldConn, late)
	if err := old.SendText(t.Context(), protocol.Encode(late)); err != nil {
		t.Fatal(err)
	}
	proxy.BlackHole(faultproxy.Neither) // the late leave arrives
	if code := awaitEnd(t, old); code != protocol.CloseReplaced && code != -1 {
		t.Errorf("the dead connection is closed with %d", code)
	}
	during(t, 4*time.Second, func() string { // longer than the old one's presence
		if n := c.instances[0].queueStatus("duel").Waiting; n != 1 {
			return fmt.Sprintf("%d wait in the duel", n)
		}
		return ""
	})
	p[1].join("duel")
	together(t, p[0], p[1])
	c.judge(history.Options{SettledAt: time.Now()})
}

// A client gives its first connection up and comes back elsewhere, before the first instance, which is further from Redis, has
// said that it was there. That is no takeover of the second, which is all the client has.
func TestAConnectionThatWasGivenUpTakesNothingOver(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, withProxies(), withEnv("PRESENCE_RECONNECT_GRACE=1s"))
	c.instances[0].proxy.Delay(200 * time.Millisecond)
	var all []*player
	for i := range 4 { // who wait for a fifth
		p := c.player(fmt.Sprintf("p%d", i))
		all = append(all, p)
		first, err := client.Open(t.Context(), c.instances[0].url(), client.Options{OnEvent: func(protocol.Event) {}})
		if err != nil {
			t.Fatal(err)
		}
		hello := &protocol.Hello{Envelope: protocol.Envelope{ID: "h"}, PlayerID: p.id}
		if err := first.SendText(t.Context(), protocol.Encode(hello)); err != nil {
			t.Fatal(err)
		}
		<-time.After(20 * time.Millisecond) // until the call is on its way
		first.CloseNow()
		p.connect(c.instances[1])
		p.join("five")
	}
	during(t, 2*time.Second, func() string { // longer than what is on its way, and a grace
		if n := c.instances[1].queueStatus("five").Waiting; n != len(all) {
			return fmt.Sprintf("%d wait", n)
		}
		return ""
	})
	for _, p := range all {
		if conn, _ := p.current(); conn.Err() != nil {
			t.Errorf("%s lost its only connection: %v", p.id, conn.Err())
		}
	}
	c.judge(history.Options{SettledAt: time.Now()})
}

func TestPresenceRestsOnPongsAlone(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1, withEnv("PRESENCE_HEARTBEAT=500ms", "PRESENCE_TTL=3s", "PRESENCE_RECONNECT_GRACE=1s"))
	p := c.players("p", 2)
	p[0].join("duel")
	during(t, 5*time.Second, func() string { // longer than presence.ttl and grace, without a message of the client
		if n := c.instances[0].queueStatus("duel").Waiting; n != 1 {
			return fmt.Sprintf("%d wait in the duel", n)
		}
		return ""
	})
	p[1].join("duel")
	together(t, p[0], p[1])
	c.judge(history.Options{SettledAt: time.Now()})
}

func TestASilentClientIsClosed(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1, withShortPresence)
	p := c.player("p1")
	p.mute = func() bool { return true }
	p.connect(c.instances[0])
	if code := p.awaitClose(); code != protocol.CloseNoHeartbeat {
		t.Errorf("closed with %d", code)
	}
}

func TestPipelinedRequestsAreAnsweredWhilePingsAndEventsGoOut(t *testing.T) {
	t.Parallel()
	const requests = 500
	c := startCluster(t, 1, withEnv("PRESENCE_HEARTBEAT=10ms"))
	p := c.players("p", 2)
	var wg sync.WaitGroup
	window := make(chan struct{}, protocol.MaxWaitingRequests-2)
	for range requests {
		window <- struct{}{}
		wg.Go(func() {
			defer func() { <-window }()
			if _, err := p[0].try(&protocol.Status{}); err != nil {
				t.Errorf("status: %v", err)
			}
		})
	}
	for range 20 {
		p[1].join("duel")
		p[0].join("duel")
		m := together(t, p[0], p[1])
		p[0].leaveMatch(m.ID)
		p[1].leaveMatch(m.ID)
	}
	wg.Wait()
	conn, _ := p[0].current()
	exit := make(chan int)
	go func() { exit <- c.instances[0].stop() }()
	for conn.Err() == nil {
		_, _ = p[0].try(&protocol.Status{}) // in the middle of the end one may stay unanswered
	}
	if code := closeCode(conn.Err()); code != protocol.CloseGoingAway {
		t.Errorf("closed with %d: %v", code, conn.Err())
	}
	if code := <-exit; code != 0 {
		t.Errorf("ended with exit code %d", code)
	}
	c.judge(history.Options{})
}
