package e2e

import (
	"math"
	"slices"
	"time"

	"muster/e2e/history"
	"muster/internal/faultproxy"
)

// fault is one kind of harm.
type fault struct {
	name string
	// loses tells that what Redis knew goes with it: rule 7 bounds what that may cost.
	loses bool
	// holds is what no other fault may have at the same time.
	holds part
	// bound is how long the recovery may take once the harm is over; 0 is usualBound.
	bound time.Duration
	// strike does the harm, and returns when it is over.
	strike func(s *storm)
}

// part is something of the system that only one fault at a time can have.
type part uint8

const (
	theProcess part = 1 << iota // Redis' own
	theNetwork                  // whether bytes pass between instances and Redis
)

// usualBound is how long matching may take to heal once Redis answers again; toldBound, where only what
// instances are told was lost; reconnectBound, how long players wait who come back from a killed instance.
const (
	usualBound     = 3 * time.Second
	toldBound      = 2 * time.Second
	reconnectBound = time.Second
)

// allFaults are the faults out of which each round takes some.
var allFaults = []fault{
	{name: "instance killed (SIGKILL)", strike: (*storm).crash},
	{name: "instance drained (SIGTERM)", strike: (*storm).drain},
	{name: "instance frozen past its lease (SIGSTOP)", strike: (*storm).freezeInstance},
	{name: "instance cut off from Redis past its lease", holds: theNetwork, strike: (*storm).isolate},
	{name: "all connections to Redis reset", strike: func(s *storm) { s.everyProxy((*faultproxy.Proxy).Cut) }},
	{name: "black hole both ways", holds: theNetwork, strike: func(s *storm) { s.blackHole(faultproxy.Both) }},
	{name: "black hole towards Redis", holds: theNetwork, strike: func(s *storm) { s.blackHole(faultproxy.ToServer) }},
	{name: "black hole from Redis", holds: theNetwork, strike: func(s *storm) { s.blackHole(faultproxy.ToClient) }},
	{name: "Redis 20 to 200 ms further away", strike: (*storm).delay},
	{name: "Redis further away over some connections than over others", strike: (*storm).delayUnevenly},
	{name: "publishes late", strike: (*storm).latePublishes},
	{name: "one script's reply lost", strike: func(s *storm) { s.loseReplies(1) }},
	{name: "twenty replies lost", strike: func(s *storm) { s.loseReplies(20) }},
	{name: "publishes lost without a reconnect", bound: toldBound, strike: (*storm).losePublishes},
	{name: "outage longer than presence.ttl", holds: theNetwork, strike: (*storm).outage},
	{name: "pub/sub connections killed, five times", bound: toldBound, strike: (*storm).killSubscribers},
	{name: "script cache emptied (SCRIPT FLUSH)", strike: func(s *storm) { s.redis("SCRIPT", "FLUSH") }},
	{name: "Redis frozen (SIGSTOP)", holds: theProcess, strike: (*storm).freezeRedis},
	{name: "Redis paused (CLIENT PAUSE)", strike: (*storm).pauseRedis},
	{name: "Redis busy with a script (BUSY)", holds: theProcess, strike: (*storm).busyRedis},
	{name: "Redis full (maxmemory, noeviction)", strike: (*storm).fillRedis},
	{name: "Redis read-only (REPLICAOF nowhere)", strike: (*storm).readOnlyRedis},
	{name: "Redis killed and restarted with its data", holds: theProcess, strike: func(s *storm) { s.restartRedis(true) }},
	{name: "Redis killed and restarted empty", loses: true, holds: theProcess, strike: func(s *storm) { s.restartRedis(false) }},
	{name: "Redis emptied (FLUSHALL)", loses: true, strike: func(s *storm) { s.redis("FLUSHALL") }},
	{name: "Redis emptied and an instance killed", loses: true, strike: (*storm).emptyAndCrash},
}

// crash kills an instance and starts it again. That its players are matched as soon as they are back can be
// asked only where nothing else is broken.
func (s *storm) crash() {
	i := s.any()
	if s.alone {
		s.orphan(i)
	} else {
		i.kill()
	}
	<-time.After(s.between(100*time.Millisecond, time.Second))
	i.start()
	i.awaitReady()
}

// loseReplies loses the replies to the next scripts of an instance. Whose call waits for one that is lost sends nothing
// meanwhile, so that it may take a while.
func (s *storm) loseReplies(n int) {
	proxy := s.any().proxy
	proxy.SwallowRepliesTo("evalsha\r\n", n)
	for end := time.Now().Add(5 * time.Second); proxy.ToSwallow() > 0 && time.Now().Before(end); {
		<-time.After(10 * time.Millisecond)
	}
	if s.alone && proxy.ToSwallow() == n {
		s.cluster.t.Errorf("no reply was lost in 5 s: no script was called")
	}
	proxy.SwallowReplies(0)
}

