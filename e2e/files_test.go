package e2e

import (
	"bytes"
	"fmt"
	"net/http"
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
	scarce.files = files
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
