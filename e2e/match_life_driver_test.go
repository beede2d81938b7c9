package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"muster/protocol"
)

// lives moves players through worlds whose matches have a life: each joins, answers when it is asked, or does not,
// takes up its seat or does not, leaves, breaks off and comes back.
type lives struct {
	cluster *cluster
	seed    uint64
	stop    chan struct{} // closed to have all stay, and accept what they are asked
	end     chan struct{} // closed to end
	wg      sync.WaitGroup

	declined, silent, opened atomic.Int64
}

// lifeWorlds are where the players go, the more often the more often they are named.
var lifeWorlds = []string{"check", "check", "served", "served", "server-only", "lounge", "lounge", "duel"}

// startLives begins to move n players.
func startLives(c *cluster, seed uint64, prefix string, n int) (*lives, []*player) {
	l := &lives{cluster: c, seed: seed, stop: make(chan struct{}), end: make(chan struct{})}
	var all []*player
	for i := range n {
		p := c.player(fmt.Sprintf("%s-%d", prefix, i))
		all = append(all, p)
		one := &life{lives: l, p: p, random: rand.New(rand.NewPCG(seed, uint64(i))), steady: i%3 != 0, answered: map[string]bool{}}
		l.wg.Go(one.live)
	}
	return l, all
}

// life is one player's. It is driven by one goroutine.
type life struct {
	*lives
	p      *player
	random *rand.Rand
	// steady players stay connected as long as they are let.
	steady   bool
	answered map[string]bool // matches that it was asked about, and said what it had to say
}

func (l *life) live() {
	for {
		select {
		case <-l.end:
			return
		case <-time.After(time.Duration(10+l.random.IntN(150)) * time.Millisecond):
		}
		c, _ := l.p.current()
		switch {
		case c == nil || c.Err() != nil:
			l.connect()
		default:
			l.act()
		}
	}
}

func (l *lives) settling() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// connect opens a connection to any instance. A failure is to be expected where one was just killed.
func (l *life) connect() {
	ctx, cancel := context.WithTimeout(l.p.t.Context(), attempt)
	defer cancel()
	_, err := l.p.tryConnect(ctx, l.cluster.instances[l.random.IntN(len(l.cluster.instances))])
	var refusal *protocol.Error
	if errors.As(err, &refusal) && refusal.RetryAfterMS == nil {
		l.p.t.Errorf("seed %d: %s is refused: %v", l.seed, l.p.id, err)
	}
}

// act does one thing, what the player's state suggests most of the time.
func (l *life) act() {
	match, dice := l.p.log.Match(), l.random.IntN(100)
	switch {
	case match != nil && match.State == protocol.StateProposed && !l.answered[match.ID]:
		l.answer(match)
	case l.settling():
		if match == nil && dice < 30 {
			l.do(&protocol.Status{}) // what is not told is found out
		}
	case dice < 3 && !l.steady:
		l.p.cut()
	case dice < 5:
		l.do(&protocol.Status{})
	case dice < 7:
		l.do(&protocol.Leave{World: lifeWorlds[l.random.IntN(len(lifeWorlds))]})
	case match != nil && match.State == protocol.StateComplete:
		l.play(match, dice)
	case match == nil:
		l.queue(dice)
	}
}

// answer says what a player has to say who is asked: four in five accept, of the others two in three decline.
func (l *life) answer(match *protocol.Match) {
	l.answered[match.ID] = true
	dice := l.random.IntN(100)
	switch {
	case dice < 80 || l.settling():
		if refused := l.do(&protocol.Accept{MatchID: match.ID}); refused == protocol.CodeUnavailable {
			l.answered[match.ID] = false
		}
	case dice < 93:
		l.declined.Add(1)
		if dice < 90 {
			l.do(&protocol.Decline{MatchID: match.ID})
		} else {
			l.do(&protocol.LeaveMatch{MatchID: match.ID})
		}
	default:
		l.silent.Add(1)
	}
}

// play is what a player does in a match that stands.
func (l *life) play(match *protocol.Match, dice int) {
	switch {
	case dice < 30:
		l.do(&protocol.Ack{MatchID: match.ID})
	case dice < 60:
		if l.do(&protocol.LeaveMatch{MatchID: match.ID}) == "" && match.World == "duel" {
			l.refill(match.ID)
		}
	}
}

// refill opens a seat of a match that a player has left, as a back end does.
func (l *life) refill(match string) {
	i := l.cluster.instances[l.random.IntN(len(l.cluster.instances))]
	status, err := i.tryRequest("POST", "/v1/matches/"+match+"/seats", `{"open":1}`)
	if err == nil && status == 200 {
		l.opened.Add(1)
	}
}

// queue joins a world or two.
func (l *life) queue(dice int) {
	_, queued := l.p.believes()
	if queued == 0 || queued < 3 && dice < 15 {
		l.do(&protocol.Join{World: lifeWorlds[l.random.IntN(len(lifeWorlds))]})
	}
}

// allowedLives are the refusals that a player meets who acts on what it knows.
var allowedLives = map[string]bool{
	protocol.CodeAlreadyQueued: true, protocol.CodeInMatch: true, protocol.CodeInProposal: true, protocol.CodeNoSuchMatch: true,
	protocol.CodeReplaced: true, protocol.CodeUnavailable: true, protocol.CodeDraining: true, protocol.CodeRateLimited: true,
}

// do sends a request and returns the code that it is refused with, "" for none, "?" where it is not known.
func (l *life) do(r protocol.Request) (code string) {
	ctx, cancel := context.WithTimeout(l.p.t.Context(), attempt)
	defer cancel()
	c, conn := l.p.current()
	_, err := l.p.ask(ctx, c, conn, r)
	var refusal *protocol.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refusal):
		if !allowedLives[refusal.Code] {
			l.p.t.Errorf("seed %d: %s: %s: %v", l.seed, l.p.id, r.Type(), err)
		}
		return refusal.Code
	case errors.Is(err, context.DeadlineExceeded) && c.Err() == nil:
		c.CloseNow() // the history blames such a server
	}
	return "?"
}

// finish has all stay where they are, waits until everything has come to an end, and returns the moment. What has not
// by then, the history is to be judged as it is.
func (l *lives) finish(players []*player) time.Time {
	close(l.stop)
	deadline := time.Now().Add(settleWithin)
	for time.Now().Before(deadline) && !settledLives(players) {
		<-time.After(100 * time.Millisecond)
	}
	close(l.end)
	l.wg.Wait()
	for _, p := range players {
		if _, err := p.try(&protocol.Status{}); err != nil {
			p.t.Errorf("seed %d: %s, at the end: %v", l.seed, p.id, err)
		}
	}
	return time.Now()
}

// settleWithin is longer than a match takes to get a server from instances of which each was killed while it asked.
const settleWithin = 40 * time.Second

// settledLives reports whether all are connected, nobody is asked anything any more, and nobody waits who could be
// matched.
func settledLives(players []*player) bool {
	waiting := map[string]int{}
	for _, p := range players {
		if c, _ := p.current(); c == nil || c.Err() != nil {
			return false
		}
		if m := p.log.Match(); m != nil && m.State != protocol.StateComplete {
			return false
		}
		for _, world := range p.log.Waiting() {
			waiting[world]++
		}
	}
	for world, n := range waiting {
		if n >= lifeNeeds[world] {
			return false
		}
	}
	return true
}

// lifeNeeds is how many make a match.
var lifeNeeds = map[string]int{"check": 2, "served": 2, "server-only": 2, "lounge": 1, "duel": 2}
