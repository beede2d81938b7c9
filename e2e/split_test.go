package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/internal/faultproxy"
	"muster/internal/redistest"
	"muster/protocol"
)

// split is a network in two: on the old side the primary and one instance, on the new side the replica, the
// Sentinel and the other instances.
type split struct {
	*cluster
	primary, replica *redistest.Server
	toPrimary        *faultproxy.Proxy // of everybody
	toSentinel       *faultproxy.Proxy // of the instance on the old side
}

// startSplit starts an instance for either side. The network is whole yet.
func startSplit(t *testing.T) *split {
	t.Helper()
	s := &split{primary: redistest.Start(t)}
	s.toPrimary = faultproxy.Start(t, s.primary.Addr())
	s.replica = redistest.StartReplica(t, s.toPrimary.Addr())
	url := redistest.StartSentinelAt(t, s.primary, s.toPrimary.Addr(), sentinelPatience)
	sentinel := strings.TrimSuffix(strings.TrimPrefix(url, "redis://"), "/0?master_name="+redistest.MasterName)
	s.toSentinel = faultproxy.Start(t, sentinel)
	// After the split the players of the old side are asserted only if their places were kept for as long: for presence.ttl and drain.
	s.cluster = startCluster(t, 2, withURL(s.replica, url), withURLOf(0, strings.Replace(url, sentinel, s.toSentinel.Addr(), 1)),
		withEnv("PRESENCE_TTL=90s", "PRESENCE_RECONNECT_GRACE=90s"))
	return s
}

// tear cuts the network, and returns when the replica is promoted.
func (s *split) tear() {
	s.t.Helper()
	s.toSentinel.BlackHole(faultproxy.Both)
	s.toPrimary.Isolate(s.instances[0].identity())
	awaitRole(s.t, s.replica, "master")
}

// heal makes the network whole, and returns when the old primary follows the new one.
func (s *split) heal() {
	s.t.Helper()
	s.toPrimary.Isolate("")
	s.toSentinel.BlackHole(faultproxy.Neither)
	awaitRole(s.t, s.primary, "slave")
}

// live are the players whom a server has as live: by its epoch, and by its instances' leases.
func (s *split) live(redis *redistest.Server) map[string]bool {
	s.t.Helper()
	do := func(args ...any) any {
		reply, err := redis.Do(s.t.Context(), args...)
		if err != nil {
			s.t.Fatalf("%v: %v", args, err)
		}
		return reply
	}
	prefix := "mm:{" + s.realm + "}:"
	epoch, now := do("HGET", prefix+"meta", "epoch"), do("TIME").([]any)[0].(string)
	leased := map[string]bool{}
	for _, name := range do("ZRANGEBYSCORE", prefix+"ins", "("+now+"000", "+inf").([]any) {
		leased[name.(string)] = true
	}
	live := map[string]bool{}
	for _, key := range do("KEYS", prefix+"pr:*").([]any) {
		text, err := redis.Do(s.t.Context(), "GET", key)
		if err != nil {
			continue // it ended just now
		}
		presence := strings.Split(text.(string), "|") // state, epoch, instance, generation
		if presence[0] == "L" && presence[1] == epoch && leased[presence[2]] {
			live[strings.TrimPrefix(key.(string), prefix+"pr:")] = true
		}
	}
	return live
}

func TestNobodyIsLiveOnBothSidesOfASplit(t *testing.T) {
	t.Parallel()
	s := startSplit(t)
	p := s.players("p", 10) // p1, p3, p5, p7, p9 on the old side, the others on the new
	old, young := []*player{p[0], p[2], p[4]}, []*player{p[1], p[3], p[5]}
	p[0].join("trio") // these two wait when the network breaks: both sides know of both
	p[1].join("trio")
	p[6].join("duel")
	p[7].join("duel")
	before := together(t, p[6], p[7]) // one is on either side
	from := time.Now()
	cut := s.instances[0].identity()
	s.tear()
	for _, x := range young[1:] {
		eventually(t, func() string { return ended(x.try(&protocol.Join{World: "trio"})) })
	}
	onNew := together(t, young...)
	for _, x := range old[1:] {
		x.join("trio")
	}
	onOld := together(t, old...)
	during(t, time.Second, func() string {
		here, there := s.live(s.primary), s.live(s.replica)
		for name := range here {
			if there[name] {
				return name + " is live on both sides"
			}
		}
		if len(here) != 5 || len(there) != 5 {
			return fmt.Sprintf("live on the old side: %v, on the new side: %v", here, there)
		}
		return ""
	})
	if onNew.ID == onOld.ID {
		t.Errorf("both sides are in match %s", onNew.ID)
	}
	p[7].leaveMatch(before.ID) // of which the old side learns nothing
	p[7].join("duel")
	p[9].join("duel")
	again := together(t, p[7], p[9])
	s.heal()
	eventually(t, func() string { return ended(p[8].try(&protocol.Join{World: "five"})) }) // on the instance that was cut off
	s.history.Lost(history.Loss{Span: history.Span{From: from, To: time.Now().Add(healing)}, Instances: []string{cut}})
	for x, want := range map[*player]string{p[1]: onNew.ID, p[3]: onNew.ID, p[5]: onNew.ID, p[7]: again.ID, p[9]: again.ID} {
		if m := x.status().Match; m == nil || m.ID != want {
			t.Errorf("%s is in match %+v after the split, want %s", x.id, m, want)
		}
	}
	for _, x := range old {
		if m := x.status().Match; m == nil || m.ID != onOld.ID {
			t.Errorf("%s is in match %+v, and its instance knew of %s all the time", x.id, m, onOld.ID)
		}
	}
	s.judge(history.Options{SettledAt: time.Now()})
}
