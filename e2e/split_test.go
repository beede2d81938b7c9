package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/musterhq/muster/e2e/history"
	"github.com/musterhq/muster/internal/faultproxy"
	"github.com/musterhq/muster/internal/redistest"
	"github.com/musterhq/muster/protocol"
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
	s.cluster = startCluster(t, 2, withURL(s.replica, url), withURLOf(0, strings.Replace(url, sentinel, s.toSentinel.Addr(), 1)))
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
