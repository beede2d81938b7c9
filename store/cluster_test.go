package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"muster/internal/redistest"
)

// asAdmin is a client with all rights, for what tests do besides.
func asAdmin(t *testing.T, server *redistest.Server) redis.UniversalClient {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = c.Close() }) // no test hangs on it
	return c
}

// admins are clients of each primary; they are closed after the realms were emptied that are made later.
func admins(t *testing.T, nodes *redistest.Nodes) []redis.UniversalClient {
	t.Helper()
	var all []redis.UniversalClient
	for _, primary := range nodes.Primaries {
		all = append(all, asAdmin(t, primary))
	}
	return all
}

// TestCluster_OnlyNeedsItsOwnNode calls scripts that no node knows, and all other functions, while the nodes of other
// realms are down.
func TestCluster_OnlyNeedsItsOwnNode(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartNodes(t, 3, time.Minute) // no node takes another for failed
	be, direct := backend{url: func(testing.TB) string { return nodes.URL() }}, admins(t, nodes)
	b := newRealm(t, be, 2)
	other := nodes.Primaries[(nodes.Of(keyMeta("main"))+1)%len(nodes.Primaries)]
	want := "redis.url names one node of a Cluster: name another one too, as ?addr=host:port"
	if got := sentenceOf(t, "redis://"+other.Addr()); got != want {
		t.Errorf("of a single node it says %q", got)
	}
	own := nodes.Of(keyMeta(b.realm))
	if err := b.rdb.Ping(t.Context()).Err(); err != nil { // the client knows all nodes
		t.Fatal(err)
	}
	for i, primary := range nodes.Primaries {
		if i != own {
			primary.Kill()
		}
	}
	b.rdb = direct[own]
	w, d := group("trio", 3), duel("duel", time.Minute)
	b.openEpoch()
	b.step(testRecovery + time.Millisecond)
	b.renew()
	b.declare(w, d)
	callAll(b, w, d)
	s := b.stores[0]
	r, err := s.Stream("g", time.Minute)
	b.must(err)
	for range 10 { // a random node would be a wrong one now and then
		b.must(r.Begin(b.ctx, true))
		b.must(r.Tidy(b.ctx))
		b.must(second(s.Inspect(b.ctx)))
	}
}

func TestCluster_OfUnknownEndpoints(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartNodes(t, 2, time.Minute, redistest.Args("--cluster-preferred-endpoint-type", "unknown-endpoint"))
	first := nodes.Primaries[0].Addr()
	be := backend{url: func(testing.TB) string { return "redis://" + first + "?addr=" + first }}
	direct := admins(t, nodes)
	for range 2 { // realms on either node, most likely
		b := newRealm(t, be, 1)
		b.rdb = direct[nodes.Of(keyMeta(b.realm))]
		b.openEpoch()
		b.renew()
	}
	for addr, want := range map[string]string{":7": "h:7", "?:7": "h:7", "other:7": "other:7", "[::1]:7": "[::1]:7", "broken": "broken"} {
		c := newNodeClient("h:1")(&redis.Options{Addr: addr}) // as of a redirection
		if diff := cmp.Diff(want, c.Options().Addr); diff != "" {
			t.Error(diff)
		}
		_ = c.Close()
	}
}
