package redistest

import (
	"context"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// slots is how many hash slots a Redis Cluster has.
const slots = 16384

// Nodes is a Redis Cluster: primaries that share the slots evenly, and one replica of each.
type Nodes struct {
	t         testing.TB
	Primaries []*Server
	Replicas  []*Server // Replicas[i] copies Primaries[i]
}

// StartNodes starts a Cluster of n primaries and n replicas, and waits until it serves. A replica is promoted
// by Promote only. Options change how each node is started.
func StartNodes(t testing.TB, n int, nodeTimeout time.Duration, opts ...Option) *Nodes {
	t.Helper()
	c := &Nodes{t: t}
	for range n {
		c.Primaries = append(c.Primaries, startNode(t, nodeTimeout, opts...))
		c.Replicas = append(c.Replicas, startNode(t, nodeTimeout, opts...))
	}
	for i, s := range c.Primaries {
		c.must(s, "CLUSTER", "ADDSLOTSRANGE", i*slots/n, (i+1)*slots/n-1)
	}
	first := c.Primaries[0]
	for _, s := range c.all()[1:] {
		host, port, _ := net.SplitHostPort(s.addr) // its own
		c.must(first, "CLUSTER", "MEET", host, port, s.bus)
	}
	await(t, "the nodes know each other", func(ctx context.Context) bool { return c.agree(ctx) })
	for i, s := range c.Replicas {
		c.must(s, "CLUSTER", "REPLICATE", c.must(c.Primaries[i], "CLUSTER", "MYID"))
	}
	await(t, "the replicas have their data", func(ctx context.Context) bool {
		for _, s := range c.Replicas {
			if !s.synced(ctx) {
				return false
			}
		}
		return c.agree(ctx)
	})
	return c
}

func startNode(t testing.TB, nodeTimeout time.Duration, opts ...Option) *Server {
	t.Helper()
	return Start(t, append(opts, ClusterNode(), Args(
		"--cluster-node-timeout", strconv.FormatInt(nodeTimeout.Milliseconds(), 10),
		"--cluster-replica-no-failover", "yes", "--repl-diskless-sync-delay", "0"))...)
}

func (c *Nodes) all() []*Server { return append(append([]*Server{}, c.Primaries...), c.Replicas...) }

// agree reports whether every node knows all others and finds the Cluster able to serve.
func (c *Nodes) agree(ctx context.Context) bool {
	for _, s := range c.all() {
		info, err := s.client.ClusterInfo(ctx).Result()
		if err != nil || !strings.Contains(info, "cluster_state:ok") ||
			!strings.Contains(info, "cluster_known_nodes:"+strconv.Itoa(len(c.all()))) {
			return false
		}
	}
	return true
}

// must runs a command that cannot fail.
func (c *Nodes) must(s *Server, args ...any) any {
	c.t.Helper()
	reply, err := s.Do(c.t.Context(), args...)
	if err != nil {
		c.t.Fatalf("redistest: %v: %v", args, err)
	}
	return reply
}

// URL is the address of the Cluster as the setting redis.url takes it.
func (c *Nodes) URL() string {
	url := "redis://" + c.Primaries[0].addr
	for i, s := range c.all()[1:] {
		sep := "&"
		if i == 0 {
			sep = "?"
		}
		url += sep + "addr=" + s.addr
	}
	return url
}

// Of is the number of the node that holds a key.
func (c *Nodes) Of(key string) int {
	c.t.Helper()
	slot := c.must(c.Primaries[0], "CLUSTER", "KEYSLOT", key).(int64) // as Redis documents it
	for i := range c.Primaries {
		if int(slot) < (i+1)*slots/len(c.Primaries) {
			return i
		}
	}
	return len(c.Primaries) - 1
}

// Promote makes the i-th replica the primary of its slots, whoever else is there, and waits until all nodes
// that run know it.
func (c *Nodes) Promote(i int) {
	c.t.Helper()
	c.must(c.Replicas[i], "CLUSTER", "FAILOVER", "TAKEOVER")
	await(c.t, "the replica is a primary", func(ctx context.Context) bool {
		info, err := c.Replicas[i].client.Info(ctx, "replication").Result()
		return err == nil && strings.Contains(info, "role:master")
	})
}
