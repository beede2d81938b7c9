package e2e

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/internal/race"
	"muster/protocol"
)

// rolling has players at work while all instances are changed, one after the other, and judges that nothing
// was lost on the way.
func rolling(t *testing.T, change func(c *cluster, i *instance), opts ...option) *cluster {
	t.Helper()
	c := startCluster(t, 3, opts...)
	d, players := startDriver(c, 1, "d", 60, "duel", "trio", "five")
	<-time.After(time.Second) // until they are at work
	for _, i := range c.instances {
		change(c, i)
		<-time.After(time.Second) // with the old and the new at work together
	}
	d.finish()
	settled := d.settle(players)
	c.judge(history.Options{SettledAt: settled})
	for _, p := range players {
		if heardOf[*protocol.Dequeued](p)+heardOf[*protocol.MatchCancelled](p) > 0 {
			t.Errorf("%s lost a ticket or a match", p.id)
		}
	}
	if n := c.history.Count().Matches; n < 20 {
		t.Errorf("only %d matches", n)
	}
	return c
}

func TestARollingChangeOfWorldsLosesNothing(t *testing.T) {
	t.Parallel()
	const changed = `
  - {name: duel, mode: duel, tick: 50ms, match_hold: 20s}
  - {name: five, mode: group, size: 5, tick: 200ms, match_hold: 30s}
  - {name: late, mode: duel, tick: 100ms, match_hold: 30s}
  - {name: trio, mode: group, size: 3, tick: 100ms, match_hold: 25s, rooms: [game, chat]}
`
	c := rolling(t, func(c *cluster, i *instance) {
		c.worlds = changed
		c.writeConfig()
		i.signal(syscall.SIGHUP)
	})
	p := c.players("p", 3)
	for _, x := range p[:2] { // on two instances
		eventually(t, func() string { return ended(x.try(&protocol.Join{World: "late"})) })
	}
	together(t, p[:2]...)
}

func TestARollingChangeOfVersionLosesNothing(t *testing.T) {
	t.Parallel()
	const version = "0.0.2-rolled"
	newer := filepath.Join(t.TempDir(), "muster")
	if err := build(newer, race.Enabled, "-ldflags", "-s -w -X muster/internal/cli.version="+version); err != nil {
		t.Fatal(err)
	}
	c := rolling(t, func(_ *cluster, i *instance) {
		if code := i.stop(); code != 0 {
			t.Errorf("%s drained with exit code %d", i.name, code)
		}
		i.program = newer
		i.start()
		i.awaitReady()
	})
	for _, i := range c.instances {
		if !strings.Contains(i.metrics(), `version="`+version+`"`) {
			t.Errorf("%s is not of version %s", i.name, version)
		}
	}
}
