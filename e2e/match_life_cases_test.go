package e2e

import (
	"slices"
	"sync"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/protocol"
)

// caseWorlds are those of the cases, and how the history has to know them.
const caseWorlds = `
  - {name: check, mode: group, size: 2, tick: 100ms, match_hold: 30s, ready_check: 2s}
  - {name: four, mode: group, size: 4, tick: 100ms, match_hold: 30s, ready_check: 5s}
`

var caseJudged = map[string]history.World{"check": {Size: 2, Held: true}, "four": {Size: 4, Held: true}}

// proposal waits for the next match that the player is asked about and was not asked about before.
func (p *player) proposal(before ...string) *protocol.Match {
	p.t.Helper()
	for {
		if m := await[*protocol.MatchProposed](p).Match; !slices.Contains(before, m.ID) {
			return m
		}
	}
}

func (p *player) accept(match string) {
	p.t.Helper()
	do[*protocol.Accepted](p, &protocol.Accept{MatchID: match})
}

func (p *player) decline(match string) {
	p.t.Helper()
	do[*protocol.Declined](p, &protocol.Decline{MatchID: match})
}

// A match's time runs out long after its players have gone on.
func TestTheTimeOfAMatchThatFellThroughEndsNoLaterOne(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, withWorlds(caseWorlds))
	p := c.players("p", 3)
	p[0].join("check")
	p[1].join("check")
	first := p[0].proposal()
	p[0].decline(first.ID)
	await[*protocol.Requeued](p[1])
	p[1].leave("check")
	p[0].join("check")
	p[2].join("check")
	second := p[0].proposal(first.ID)
	p[0].accept(second.ID)
	p[2].accept(second.ID)
	m := together(t, p[0], p[2])
	<-time.After(time.Until(time.UnixMilli(first.AcceptBy)) + time.Second) // several sweeps
	for _, x := range []*player{p[0], p[2]} {
		if s := x.status(); s.Match == nil || s.Match.ID != m.ID {
			t.Errorf("%s is in %+v, want %s", x.id, s.Match, m.ID)
		}
		if n := heardOf[*protocol.MatchEnded](x); n > 0 {
			t.Errorf("%s was told that its match is over", x.id)
		}
	}
	if n := heardOf[*protocol.MatchCancelled](p[0]); n != 1 {
		t.Errorf("p1 was told of %d matches that fell through, want one", n)
	}
	c.judge(history.Options{SettledAt: time.Now(), Worlds: caseJudged})
}

// Who is back after others declined, once or again and again, is matched with the next who comes.
func TestThoseWhoAreBackAreMatchedWithWhoComesNext(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, withWorlds(caseWorlds))
	p := c.players("p", 7)
	var tickets []string
	for _, x := range p[:3] {
		tickets = append(tickets, x.join("four").TicketID)
	}
	var seen []string
	for n, x := range p[3:6] { // each of them spoils it
		x.join("four")
		m := x.proposal()
		seen = append(seen, m.ID)
		p[0].accept(m.ID) // and the others have not answered yet
		x.decline(m.ID)
		if d := await[*protocol.Dequeued](x); d.Reason != protocol.ReasonDeclined {
			t.Errorf("%s is told %+v", x.id, d)
		}
		for k, other := range p[:3] {
			back := await[*protocol.Requeued](other)
			if back.TicketID != tickets[k] || back.MatchID != m.ID || heardOf[*protocol.Requeued](other) != n+1 {
				t.Errorf("%s is told that it is back: %+v", other.id, back)
			}
		}
		if q := p[0].status().Queued; len(q) != 1 || q[0].QueueSize != 3 {
			t.Errorf("after %d declined the queue is %+v, want three", n+1, q)
		}
	}
	p[6].join("four")
	four := append(slices.Clone(p[:3]), p[6])
	for _, x := range four {
		x.accept(x.proposal(seen...).ID)
	}
	together(t, four...)
	c.judge(history.Options{SettledAt: time.Now(), Worlds: caseJudged})
}

// A match that its players are not told of yet is one for all that: a leave of its world is confirmed and it falls
// through, or it is complete and the leave came too late.
func TestALeaveThatRacesWithAHeldMatchHasOneOfTwoEnds(t *testing.T) {
	t.Parallel()
	const rounds = 60
	servers := startGameServers(t, 1)
	c := startCluster(t, 2, withWorlds(lifeSettings(servers.URL)))
	p := c.players("p", 2)
	left := 0
	for n := range rounds {
		p[0].join("server-only")
		p[1].join("server-only")
		<-time.After(time.Duration(n) * time.Millisecond)
		worlds := p[0].leave("server-only")
		if len(worlds) == 0 {
			m := together(t, p...)
			p[0].leaveMatch(m.ID)
			p[1].leaveMatch(m.ID)
			continue
		}
		left++
		if s := p[0].status(); s.Match != nil || len(s.Queued) > 0 {
			t.Fatalf("p1 has left, and is in %+v", s)
		}
		eventually(t, func() string {
			if s := p[1].status(); s.Match != nil || len(s.Queued) != 1 {
				return "p2 is not back in the queue"
			}
			return ""
		})
		p[1].leave("server-only")
	}
	t.Logf("the leave was faster in %d of %d rounds", left, rounds)
	c.judge(history.Options{SettledAt: time.Now(), Worlds: lifeJudged})
}

