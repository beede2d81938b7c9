package load

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// run is one run: its players and what is measured.
type run struct {
	o       Options
	worlds  map[string]world // nil where the server does not list them
	clients []*http.Client
	players []*player
	free    chan *player  // those who may be asked to join
	dialing chan struct{} // holds one for each attempt to connect again
	// connections are the goroutines that connect players again.
	connections sync.WaitGroup

	connect, reconnect, lag, joined, match, gather *latency
	time                                           timeline
	judge                                          *judge
	// errors are by error code, closes by close code, failures of connecting by reason, dequeued by
	// reason.
	errors, closes, failures, dequeued counts

	joins     atomic.Int64 // sent
	unsent    atomic.Int64 // for which there was no free player in time
	connected atomic.Int64
	waiting   atomic.Int64 // players who are to join or have, and were not told
	news      atomic.Int64 // Unix nanoseconds when a player was last told anything of its join

	// present is how many are connected at the end, stay how many wait still in each world at the end.
	present int64
	stay    map[string]int
}

// tagLength is how many characters tell the players of one run from those of another.
const tagLength = 5

// Run does what the options say, and returns what it saw. When ctx ends it stops asking and reports
// what there is. An error means that there is nothing to report.
func Run(ctx context.Context, o Options) (*Report, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	worlds, err := readWorlds(ctx, o.URLs[0])
	if err != nil {
		return nil, err
	}
	if o.Pattern == Idle {
		o.Worlds = nil
	}
	if err := missing(worlds, o.Worlds); err != nil {
		return nil, err
	}
	r := newRun(o, worlds)
	began := time.Now()
	// Connections outlive an interruption: who was asked to join is still heard.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		r.watch(life, began)
	}()
	asking, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	r.connectAll(asking, life)
	r.reached(Connected)
	if r.connected.Load() > 0 {
		r.arrive(asking, life)
		r.settle(asking, life)
	}
	r.reached(Settled)
	cut := cutShort(ctx, asking)
	r.present = r.connected.Load()
	end()
	<-watching
	r.closeAll(ctx)
	r.connections.Wait()
	if r.connect.count() == 0 {
		return nil, fmt.Errorf("no player could connect: %s", strings.Join(r.failures.lines(), ", "))
	}
	return r.report(began, cut), nil
}

func (r *run) reached(s Stage) {
	if r.o.Reached != nil {
		r.o.Reached(s)
	}
}

func newRun(o Options, worlds map[string]world) *run {
	r := &run{
		o: o, worlds: worlds, clients: newClients(o.Sources),
		free: make(chan *player, o.Players), dialing: make(chan struct{}, dialsAtOnce),
		connect: newLatency(), reconnect: newLatency(), lag: newLatency(),
		joined: newLatency(), match: newLatency(), gather: newLatency(),
	}
	r.judge = newJudge(worlds, r.met)
	r.time.begin(time.Now())
	joining := joinFrames(o.Worlds)
	tag := strings.ToLower(rand.Text()[:tagLength])
	for n := range o.Players {
		p := &player{run: r, number: n, id: fmt.Sprintf("%s-%s-%d", o.IDPrefix, tag, n)}
		switch {
		case o.EveryWorld:
			p.joining = joining
		case len(o.Worlds) > 0:
			p.joining = joining[n%len(joining):][:1]
		}
		r.players = append(r.players, p)
		r.judge.add(p.id)
	}
	return r
}

// met takes in that all players of a match know it.
func (r *run) met(lastJoin, lastTold time.Time) {
	r.time.met(lastTold)
	if !lastJoin.IsZero() {
		r.gather.record(lastTold.Sub(lastJoin))
	}
}

// happened notes that a player heard something about its join.
func (r *run) happened(now time.Time) { r.news.Store(now.UnixNano()) }

// cutShort says why a run ended before it was complete, "" if it did not.
func cutShort(ctx, asking context.Context) string {
	switch {
	case ctx.Err() != nil:
		return interrupted
	case asking.Err() != nil:
		return "timeout"
	}
	return ""
}
