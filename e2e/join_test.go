package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/protocol"
)

// queueStatus is what the server tells of a world.
type queueStatus struct {
	World           string `json:"world"`
	Waiting         int    `json:"waiting"`
	OpenMatches     int    `json:"open_matches"`
	MatchesTotal    int    `json:"matches_total"`
	EstimatedWaitMS *int64 `json:"estimated_wait_ms"`
	OldestWaitedMS  *int64 `json:"oldest_waited_ms"`
}

func (i *instance) queueStatus(world string) queueStatus {
	i.t.Helper()
	status, body := i.request("GET", "/v1/matching/queue-status/"+world, "", "")
	var q queueStatus
	if err := json.Unmarshal([]byte(body), &q); status != 200 || err != nil {
		i.t.Fatalf("queue-status/%s: %d %s (%v)", world, status, body, err)
	}
	return q
}

// playerIDs are the players of a match, sorted.
func playerIDs(m *protocol.Match) []string {
	var ids []string
	for _, p := range m.Players {
		ids = append(ids, p.ID)
	}
	slices.Sort(ids)
	return ids
}

// together checks that players were told of one match of them alone, and returns it.
func together(t *testing.T, players ...*player) *protocol.Match {
	t.Helper()
	var want []string
	for _, p := range players {
		want = append(want, p.id)
	}
	slices.Sort(want)
	var first *protocol.Match
	for _, p := range players {
		m := p.awaitMatch()
		if first == nil {
			first = m
		}
		if m.ID != first.ID || !slices.Equal(playerIDs(m), want) {
			t.Fatalf("%s is in match %s of %v, want %s of %v", p.id, m.ID, playerIDs(m), first.ID, want)
		}
	}
	return first
}

func TestRepeatedJoinsMakeOneTicket(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2)
	first, second := c.player("p1"), c.player("p2")
	first.connect(c.instances[0])
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { _, _ = first.try(&protocol.Join{World: "duel"}) }) // one of them is refused
	}
	wg.Wait()
	first.refused(&protocol.Join{World: "duel"}, protocol.CodeAlreadyQueued)
	first.connect(c.instances[1])
	first.refused(&protocol.Join{World: "duel"}, protocol.CodeAlreadyQueued)
	during(t, 500*time.Millisecond, func() string {
		if q := c.instances[0].queueStatus("duel"); q.Waiting != 1 || q.MatchesTotal != 0 {
			return fmt.Sprintf("%d wait in %d matches", q.Waiting, q.MatchesTotal)
		}
		return ""
	})
	second.connect(c.instances[0])
	second.join("duel")
	together(t, first, second)
	c.judge(history.Options{SettledAt: time.Now()})
}

func TestARepeatedKeyIsAnsweredAsTheFirstTime(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2)
	p := c.players("p", 1)[0]
	first := do[*protocol.Joined](p, &protocol.Join{World: "duel", Ticket: "k1"})
	p.connect(c.instances[1])
	again := do[*protocol.Joined](p, &protocol.Join{World: "duel", Ticket: "k1"})
	if again.TicketID != first.TicketID || again.EnqueuedAt != first.EnqueuedAt {
		t.Errorf("joined again as %s at %d, at first as %s at %d", again.TicketID, again.EnqueuedAt, first.TicketID, first.EnqueuedAt)
	}
	p.leave("")
	after := do[*protocol.Joined](p, &protocol.Join{World: "duel", Ticket: "k1"})
	if after.TicketID != first.TicketID || len(p.status().Queued) != 0 {
		t.Errorf("after leaving, the key joins as %s and waits in %v", after.TicketID, p.status().Queued)
	}
}

func TestLateComersAreMatched(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2)
	p := c.players("p", 6)
	p[0].join("duel")
	during(t, 300*time.Millisecond, func() string {
		if n := heardOf[*protocol.MatchCompleted](p[0]); n > 0 {
			return "a match of one"
		}
		return ""
	})
	p[1].join("duel")
	together(t, p[0], p[1])
	p[2].join("duel")
	p[3].join("duel")
	p[4].join("duel")
	together(t, p[2], p[3])
	p[5].join("duel")
	together(t, p[4], p[5])
	c.judge(history.Options{SettledAt: time.Now()})
}

// leaveRounds is how often a leave races with the match; each round takes some milliseconds.
const leaveRounds = 200

