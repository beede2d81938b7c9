package redistest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"muster/internal/child"
)

// StartReplica starts a server that copies the primary which it reaches at an address, perhaps a proxy's,
// and waits until it has its data.
func StartReplica(t testing.TB, primary string) *Server {
	t.Helper()
	host, port, err := net.SplitHostPort(primary)
	if err != nil {
		t.Fatal(err)
	}
	s := Start(t, Args("--replicaof", host, port, "--repl-diskless-sync-delay", "0"))
	await(t, "the replica has its data", s.synced)
	return s
}

// synced reports whether the server is a replica with all data of its primary.
func (s *Server) synced(ctx context.Context) bool {
	info, err := s.client.Info(ctx, "replication").Result()
	return err == nil && strings.Contains(info, "master_link_status:up")
}

// MasterName is the name under which a Sentinel of StartSentinel knows its primary.
const MasterName = "main"

// StartSentinel starts a Sentinel that watches a primary with one replica, decides alone that it is down
// when it was silent for downAfter, and then promotes the replica. It returns the address as the setting
// redis.url takes it, once the Sentinel knows the replica.
func StartSentinel(t testing.TB, primary *Server, downAfter time.Duration) (url string) {
	t.Helper()
	return StartSentinelAt(t, primary, primary.addr, downAfter)
}

// StartSentinelAt is StartSentinel for a primary that the Sentinel and its clients reach at an address of a
// proxy's.
func StartSentinelAt(t testing.TB, primary *Server, at string, downAfter time.Duration) (url string) {
	t.Helper()
	addr, err := freeAddr()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(addr)        // it was just made
	host, masterPort, _ := net.SplitHostPort(at) // too
	conf := filepath.Join(t.TempDir(), "sentinel.conf")
	settings := fmt.Sprintf("port %s\nbind 127.0.0.1\ndir %s\nsentinel monitor %s %s %s 1\nsentinel down-after-milliseconds %s %d\n",
		port, filepath.Dir(conf), MasterName, host, masterPort, MasterName, downAfter.Milliseconds())
	if err := os.WriteFile(conf, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	proc, err := child.Launch(exec.Command(primary.bin, conf, "--sentinel"), syscall.SIGKILL) //nolint:gosec // G204: arguments are the test's own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proc.Kill(); err != nil {
			t.Error(err)
		}
	})
	sentinel := redis.NewSentinelClient(clientOptions(addr))
	defer func() { _ = sentinel.Close() }()
	await(t, "the Sentinel knows the replica", func(ctx context.Context) bool {
		replicas, err := sentinel.Replicas(ctx, MasterName).Result()
		return err == nil && len(replicas) == 1 && replicas[0]["master-link-status"] == "ok"
	})
	return "redis://" + addr + "/0?master_name=" + MasterName
}

// await polls until something has come to be.
func await(t testing.TB, what string, done func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), answerTimeout)
	defer cancel()
	tick := time.NewTicker(answerInterval)
	defer tick.Stop()
	for !done(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("redistest: not within %v: %s", answerTimeout, what)
		case <-tick.C:
		}
	}
}
