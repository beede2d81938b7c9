package server

import (
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/protocol"
	"muster/store"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// page is what a scraper reads of Muster's own metrics.
func page(t testing.TB, m *metrics) string {
	t.Helper()
	w := serve(m.handler(), httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	var own strings.Builder
	for line := range strings.Lines(w.Body.String()) {
		if strings.Contains(line, "muster_") {
			own.WriteString(line)
		}
	}
	return own.String()
}

func TestMetricsPage(t *testing.T) {
	t.Parallel()
	m := newMetrics("v1.2.3")
	m.observe(func() int { return 3 }, func() bool { return true }, func() int64 { return 2 })
	m.connected(1)
	m.connected(1)
	m.connected(-1)
	m.refused("origin")
	m.joined("world1")
	m.formed("world1", 2, 6, 1, 3*time.Second)
	m.formed("world1", 0, 0, 4, 0)
	m.formed("world2", 0, 2, 0, 0) // took open seats
	m.swept(store.Swept{Parked: 10, Gone: 2, MatchesExpired: 3, TicketsExpired: 4, SeatsReleased: 5})
	m.ended("presence_lost", 1)
	m.ended("declined", 2)
	m.allocated("ranked", "allocated", 20*time.Millisecond)
	m.scriptCalled("arrive", 3*time.Millisecond, nil)
	m.scriptCalled("arrive", 3*time.Second, errors.New("timeout"))
	m.received(protocol.TypeJoin)
	m.errorSent(protocol.CodeBadMessage)
	m.slowClient()
	m.reread(5)

	golden := filepath.Join("testdata", "metrics.txt")
	got := page(t, m)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the page changed; if that is meant, run the test with -update (-want +got):\n%s", diff)
	}
}

func TestMetricsTellWhetherRedisAnswers(t *testing.T) {
	t.Parallel()
	up := false
	m := newMetrics("v1")
	m.observe(func() int { return 0 }, func() bool { return up }, func() int64 { return 0 })
	for _, want := range []string{"muster_redis_up 0\n", "muster_redis_up 1\n"} {
		if got := page(t, m); !strings.Contains(got, want) {
			t.Errorf("up %v: no %q", up, want)
		}
		up = !up
	}
}

// An alert on an increase misses the first event of a series that is not there before it.
func TestMetrics_KnownLabelsStartAtZero(t *testing.T) {
	t.Parallel()
	m := newMetrics("v1")
	m.knowScripts([]string{"arrive"})
	got := page(t, m)
	for _, want := range []string{
		`muster_connections_refused_total{reason="origin"}`, `muster_connections_refused_total{reason="too_many"}`,
		`muster_messages_received_total{type="join"}`, `muster_messages_received_total{type="unknown"}`,
		`muster_errors_sent_total{code="unavailable"}`, `muster_tickets_ended_total{reason="world_closed"}`,
		`muster_script_errors_total{script="arrive"}`, `muster_script_duration_seconds_count{script="arrive"}`,
	} {
		if !strings.Contains(got, want+" 0\n") {
			t.Errorf("no %s with 0", want)
		}
	}
}
