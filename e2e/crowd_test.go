package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/protocol"
)

// calmPresence is for crowds: with the race detector, thousands of pings a second are more than two cores do.
var calmPresence = withEnv("PRESENCE_HEARTBEAT=20s", "PRESENCE_TTL=60s", "PRESENCE_RECONNECT_GRACE=10s")

// connectAll connects n players, some at a time, to the instances in turn.
func (c *cluster) connectAll(prefix string, n int) []*player {
	c.t.Helper()
	all := make([]*player, n)
	inParallel(n, 50, func(k int) {
		all[k] = c.player(fmt.Sprintf("%s%d", prefix, k))
		ctx, cancel := context.WithTimeout(c.t.Context(), patience)
		defer cancel()
		if _, err := all[k].tryConnect(ctx, c.instances[k%len(c.instances)]); err != nil {
			c.t.Errorf("%s connects: %v", all[k].id, err)
		}
	})
	if c.t.Failed() {
		c.t.FailNow()
	}
	return all
}

// inParallel calls f for 0 to n-1, some at a time.
func inParallel(n, width int, f func(k int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, width)
	for k := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			f(k)
		})
	}
	wg.Wait()
}

func TestThousandsWhoJoinAtOnceAreAllMatched(t *testing.T) {
	t.Parallel()
	const crowd = 1800
	c := startCluster(t, 2, calmPresence)
	all := c.connectAll("p", crowd)
	inParallel(crowd, crowd, func(k int) {
		if _, err := all[k].try(&protocol.Join{World: []string{"duel", "trio"}[k/(crowd/2)]}); err != nil {
			t.Errorf("%s: %v", all[k].id, err)
		}
	})
	c.allMatched(all)
	c.judge(history.Options{SettledAt: time.Now(), Patience: patience})
}

// allMatched waits until each player was told of a match.
func (c *cluster) allMatched(players []*player) {
	c.t.Helper()
	eventually(c.t, func() string {
		waiting := 0
		for _, p := range players {
			if heardOf[*protocol.MatchCompleted](p) == 0 {
				waiting++
			}
		}
		if waiting > 0 {
			return fmt.Sprintf("%d of %d are not matched", waiting, len(players))
		}
		return ""
	})
}

func TestAClientThatDoesNotReadHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	const crowd = 1000
	c := startCluster(t, 1, calmPresence)
	for k := range 5 {
		raw := dialRaw(t, c.instances[0])
		raw.send(fmt.Sprintf(`{"type":"hello","player_id":"deaf%d"}`, k))
		raw.send(`{"type":"join","world":"five"}`)
		for range 200 {
			raw.send(`{"type":"status"}`) // of whose replies none is read
		}
	}
	all := c.connectAll("p", crowd)
	inParallel(crowd, crowd, func(k int) {
		if _, err := all[k].try(&protocol.Join{World: "duel"}); err != nil {
			t.Errorf("%s: %v", all[k].id, err)
		}
	})
	c.allMatched(all)
}

func TestAPausedInstanceHandsNobodyOutAndHeals(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, withEnv("PRESENCE_TTL=20s")) // only the lease can tell that the instance is silent
	p := c.players("p", 4)                               // p1 and p3 on the first, p2 and p4 on the second
	p[0].join("duel")
	from := time.Now()
	c.instances[0].pause()
	<-time.After(4 * time.Second) // longer than the lease of an instance
	p[1].join("duel")
	p[3].join("duel")
	together(t, p[1], p[3])
	c.instances[0].resume()
	c.history.Troubled(history.Span{From: from, To: time.Now().Add(healing)})
	eventually(t, func() string { return ended(p[2].try(&protocol.Join{World: "duel"})) })
	together(t, p[0], p[2])
	c.judge(history.Options{SettledAt: time.Now()})
}

