package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/protocol"
)

// The settings allow more connections than the instance may have open files. As it is with 300 files on two processors, it takes
// 204 players and refuses others in words. However many come and say nothing, it can still reach Redis anew and be looked at.
func TestAnInstanceThatMayOpenFewFilesStaysOfUse(t *testing.T) {
	t.Parallel()
	const files, carried = 300, 204
	c := startCluster(t, 0, calmPresence)
	scarce := c.newInstance("scarce", c.config)
	scarce.before = fmt.Sprintf("ulimit -n %d", files)
	scarce.env = []string{"GOMAXPROCS=2"}
	scarce.start()
	scarce.awaitReady()
	if !bytes.Contains(scarce.log(), []byte("raise the hard limit of open files")) {
		t.Errorf("the log does not say why it takes fewer:\n%s", scarce.logTail())
	}
	c.instances = []*instance{scarce}
	players := c.connectAll("p", carried)
	dialRaw(t, scarce).expectClose(protocol.CloseTooMany)
	var silent net.Dialer
	for range files {
		conn, err := silent.DialContext(t.Context(), "tcp", scarce.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	c.redisDo("CLIENT", "KILL", "TYPE", "normal")
	c.redisDo("CLIENT", "KILL", "TYPE", "pubsub")
	for _, p := range players[:2] {
		eventually(t, func() string { return ended(p.try(&protocol.Join{World: "duel"})) })
	}
	together(t, players[:2]...)
	if page := scarce.metrics(); !strings.Contains(page, fmt.Sprintf("muster_connections %d\n", carried)) {
		t.Errorf("not %d are connected: %s", carried, page)
	}
	if bytes.Contains(scarce.log(), []byte("too many open files")) {
		t.Errorf("it ran out of files:\n%s", scarce.logTail())
	}
	c.judge(history.Options{SettledAt: time.Now()})
}

// A container that uses more memory than it may is killed, so the collector has to know the bound.
func TestTheCollectorKnowsTheMemoryOfTheContainer(t *testing.T) {
	t.Parallel()
	const most = 200 << 20
	group := memoryGroup(t, most)
	c := startCluster(t, 0)
	bounded := c.newInstance("bounded", c.config)
	bounded.before = fmt.Sprintf("echo $$ > '%s/cgroup.procs'", group)
	bounded.start()
	bounded.awaitReady()
	if page, want := bounded.metrics(), fmt.Sprintf("go_gc_gomemlimit_bytes %v\n", float64(most/10*9)); !strings.Contains(page, want) {
		t.Errorf("the metrics lack %q: %s", want, page)
	}
}

// memoryGroup makes a control group whose processes may use so much memory, in bytes.
func memoryGroup(t *testing.T, most int) (path string) {
	t.Helper()
	for _, of := range []struct{ parent, limit string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, // version 1
		{"/sys/fs/cgroup", "memory.max"},
	} {
		path = filepath.Join(of.parent, "muster-test-"+strconv.Itoa(os.Getpid()))
		if os.Mkdir(path, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(path) })                                // it is empty
		limit, err := os.OpenFile(filepath.Join(path, of.limit), os.O_WRONLY, 0) // the system made it
		if err != nil {
			continue
		}
		_, err = limit.WriteString(strconv.Itoa(most))
		if err = errors.Join(err, limit.Close()); err == nil {
			return path
		}
	}
	t.Skip("no control group can be made here: it needs root, and a system that lets it")
	return ""
}