func TestALeaveThatRacesWithAMatchHasOneOfTwoEnds(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2)
	p := c.players("p", 2)
	left := 0
	for range leaveRounds {
		p[0].join("duel")
		var wg sync.WaitGroup
		var worlds []string
		wg.Go(func() {
			if reply, err := p[0].try(&protocol.Leave{World: "duel"}); err == nil {
				worlds = reply.(*protocol.Left).Worlds
			}
		})
		wg.Go(func() { _, _ = p[1].try(&protocol.Join{World: "duel"}) })
		wg.Wait()
		if len(worlds) > 0 {
			left++
			if q := p[1].status(); q.Match != nil || len(q.Queued) != 1 {
				t.Fatalf("the leave is confirmed, and p2 has %+v", q)
			}
			p[1].leave("duel")
			continue
		}
		m := together(t, p[0], p[1])
		p[0].leaveMatch(m.ID)
		p[1].leaveMatch(m.ID)
	}
	t.Logf("the leave was faster in %d of %d rounds", left, leaveRounds)
	c.judge(history.Options{SettledAt: time.Now()})
}

func TestTheEstimateIsUnknownUntilThereIsOne(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	p := c.players("p", 3)
	if q := c.instances[0].queueStatus("duel"); q.EstimatedWaitMS != nil {
		t.Errorf("without a match the estimate is %d ms", *q.EstimatedWaitMS)
	}
	if joined := p[2].join("trio"); joined.EstimatedWaitMS != nil {
		t.Errorf("without a match a ticket's estimate is %d ms", *joined.EstimatedWaitMS)
	}
	const wait = 300 * time.Millisecond
	for range 5 {
		p[0].join("duel")
		<-time.After(wait)
		p[1].join("duel")
		m := together(t, p[0], p[1])
		p[0].leaveMatch(m.ID)
		p[1].leaveMatch(m.ID)
	}
	eventually(t, func() string {
		q := c.instances[0].queueStatus("duel")
		if q.EstimatedWaitMS == nil {
			return "there is no estimate"
		}
		// One of each two waited, so that the mean lies between half the wait and all of it.
		if e := time.Duration(*q.EstimatedWaitMS) * time.Millisecond; e < wait/4 || e > 4*wait {
			return fmt.Sprintf("the estimate is %v", e)
		}
		return ""
	})
}

func TestListsAreListsOnTheWire(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	raw := dialRaw(t, c.instances[0])
	raw.send(`{"type":"hello","id":"h","player_id":"p1"}`)
	raw.expect(`"type":"welcome"`, `"queued":[]`, `"notices":[]`, `"match":null`)
	raw.send(`{"type":"join","id":"j","world":"trio","tags":[],"party":[],"attributes":{}}`)
	raw.expect(`"type":"joined"`, `"party":[]`, `"estimated_wait_ms":null`)
	raw.send(`{"type":"status","id":"s"}`)
	raw.expect(`"type":"status"`, `"queued":[{`, `"party":[]`, `"notices":[]`)
	raw.send(`{"type":"leave","id":"l","world":"duel"}`)
	raw.expect(`"type":"left"`, `"worlds":[]`)
	status, body := c.instances[0].request("GET", "/v1/matching/my-status", "p2", "")
	if status != 200 || !strings.Contains(body, `"queued":[]`) || !strings.Contains(body, `"notices":[]`) {
		t.Errorf("my-status answers %d %s", status, body)
	}
}

func TestTimesOfClientsAreIgnored(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2)
	late := dialRaw(t, c.instances[0])
	late.send(`{"type":"hello","player_id":"late"}`)
	late.expect(`"type":"welcome"`)
	p := c.players("p", 2)
	now := time.Now()
	joined := p[0].join("trio")
	late.send(`{"type":"join","world":"trio","ts":1,"joined_at":1,"enqueued_at":1}`)
	late.expect(`"position":2`)
	if at := time.UnixMilli(joined.EnqueuedAt); at.Before(now.Add(-time.Second)) || at.After(now.Add(patience)) {
		t.Errorf("joined at %v, by the server at %v", now, at)
	}
	if q := p[0].status().Queued; len(q) != 1 || q[0].Position != 1 || q[0].WaitedMS < 0 || q[0].WaitedMS > patience.Milliseconds() {
		t.Errorf("who came first has %+v", q)
	}
}
