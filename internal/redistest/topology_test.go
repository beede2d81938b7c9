package redistest

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestASentinelPromotesTheReplica(t *testing.T) {
	t.Parallel()
	primary := Start(t)
	set(t, primary, "key", "value")
	replica := StartReplica(t, primary.Addr())
	if got, err := replica.Do(t.Context(), "GET", "key"); err != nil || got != "value" {
		t.Fatalf("the replica has %v, %v", got, err)
	}
	options, err := redis.ParseFailoverURL(StartSentinel(t, primary, 500*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewFailoverClient(options)
	t.Cleanup(func() { _ = client.Close() })
	primary.Kill()
	await(t, "the replica takes writes", func(ctx context.Context) bool {
		return client.Set(ctx, "key", "other", 0).Err() == nil
	})
	if got, err := replica.Do(t.Context(), "GET", "key"); err != nil || got != "other" {
		t.Errorf("the replica has %v, %v after the promotion", got, err)
	}
}

func TestAClusterServesWithAPromotedReplica(t *testing.T) {
	t.Parallel()
	nodes := StartNodes(t, 3, time.Second)
	options, err := redis.ParseClusterURL(nodes.URL())
	if err != nil {
		t.Fatal(err)
	}
	options.ClusterStateReloadInterval = 100 * time.Millisecond // a node that is gone cannot say who has its slots
	client := redis.NewClusterClient(options)
	t.Cleanup(func() { _ = client.Close() })
	const key = "some{realm}key"
	if err := client.Set(t.Context(), key, "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	i := nodes.Of(key)
	if n, err := nodes.Primaries[i].Do(t.Context(), "EXISTS", key); err != nil || n != int64(1) {
		t.Fatalf("the key is not on node %d: %v, %v", i, n, err)
	}
	nodes.Primaries[i].Kill()
	nodes.Promote(i)
	await(t, "the Cluster takes writes", func(ctx context.Context) bool {
		return client.Set(ctx, key, "other", 0).Err() == nil
	})
	if got, err := nodes.Replicas[i].Do(t.Context(), "GET", key); err != nil || got != "other" {
		t.Errorf("the replica has %v, %v after the promotion", got, err)
	}
}
