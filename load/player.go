package load

import (
	"context"
	"sync"
	"time"

	"muster/client"
	"muster/protocol"
)

// phase is what a player is about.
type phase int

const (
	resting phase = iota // may be asked to join
	waiting              // is to join or has joined, and was not told of a match
	leaving              // was told, and leaves the match
	done                 // was told, and stays; or will not connect again
)

// Ids of requests. No call of the client waits for the replies, so that they come as events.
const (
	helloID  = "hello"
	joinID   = "join"
	leaveID  = "leave"
	statusID = "status"
)

// player is one player of a run, over all of its connections. Events come from the goroutine that reads
// the connection, one at a time; senders and the watch are others.
type player struct {
	run    *run
	number int
	id     string
	// joining are the frames that ask for a match in its worlds, encoded once for all players.
	joining [][]byte

	mu      sync.Mutex
	opening *client.Client // said hello and has no welcome yet; guarded by mu, as all below
	conn    *client.Client // nil while there is none
	gone    bool           // will not connect again
	failed  int            // attempts to connect again
	phase   phase
	due     time.Time // when it was to join
	sent    bool      // it did, at least once since
	pending int       // joins over this connection that are not answered
	tickets []string
	match   string // the last that it was told
	broke   bool   // its connection was broken on purpose since it was to join
	asked   bool   // its state was asked for and not answered yet
	// What the answer said: the worlds that it waits in, or a match that it was not told of.
	stays  []string
	untold *protocol.Match
}

// outgoing is what a player is to send once its lock is released.
type outgoing struct {
	conn   *client.Client
	frames [][]byte
}

// send sends it. An error is the end of the connection, which the watch sees.
func (o outgoing) send(ctx context.Context) {
	for _, frame := range o.frames {
		if o.conn.SendText(ctx, frame) != nil {
			return
		}
	}
}

// joinFrames are the frames that ask for a match in each of the worlds.
func joinFrames(worlds []string) [][]byte {
	frames := make([][]byte, len(worlds))
	for i, world := range worlds {
		frames[i] = protocol.Encode(&protocol.Join{Envelope: protocol.Envelope{ID: joinID}, World: world})
	}
	return frames
}

// request is one request over the connection, nothing where there is none. The caller holds mu.
func (p *player) request(id string, r protocol.Request) outgoing {
	if p.conn == nil {
		return outgoing{}
	}
	r.SetMessageID(id)
	return outgoing{p.conn, [][]byte{protocol.Encode(r)}}
}

// join has a resting player join, now or as soon as it is connected again. due is when it was to.
func (p *player) join(ctx context.Context, due time.Time) {
	p.mu.Lock()
	if p.gone {
		p.mu.Unlock()
		p.run.unsent.Add(1)
		return
	}
	p.phase, p.due, p.sent, p.broke = waiting, due, false, false
	p.tickets = p.tickets[:0]
	p.run.waiting.Add(1)
	out := p.joins()
	p.mu.Unlock()
	out.send(ctx)
}

// joins are the requests of a player who is to join, none without a connection. The caller holds mu.
func (p *player) joins() outgoing {
	if p.conn == nil {
		return outgoing{}
	}
	now := time.Now()
	if !p.sent {
		p.sent = true
		p.run.lag.record(now.Sub(p.due))
	}
	p.run.judge.joins(p.id, now)
	p.pending = len(p.joining)
	for range p.joining {
		p.run.joins.Add(1)
		p.run.time.sent(now)
	}
	return outgoing{p.conn, p.joining}
}

// askState asks for the state of a player who waits still, and reports whether it did.
func (p *player) askState(ctx context.Context) bool {
	p.mu.Lock()
	if p.conn == nil || p.phase != waiting {
		p.mu.Unlock()
		return false
	}
	p.asked, p.stays, p.untold = true, nil, nil
	out := p.request(statusID, &protocol.Status{})
	p.mu.Unlock()
	out.send(ctx)
	return true
}

// rest makes the player free to join again. The caller holds mu.
func (p *player) rest() {
	if p.phase == waiting {
		p.run.waiting.Add(-1)
	}
	p.phase = resting
	p.run.free <- p // has room for all players, and nobody is in it twice
}
