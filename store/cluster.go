package store

import (
	"context"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"
)

// A Cluster may not know by which name its clients reach it (cluster-preferred-endpoint-type unknown-endpoint, as behind
// a load balancer): instead of a host it then says nothing, or "?", and means the host that was asked. The client
// library fails of the one and takes the other for a name.

// newNodeClient returns how to build the client of one node of a Cluster, the seed of which is one.
func newNodeClient(seed string) func(*redis.Options) *redis.Client {
	return func(o *redis.Options) *redis.Client {
		o.Addr = known(o.Addr, seed)
		c := redis.NewClient(o)
		c.AddHook(slotsHook{asked: o.Addr})
		return c
	}
}

// known returns an address with the host of the one that was asked if it has none of its own.
func known(addr, asked string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host != "" && host != "?" {
		return addr
	}
	host, _, err = net.SplitHostPort(asked)
	if err != nil {
		return addr
	}
	return net.JoinHostPort(host, port)
}

// slotsHook reads the answers of one node to CLUSTER SLOTS.
type slotsHook struct{ asked string }

// DialHook changes nothing.
func (h slotsHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook changes nothing: CLUSTER SLOTS is asked alone.
func (h slotsHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook reads CLUSTER SLOTS in the place of the library.
func (h slotsHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		slots, ok := cmd.(*redis.ClusterSlotsCmd)
		if !ok {
			return next(ctx, cmd)
		}
		raw := redis.NewSliceCmd(ctx, cmd.Args()...)
		err := next(ctx, raw)
		var parsed []redis.ClusterSlot
		if err == nil {
			parsed, err = parseSlots(raw.Val(), h.asked)
		}
		slots.SetVal(parsed)
		slots.SetErr(err)
		return err
	}
}

// parseSlots reads ranges of slots: {first, last, {host, port, id, …}, …}.
func parseSlots(ranges []any, asked string) ([]redis.ClusterSlot, error) {
	var slots []redis.ClusterSlot
	for _, r := range ranges {
		fields, ok := r.([]any)
		if !ok || len(fields) < 2 {
			return nil, fmt.Errorf("CLUSTER SLOTS has a range %v", r)
		}
		first, firstOK := fields[0].(int64)
		last, lastOK := fields[1].(int64)
		if !firstOK || !lastOK {
			return nil, fmt.Errorf("CLUSTER SLOTS has a range from %v to %v", fields[0], fields[1])
		}
		slot := redis.ClusterSlot{Start: int(first), End: int(last)}
		for _, n := range fields[2:] {
			node, ok := n.([]any)
			if !ok || len(node) < 2 {
				return nil, fmt.Errorf("CLUSTER SLOTS has a node %v", n)
			}
			host, _ := node[0].(string) // nil for an unknown one
			addr := known(net.JoinHostPort(host, fmt.Sprint(node[1])), asked)
			slot.Nodes = append(slot.Nodes, redis.ClusterNode{Addr: addr})
		}
		slots = append(slots, slot)
	}
	return slots, nil
}

// node is where the realm's keys are, for commands without a key: in a Cluster the library would send those to any node.
func node(ctx context.Context, rdb redis.UniversalClient, realm string) (redis.Cmdable, error) {
	if c, ok := rdb.(*redis.ClusterClient); ok {
		return c.MasterForKey(ctx, keyMeta(realm))
	}
	return rdb, nil
}