// drain stops an instance in order and starts it again.
func (s *storm) drain() {
	i := s.any()
	if code := i.stop(); code != 0 {
		s.cluster.t.Errorf("%s drained with exit code %d", i.name, code)
	}
	i.start()
	i.awaitReady()
}

// pastLease is longer than the lease of an instance, and shorter than presence.ttl.
func (s *storm) pastLease() time.Duration {
	return s.between(3200*time.Millisecond, 4500*time.Millisecond)
}

// freezeInstance lets an instance stand still; it comes back with all that it believed.
func (s *storm) freezeInstance() {
	i := s.any()
	s.silence(i, i.pause, i.resume)
}

// isolate keeps an instance from Redis, while its clients still reach it.
func (s *storm) isolate() {
	i := s.any()
	s.silence(i, func() { i.proxy.BlackHole(faultproxy.Both) }, func() { i.proxy.BlackHole(faultproxy.Neither) })
}

// silence keeps an instance silent for longer than its lease. Who waits on it is passed over from then on.
func (s *storm) silence(i *instance, begin, end func()) {
	if !s.alone {
		begin()
		<-time.After(s.pastLease())
		end()
		return
	}
	ghost := s.pair("ghost")[0]
	ghost.wait(i, probeWorld)
	begin()
	<-time.After(s.pastLease())
	others := slices.DeleteFunc(slices.Clone(s.cluster.instances), func(other *instance) bool { return other == i })
	s.meeting(time.Now(), s.pair("passing"), others...)
	end()
	s.letGo(ghost)
}

func (s *storm) everyProxy(do func(*faultproxy.Proxy)) {
	for _, i := range s.cluster.instances {
		do(i.proxy)
	}
}

// blackHole holds back what goes to Redis, or comes from it, or both.
func (s *storm) blackHole(d faultproxy.Direction) {
	s.everyProxy(func(p *faultproxy.Proxy) { p.BlackHole(d) })
	<-time.After(s.between(200*time.Millisecond, 4*time.Second))
	s.everyProxy(func(p *faultproxy.Proxy) { p.BlackHole(faultproxy.Neither) })
}

// delay moves Redis away, as a network does that is nearly full.
func (s *storm) delay() {
	each := s.between(10*time.Millisecond, 100*time.Millisecond)
	s.everyProxy(func(p *faultproxy.Proxy) { p.Delay(each) })
	<-time.After(s.between(time.Second, 3*time.Second))
	s.everyProxy(func(p *faultproxy.Proxy) { p.Delay(0) })
}

// delayUnevenly has what goes over one connection overtake what went before over another: replies, and what is
// told.
func (s *storm) delayUnevenly() {
	most := s.between(200*time.Millisecond, 500*time.Millisecond)
	s.everyProxy(func(p *faultproxy.Proxy) { p.DelayUnevenly(most) })
	<-time.After(s.between(2*time.Second, 4*time.Second))
	s.everyProxy(func(p *faultproxy.Proxy) { p.DelayUnevenly(0) })
}

// latePublishes has what instances are told come when its players may have heard of it otherwise, and acted on it.
func (s *storm) latePublishes() {
	late := s.between(300*time.Millisecond, 1500*time.Millisecond)
	s.everyProxy(func(p *faultproxy.Proxy) { p.DelayOf("subscribe\r\n", late) })
	<-time.After(s.between(2*time.Second, 4*time.Second))
	s.everyProxy(func(p *faultproxy.Proxy) { p.DelayOf("subscribe\r\n", 0) })
}

// losePublishes loses what is told to instances, of which nobody learns otherwise: their connections stay.
func (s *storm) losePublishes() {
	s.told(func() {
		s.everyProxy(func(p *faultproxy.Proxy) { p.LoseChunks("subscribe\r\n", math.MaxInt) })
	})
	<-time.After(500 * time.Millisecond)
	s.everyProxy(func(p *faultproxy.Proxy) { p.LoseChunks("subscribe\r\n", 0) })
}

// outage has Redis refuse connections for longer than presence.ttl. Who was away before it comes back a while
// after it; the history judges what it finds.
func (s *storm) outage() {
	back := s.leaveBehind()
	from := time.Now()
	s.everyProxy(func(p *faultproxy.Proxy) { p.Refuse(true); p.Cut() })
	<-time.After(soakTTL + s.between(500*time.Millisecond, 2*time.Second))
	s.cluster.history.Unreachable(history.Span{From: from, To: time.Now()})
	s.everyProxy(func(p *faultproxy.Proxy) { p.Refuse(false) })
	s.later.Go(back)
}

// leaveBehind has a player wait and break off, and returns how it comes back. With other faults at the same time
// nobody can say what it is owed.
func (s *storm) leaveBehind() (back func()) {
	if !s.alone {
		return func() {}
	}
	p, i := s.pair("away")[0], s.any()
	p.wait(i, "five")
	p.cut()
	<-time.After(soakGrace / 3) // until it is away, and not gone
	return func() {
		<-time.After(soakTTL / 3) // several sweeps
		p.insist(i)
		s.letGo(p)
	}
}