func TestADrainKeepsPlacesAndMatches(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2)
	p := c.players("p", 5)
	ticket := p[0].join("trio").TicketID // on the first
	p[2].join("duel")                    // on the first
	p[3].join("duel")
	m := together(t, p[2], p[3])
	exit := make(chan int)
	go func() { exit <- c.instances[0].stop() }()
	if away := await[*protocol.GoingAway](p[0]); away.ReconnectInMS < 0 || away.ReconnectInMS > 1000 {
		t.Errorf("asked to reconnect in %d ms", away.ReconnectInMS)
	}
	for _, x := range []*player{p[0], p[2]} {
		if code := x.awaitClose(); code != protocol.CloseGoingAway {
			t.Errorf("%s is closed with %d", x.id, code)
		}
	}
	if code := <-exit; code != 0 {
		t.Errorf("ended with exit code %d", code)
	}
	if w := p[0].connect(c.instances[1]); len(w.Queued) != 1 || w.Queued[0].TicketID != ticket {
		t.Errorf("welcomed with %+v, want ticket %s", w.Queued, ticket)
	}
	if w := p[2].connect(c.instances[1]); w.Match == nil || w.Match.ID != m.ID {
		t.Errorf("welcomed with match %+v, want %s", w.Match, m.ID)
	}
	p[1].join("trio")
	p[4].connect(c.instances[1])
	p[4].join("trio")
	together(t, p[0], p[1], p[4])
	c.judge(history.Options{SettledAt: time.Now()})
}

func TestWhoseInstanceDiesComesBackToItsPlace(t *testing.T) {
	t.Parallel()
	const crowd = 400
	c := startCluster(t, 2, withEnv("PRESENCE_TTL=30s", "PRESENCE_RECONNECT_GRACE=30s", "DRAIN=30s"))
	all := c.connectAll("p", crowd)
	tickets := make([]string, crowd)
	var settled, lost []int // on the second, on the first
	for k := range all {
		if k%2 == 1 {
			settled = append(settled, k)
			continue
		}
		lost = append(lost, k)
	}
	for k := range 2 {
		tickets[k] = all[k].join("five").TicketID
	}
	c.instances[0].kill()
	began := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		inParallel(len(lost), len(lost), func(n int) { all[lost[n]].insist(c.instances[1]) })
	}()
	worst := time.Duration(0)
	for back := false; !back; {
		asked := time.Now()
		all[settled[0]].status()
		worst = max(worst, time.Since(asked))
		select {
		case <-done:
			back = true
		default:
		}
	}
	t.Logf("all %d are back after %v; others waited for at most %v", len(lost), time.Since(began), worst)
	if q := all[0].status().Queued; len(q) != 1 || q[0].TicketID != tickets[0] {
		t.Errorf("p0 comes back to %+v, not to %s", q, tickets[0])
	}
	c.judge(history.Options{SettledAt: time.Now()})
}

// insist connects again and again, without a pause to speak of.
func (p *player) insist(i *instance) {
	for tick := time.Tick(pollInterval); ; <-tick {
		ctx, cancel := context.WithTimeout(p.t.Context(), patience)
		_, err := p.tryConnect(ctx, i)
		cancel()
		if err == nil || p.t.Context().Err() != nil {
			return
		}
	}
}

func TestMetricsDoNotGrowWithPlayersOrInventions(t *testing.T) {
	t.Parallel()
	const inventions = 200
	c := startCluster(t, 1)
	i := c.instances[0]
	p := c.players("player", 1)[0]
	p.join("duel")
	p.leave("duel")
	p.refused(&protocol.Join{World: "nowhere"}, protocol.CodeUnknownWorld)
	i.request("GET", "/nothing", "", "")
	before := strings.Count(i.metrics(), "\n")
	for k := range inventions {
		p.refused(&protocol.Join{World: fmt.Sprintf("invented%d", k)}, protocol.CodeUnknownWorld)
		i.request("GET", fmt.Sprintf("/x%d", k), "", "")
		i.request(fmt.Sprintf("ODD%d", k), "/v1/matching/worlds", "", "")
		i.request("GET", fmt.Sprintf("/v1/matching/queue-status/invented%d", k), "", "")
		i.request("GET", "/v1/matching/my-status", fmt.Sprintf("player_x%d", k), "")
	}
	page := i.metrics()
	if after := strings.Count(page, "\n"); after > before+100 {
		t.Errorf("the metrics grew from %d to %d lines", before, after)
	}
	for _, word := range []string{"invented", "/x1", "ODD", "player_x", `player1`, "127.0.0.1"} {
		if strings.Contains(page, word) {
			t.Errorf("the metrics hold %q", word)
		}
	}
}
