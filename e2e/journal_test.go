package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/internal/pgtest"
	"muster/internal/redistest"
	"muster/journal"
	"muster/protocol"
)

// hook is a system that is told by webhooks.
type hook struct {
	*httptest.Server
	asked  chan struct{} // signalled after each request
	mu     sync.Mutex
	broken bool                // answers 500; guarded by mu
	took   map[string][]string // ids of events by "type match"; guarded by mu
	tried  int                 // guarded by mu
}

func startHook(t *testing.T) *hook {
	h := &hook{asked: make(chan struct{}, 1), took: map[string][]string{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var told struct {
			ID, Type string
			Match    struct{ ID string }
		}
		text, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(text, &told)
		}
		defer func() {
			select {
			case h.asked <- struct{}{}:
			default:
			}
		}()
		h.mu.Lock()
		defer h.mu.Unlock()
		h.tried++
		if err != nil || h.broken || r.Header.Get("Muster-Signature") == "" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		about := told.Type + " " + told.Match.ID
		h.took[about] = append(h.took[about], told.ID)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) be(broken bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broken = broken
}

// attempts is how often it was asked.
func (h *hook) attempts() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tried
}

// awaits is "" once the hook took an event of each match, each under one id.
func (h *hook) awaits(kind string, matches ...string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range matches {
		ids := h.took[kind+" "+m]
		if len(ids) == 0 {
			return fmt.Sprintf("not told of %s %s", kind, m)
		}
		for _, id := range ids {
			if id != ids[0] {
				return fmt.Sprintf("%s %s was told as %v", kind, m, ids)
			}
		}
	}
	return ""
}

// insist looks each time the hook was asked, until check is "" or it is too late.
func (h *hook) insist(t *testing.T, late <-chan time.Time, check func() string) {
	t.Helper()
	for {
		wrong := check()
		if wrong == "" {
			return
		}
		select {
		case <-h.asked:
		case <-late:
			t.Fatal(wrong)
		}
	}
}

// withHook has the cluster tell a hook, which it may try so often.
func withHook(h *hook, attempts int) option {
	return withWorlds(defaultWorlds + fmt.Sprintf(
		"webhooks:\n- {url: '%s/?token=hidden', secret: s, events: [match.completed, match.ended], attempts: %d}\n", h.URL, attempts))
}

// muster runs a command of the program with the cluster's settings.
func (c *cluster) muster(args ...string) (out string, err error) {
	cmd := exec.Command(program, append(args, "--config", c.instances[0].config)...)
	var printed bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = c.environ(c.redisURL), &printed, &printed
	err = cmd.Run()
	return printed.String(), err
}

// meets has two players meet n times and returns the matches.
func meets(t *testing.T, n int, p ...*player) []string {
	t.Helper()
	var matches []string
	for range n {
		for _, x := range p {
			x.join("duel")
		}
		m := together(t, p...)
		matches = append(matches, m.ID)
		for _, x := range p {
			x.leaveMatch(m.ID)
		}
	}
	return matches
}

func TestMatchesAreRecordedAndToldThroughOutages(t *testing.T) {
	t.Parallel()
	postgres, h := pgtest.Start(t), startHook(t)
	c := startCluster(t, 2, withHook(h, 8), withEnv("JOURNAL_URL="+postgres.URL()))
	p := c.players("p", 2)
	matches := meets(t, 3, p...)
	eventually(t, func() string { return h.awaits("match.completed", matches...) })
	postgres.Kill()
	matches = append(matches, meets(t, 5, p...)...) // nobody waits for the record
	c.instances[0].kill()
	p[0].connect(c.instances[1])
	matches = append(matches, meets(t, 5, p...)...)
	postgres.Restart()
	// What the killed instance had is the other's after a hold.
	h.insist(t, time.After(3*journal.Hold), func() string {
		return h.awaits("match.completed", matches...) + h.awaits("match.ended", matches...)
	})
	out, err := c.muster("matches", "--player", "p1", "--state", "ended", "--json")
	if err != nil {
		t.Fatalf("muster matches: %v\n%s", err, out)
	}
	for _, m := range matches {
		if !strings.Contains(out, `{"id":"`+m+`","world":"duel","state":"ended","reason":"left"`) {
			t.Errorf("the record lacks %s:\n%s", m, out)
		}
	}
	if n := strings.Count(out, "\n"); n != len(matches) {
		t.Errorf("%d matches are recorded, want %d", n, len(matches))
	}
	out, err = c.muster("matches", "--world", "duel", "--limit", "1")
	if err != nil || !strings.Contains(out, matches[len(matches)-1]) || strings.Count(out, "\n") != 2 || !strings.Contains(out, "p1") {
		t.Errorf("muster matches: %v\n%s", err, out)
	}
	if !c.instances[1].counted("muster_journal_entries_total") || !c.instances[1].counted("muster_journal_failures_total") {
		t.Error("the metrics show nothing of it")
	}
}