// A loss of history takes no proposal from players whose instances live through it.
func TestAProposalOutlivesALoss(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, withWorlds(`
  - {name: check, mode: group, size: 2, tick: 100ms, match_hold: 30s, ready_check: 30s}
  - {name: probe, mode: duel, tick: 100ms, match_hold: 30s}
`))
	p := c.players("p", 4)
	tickets := []string{p[0].join("check").TicketID, p[1].join("check").TicketID}
	m := p[0].proposal()
	p[1].proposal()
	p[0].accept(m.ID)
	from := time.Now()
	c.redis.FlushAll()
	for _, x := range p[2:] {
		eventually(t, func() string { return ended(x.try(&protocol.Join{World: "probe"})) })
	}
	together(t, p[2:]...) // all is healed
	c.history.Lost(history.Loss{Span: history.Span{From: from, To: time.Now().Add(healing)}})
	for k, x := range p[:2] {
		s := x.status()
		if s.Match == nil || s.Match.ID != m.ID || len(s.Queued) != 1 || s.Queued[0].TicketID != tickets[k] {
			t.Errorf("%s has %+v, want match %s and ticket %s", x.id, s, m.ID, tickets[k])
		}
	}
	p[0].accept(m.ID)
	p[1].accept(m.ID)
	if stood := together(t, p[:2]...); stood.ID != m.ID {
		t.Errorf("they are in match %s, want %s", stood.ID, m.ID)
	}
	c.judge(history.Options{SettledAt: time.Now(), Worlds: map[string]history.World{"check": {Size: 2, Held: true}, "probe": {Size: 2}}})
}

// One seat is free, and several come for it at once, on different instances.
func TestASeatGoesToOneOfThoseWhoComeAtOnce(t *testing.T) {
	t.Parallel()
	const rounds = 20
	c := startCluster(t, 2, withWorlds("\n  - {name: lounge, mode: fill, size: 2, tick: 100ms, match_hold: 30s, seat_hold: 10s}\n"))
	p := c.players("p", 5)
	p[0].join("lounge")
	room := p[0].awaitMatch()
	for range rounds {
		var wg sync.WaitGroup
		for _, x := range p[1:] {
			wg.Go(func() { _, _ = x.try(&protocol.Join{World: "lounge"}) }) // the history judges what comes of it
		}
		wg.Wait()
		var inRoom []string
		rooms := map[string]int{}
		for _, x := range p[1:] {
			m := x.awaitMatch()
			rooms[m.ID]++
			if m.ID == room.ID {
				inRoom = append(inRoom, x.id)
			}
		}
		if len(inRoom) != 1 {
			t.Fatalf("the one seat was given to %v", inRoom)
		}
		for id, n := range rooms {
			if n > 2 {
				t.Fatalf("room %s took %d", id, n)
			}
		}
		for _, x := range p[1:] {
			x.leaveMatch(x.log.Match().ID)
		}
	}
	c.judge(history.Options{SettledAt: time.Now(), Worlds: map[string]history.World{"lounge": {Size: 2, Fill: true}}})
}

// The clock of Redis alone says when a ready check is over, whatever those of the instances say.
func TestAnInstanceWhoseClockIsOffEndsNoReadyCheck(t *testing.T) {
	t.Parallel()
	shifted := buildShifted(t)
	c := startCluster(t, 2, withWorlds(caseWorlds))
	for n, ahead := range []string{"86400", "-3600"} {
		i := c.instances[n]
		i.kill()
		i.program, i.env = shifted, []string{shiftedVariable + "=" + ahead}
		i.start()
		i.awaitReady()
	}
	p := c.players("p", 4)
	p[0].join("four")
	var m *protocol.Match
	for _, x := range p[1:] {
		x.join("four")
	}
	for _, x := range p {
		m = x.proposal()
		if left := time.Until(time.UnixMilli(m.AcceptBy)); left < time.Second || left > 6*time.Second {
			t.Errorf("%s is to accept within %v", x.id, left)
		}
	}
	<-time.After(1500 * time.Millisecond) // several sweeps of both
	for _, x := range p {
		x.accept(m.ID)
	}
	if stood := together(t, p...); stood.ID != m.ID {
		t.Errorf("they are in match %s, want %s", stood.ID, m.ID)
	}
	c.judge(history.Options{SettledAt: time.Now(), Worlds: caseJudged})
}
