package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/musterhq/muster/e2e/history"
	"github.com/musterhq/muster/protocol"
)

// The settings allow more connections than the instance may have open files. As it is with 300 files on two processors, it takes
// 204 players, refuses others in words, and can still reach Redis anew and be looked at.
func TestAnInstanceThatMayOpenFewFilesRefusesInWords(t *testing.T) {
	t.Parallel()
	const files, carried = 300, 204
	c := startCluster(t, 0, calmPresence)
	scarce := c.newInstance("scarce", c.config)
	scarce.before = fmt.Sprintf("ulimit -n %d", files)
	scarce.env = []string{"GOMAXPROCS=2"}
	scarce.start()
	scarce.awaitReady()
	if !bytes.Contains(scarce.log(), []byte("raise the limit of open files")) {
		t.Errorf("the log does not say why it takes fewer:\n%s", scarce.logTail())
	}
	c.instances = []*instance{scarce}
	players := c.connectAll("p", carried)
	for range 100 {
		dialRaw(t, scarce).expectClose(protocol.CloseTooMany)
	}
	if page := scarce.metrics(); !strings.Contains(page, fmt.Sprintf("muster_connections %d\n", carried)) {
		t.Errorf("not %d are connected: %s", carried, page)
	}
	if status, _ := scarce.request(http.MethodGet, "/readyz", "", ""); status != http.StatusOK {
		t.Errorf("readyz answers %d", status)
	}
	c.redisDo("CLIENT", "KILL", "TYPE", "normal")
	for _, p := range players[:2] {
		eventually(t, func() string { return ended(p.try(&protocol.Join{World: "duel"})) })
	}
	together(t, players[:2]...)
	c.judge(history.Options{SettledAt: time.Now()})
}

// A container that uses more memory than it may is killed, so the collector has to know the bound.
func TestAnInstanceKeepsToTheMemoryOfItsContainer(t *testing.T) {
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

// memoryGroup makes a control group whose processes may use so much memory.
func memoryGroup(t *testing.T, most int) (path string) {
	t.Helper()
	name := "muster-test-" + strconv.Itoa(os.Getpid())
	for parent, limit := range map[string]string{
		"/sys/fs/cgroup/memory": "memory.limit_in_bytes", // version 1
		"/sys/fs/cgroup":        "memory.max",
	} {
		path = filepath.Join(parent, name)
		if os.Mkdir(path, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(path) }) // it is empty
		if os.WriteFile(filepath.Join(path, limit), []byte(strconv.Itoa(most)), 0o600) == nil {
			return path
		}
	}
	t.Skip("no control group can be made here: it needs root, and a system that lets it")
	return ""
}
