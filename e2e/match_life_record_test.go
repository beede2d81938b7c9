package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/internal/pgtest"
	"muster/journal"
	"muster/webhooks"
)

// record is the durable record of a soak, and a system that is told.
type record struct {
	postgres *pgtest.Server
	hook     *hook
	outcomes []history.Outcome // of all rounds
}

func startRecord(t *testing.T) *record { return &record{postgres: pgtest.Start(t), hook: startHook(t)} }

// settings has instances tell the hook.
func (r *record) settings() string {
	return fmt.Sprintf("webhooks:\n- {url: %q, secret: s, events: [match.completed, match.cancelled], attempts: 20}\n", r.hook.URL)
}

// compare holds the record against what players were told: every match is there, with the same players, rooms and
// server, those that fell through with the reason. It waits for as long as what killed instances had taken lies with
// them.
func (r *record) compare(c *cluster) {
	c.t.Helper()
	late := time.After(3 * journal.Hold)
	for tick := time.Tick(time.Second); ; <-tick {
		wrong := r.differs(c)
		if wrong == "" {
			return
		}
		select {
		case <-late:
			c.t.Fatal(wrong)
		default:
		}
	}
}

// told waits until the hook was told of each match, which takes as long as a delivery lies with a killed instance.
func (r *record) told(t *testing.T) {
	t.Helper()
	var completed, cancelled []string
	for _, o := range r.outcomes {
		if o.Match != nil {
			completed = append(completed, o.ID)
		} else {
			cancelled = append(cancelled, o.ID)
		}
	}
	r.hook.insist(t, time.After(3*webhooks.Hold), func() string {
		return r.hook.awaits("match.completed", completed...) + r.hook.awaits("match.cancelled", cancelled...)
	})
}

// differs is what the record has otherwise than the players, "" for nothing.
func (r *record) differs(c *cluster) string {
	out, err := c.muster("matches", "--json", "--limit", fmt.Sprint(10*len(r.outcomes)))
	if err != nil {
		return fmt.Sprintf("muster matches: %v\n%.2000s", err, out)
	}
	recorded := map[string]journal.Match{}
	for line := range strings.Lines(out) {
		var m journal.Match
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return fmt.Sprintf("%s: %v", line, err)
		}
		recorded[string(m.ID)] = m
	}
	var wrong []string
	for _, o := range r.outcomes {
		m, ok := recorded[o.ID]
		if !ok {
			wrong = append(wrong, fmt.Sprintf("the record lacks %+v", o))
		} else if w := otherwise(o, m); w != "" {
			wrong = append(wrong, fmt.Sprintf("%s: %s: %+v", o.ID, w, m))
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d matches are recorded otherwise, such as %s", len(wrong), len(r.outcomes), strings.Join(wrong[:min(3, len(wrong))], "\n"))
}

// otherwise is how a match is recorded otherwise than its players were told, "" for not.
func otherwise(o history.Outcome, m journal.Match) string {
	if o.Match == nil {
		if m.State != "cancelled" || m.Reason != o.Reason {
			return "fell through as " + o.Reason
		}
		return ""
	}
	var players []string
	for _, p := range m.Players {
		players = append(players, string(p.ID))
	}
	slices.Sort(players)
	missing := slices.DeleteFunc(slices.Clone(o.Players), func(p string) bool { return slices.Contains(players, p) })
	seats := lifeJudged[o.Match.World].Fill || lifeJudged[o.Match.World].Backfill
	switch {
	case m.State != "complete" && m.State != "ended":
		return "stood"
	case string(m.World) != o.Match.World || !maps.Equal(m.Rooms, o.Match.Rooms):
		return fmt.Sprintf("was told in %s with %v", o.Match.World, o.Match.Rooms)
	case len(missing) > 0 || !seats && !slices.Equal(players, o.Players):
		return fmt.Sprintf("was told with %v", o.Players)
	case !sameJSON(m.Endpoint, o.Match.Endpoint):
		return fmt.Sprintf("was told at %s", o.Match.Endpoint)
	}
	return ""
}

// sameJSON compares two texts as far as the server's are: strings, or nothing.
func sameJSON(a, b json.RawMessage) bool {
	return strings.TrimSpace(string(a)) == strings.TrimSpace(string(b))
}
