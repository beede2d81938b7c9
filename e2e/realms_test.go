package e2e

import (
	"fmt"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/internal/redistest"
	"muster/protocol"
)

func TestRealmsOfARedisClusterFailOverByThemselves(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartNodes(t, 3, 2*time.Second)
	var realms []*cluster // the i-th on the i-th node
	var drivers []*driver
	players := map[*driver][]*player{}
	for n := range nodes.Primaries {
		c := startCluster(t, 2, withURL(nodes.Replicas[n], nodes.URL()), withRealm(realmOn(nodes, n)))
		d, all := startDriver(c, uint64(n), "d", 20, "duel", "trio", "five")
		realms, drivers = append(realms, c), append(drivers, d)
		players[d] = all
	}
	<-time.After(time.Second) // until all are at work
	const failing = 1
	probe := realms[failing].players("probe", 1)[0]
	realms[failing].failover(func() {
		nodes.Primaries[failing].Kill()
		nodes.Promote(failing)
	}, func() string { return ended(probe.try(&protocol.Join{World: "five"})) })
	<-time.After(healing)
	for n, c := range realms {
		drivers[n].finish()
		settled := drivers[n].settle(players[drivers[n]])
		// The others know of no trouble: whatever was late or lost there is a violation.
		if c.judge(history.Options{SettledAt: settled}) > 0 {
			t.Errorf("that was the realm of node %d", n)
		}
		count := c.history.Count()
		if count.Matches < 10 || n != failing && count.LostTickets+count.LostMatches > 0 {
			t.Errorf("the realm of node %d: %+v", n, count)
		}
	}
}

// realmOn is the name of a realm that a node holds.
func realmOn(nodes *redistest.Nodes, n int) string {
	for k := 0; ; k++ {
		realm := fmt.Sprintf("realm%d-%d", n, k)
		if nodes.Of("mm:{"+realm+"}:meta") == n {
			return realm
		}
	}
}