func TestTheRecordFollowsAFailover(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartNodes(t, 3, 2*time.Second)
	realm := redistest.Realm(t)
	at := nodes.Of("mm:{" + realm + "}:meta")
	c := startCluster(t, 2, withURL(nodes.Replicas[at], nodes.URL()), withRealm(realm), withEnv("JOURNAL_URL="+pgtest.Start(t).URL()))
	p := c.players("p", 2)
	meets(t, 1, p...)
	c.failover(func() {
		nodes.Primaries[at].Kill()
		nodes.Promote(at)
	}, func() string { return ended(p[0].try(&protocol.Join{World: "trio"})) })
	eventually(t, func() string { return ended(p[1].try(&protocol.Status{})) }) // its instance has recovered too
	p[0].leave("trio")
	matches := meets(t, 2, p...)
	eventually(t, func() string {
		out, err := c.muster("matches", "--world", "duel", "--state", "ended")
		for _, m := range matches {
			if err != nil || !strings.Contains(out, m) {
				return fmt.Sprintf("the record lacks %s: %v\n%s", m, err, out)
			}
		}
		return ""
	})
}

func TestDeliveriesThatWereGivenUpAreShownAndReplayed(t *testing.T) {
	t.Parallel()
	for name, recorded := range map[string]bool{"in the outbox": true, "in the stream": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startHook(t)
			opts := []option{withHook(h, 1)}
			if recorded {
				opts = append(opts, withEnv("JOURNAL_URL="+pgtest.Start(t).URL()))
			}
			c := startCluster(t, 1, opts...)
			p := c.players("p", 2)
			h.be(true)
			matches := meets(t, 1, p...)
			var out string
			eventually(t, func() string {
				var err error
				if out, err = c.muster("webhooks", "dead"); err != nil || strings.Count(out, matches[0]) != 2 {
					return fmt.Sprintf("muster webhooks dead: %v\n%s", err, out)
				}
				return ""
			})
			if !strings.Contains(out, "status 500") || !strings.Contains(out, h.URL) || strings.Contains(out, "hidden") {
				t.Errorf("muster webhooks dead:\n%s", out)
			}
			h.be(false)
			tried := h.attempts()
			if out, err := c.muster("webhooks", "replay", "--all"); err != nil || out != "requeued: 2\n" {
				t.Errorf("muster webhooks replay: %v\n%s", err, out)
			}
			eventually(t, func() string { return h.awaits("match.completed", matches...) })
			eventually(t, func() string { return h.awaits("match.ended", matches...) })
			if n := h.attempts() - tried; n != 2 {
				t.Errorf("it was asked %d times, want 2", n)
			}
			if out, err := c.muster("webhooks", "replay", "--all"); err != nil || out != "requeued: 0\n" {
				t.Errorf("muster webhooks replay: %v\n%s", err, out)
			}
		})
	}
}

func TestWhatTheRecordRefusesIsShownAndReplayed(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1, withEnv("JOURNAL_URL="+pgtest.Start(t).URL(), "JOURNAL_ATTEMPTS=1"))
	c.redisDo("XADD", "mm:{"+c.realm+"}:st", "*", "event", "match_begun", "match", "m1")
	var id string
	eventually(t, func() string {
		out, err := c.muster("journal", "dead", "--json")
		var letter struct {
			ID, About string
			Entry     map[string]string
		}
		if err == nil {
			err = json.Unmarshal([]byte(out), &letter)
		}
		if err != nil || letter.About != "m1" || letter.Entry["event"] != "match_begun" {
			return fmt.Sprintf("muster journal dead: %v\n%s", err, out)
		}
		id = letter.ID
		return ""
	})
	if out, err := c.muster("journal", "replay", id); err != nil || out != "requeued: 1\n" {
		t.Errorf("muster journal replay: %v\n%s", err, out)
	}
	eventually(t, func() string { // it was tried anew, and is a dead letter again
		if out, err := c.muster("journal", "dead"); err != nil || !strings.Contains(out, "m1") || strings.Contains(out, id) {
			return fmt.Sprintf("muster journal dead: %v\n%s", err, out)
		}
		return ""
	})
	if out, err := c.muster("journal", "replay", id); err == nil {
		t.Errorf("a letter that is gone was put back:\n%s", out)
	}
}

func TestABareStartTellsWebhooks(t *testing.T) {
	t.Parallel()
	h := startHook(t)
	c := startCluster(t, 1, withHook(h, 3), withEnv("REDIS_URL="))
	matches := meets(t, 2, c.players("p", 2)...)
	eventually(t, func() string { return h.awaits("match.completed", matches...) })
	eventually(t, func() string { return h.awaits("match.ended", matches...) })
}
