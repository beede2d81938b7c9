package e2e

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"muster/protocol"
)

// driver moves players about at random: each joins, leaves, meets, and one in three also breaks off and comes
// back. The others stay as long as they are let: only they have nothing to lose when Redis loses its data.
type driver struct {
	cluster *cluster
	worlds  []string
	seed    uint64
	stop    chan struct{} // closed to have all connect once more and then stand still
	wg      sync.WaitGroup
}

// attempt bounds one action of a player. A server answers within 3 s, whatever befalls it.
const attempt = 8 * time.Second

// startDriver begins to move n players.
func startDriver(c *cluster, seed uint64, prefix string, n int, worlds ...string) (*driver, []*player) {
	d := &driver{cluster: c, worlds: worlds, seed: seed, stop: make(chan struct{})}
	var all []*player
	for i := range n {
		p := c.player(prefix + string(rune('a'+i%26)) + itoa(i/26))
		all = append(all, p)
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		d.wg.Go(func() { d.live(p, random, i%3 != 0) })
	}
	return d, all
}

// finish has all players connected and idle of hand: what they wait for, they go on waiting for.
func (d *driver) finish() {
	close(d.stop)
	d.wg.Wait()
}

// live is what one player does until the driver stops.
func (d *driver) live(p *player, random *rand.Rand, steady bool) {
	for {
		connected := d.connected(p)
		select {
		case <-d.stop:
			if connected {
				return
			}
		case <-time.After(time.Duration(20+random.IntN(230)) * time.Millisecond):
		}
		switch {
		case !connected:
			d.connect(p, random)
		default:
			d.act(p, random, steady)
		}
	}
}

func (d *driver) connected(p *player) bool {
	c, _ := p.current()
	return c != nil && c.Err() == nil
}

// connect opens a connection to any instance. A failure is to be expected where one was just killed.
func (d *driver) connect(p *player, random *rand.Rand) {
	ctx, cancel := context.WithTimeout(p.t.Context(), attempt)
	defer cancel()
	i := d.cluster.instances[random.IntN(len(d.cluster.instances))]
	_, err := p.tryConnect(ctx, i)
	var refusal *protocol.Error
	if errors.As(err, &refusal) && refusal.RetryAfterMS == nil {
		p.t.Errorf("seed %d: %s is refused by %s: %v", d.seed, p.id, i.name, err)
	}
}

// takeOver opens a second connection, and has the first, which does not know of it yet, say one thing more.
func (d *driver) takeOver(p *player, random *rand.Rand) {
	old, conn := p.current()
	d.connect(p, random)
	if _, now := p.current(); now == conn {
		return // it is still the one
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), attempt)
	defer cancel()
	_, _ = p.ask(ctx, old, conn, &protocol.Leave{}) // the history judges the answer
}

// act does one thing at random, what the player's state suggests most of the time.
func (d *driver) act(p *player, random *rand.Rand, steady bool) {
	world := d.worlds[random.IntN(len(d.worlds))]
	match, queued := p.believes()
	dice := random.IntN(100)
	switch {
	case dice < 4 && !steady:
		p.cut()
	case dice < 7 && !steady:
		d.takeOver(p, random)
	case dice < 10:
		d.do(p, &protocol.Status{})
	case dice < 13:
		d.do(p, &protocol.Leave{World: world})
	case dice < 15:
		d.do(p, &protocol.Leave{})
	case match != "" && dice < 35:
		d.do(p, &protocol.Ack{MatchID: match})
	case match != "" && dice < 70:
		d.do(p, &protocol.LeaveMatch{MatchID: match})
	case match == "" && queued == 0 && dice < 85, dice < 25:
		d.do(p, &protocol.Join{World: world})
	default:
		d.do(p, &protocol.Ping{})
	}
}

// allowed are the refusals that a player who acts at random meets.
var allowed = map[string]bool{
	protocol.CodeAlreadyQueued: true, protocol.CodeInMatch: true, protocol.CodeNoSuchMatch: true,
	protocol.CodeReplaced: true, protocol.CodeUnavailable: true, protocol.CodeDraining: true,
}

func (d *driver) do(p *player, r protocol.Request) {
	ctx, cancel := context.WithTimeout(p.t.Context(), attempt)
	defer cancel()
	c, conn := p.current()
	_, err := p.ask(ctx, c, conn, r)
	var refusal *protocol.Error
	if errors.As(err, &refusal) && !allowed[refusal.Code] {
		p.t.Errorf("seed %d: %s: %v", d.seed, p.id, err)
	}
	if errors.Is(err, context.DeadlineExceeded) && c.Err() == nil {
		c.CloseNow() // a client gives such a server up; the history blames it
	}
}

// believes is the player's open match and in how many worlds it waits, as far as it knows.
func (p *player) believes() (match string, queued int) {
	have := p.log.Have()
	if have == nil {
		return "", 0
	}
	return have.Match, len(have.Tickets)
}

// settle waits until no world has enough players waiting for a match, and returns the moment; at the
// latest after a while, when the history shall be judged as it is. All ask for their state first, so
// that the record ends with the truth.
func (d *driver) settle(players []*player) time.Time {
	deadline := time.Now().Add(patience)
	for {
		waiting := map[string]int{}
		for _, p := range players {
			reply, err := p.try(&protocol.Status{})
			if err != nil {
				p.t.Errorf("seed %d: %s, at the end: %v", d.seed, p.id, err)
				continue
			}
			for _, q := range reply.(*protocol.StatusReply).Queued {
				waiting[q.World]++
			}
		}
		if waiting["duel"] < 2 && waiting["trio"] < 3 && waiting["five"] < 5 || time.Now().After(deadline) {
			return time.Now()
		}
	}
}
