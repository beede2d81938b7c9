package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/internal/redistest"
	"muster/protocol"
)

// longWorlds are worlds in which nothing ends by itself when a clock is an hour off.
const longWorlds = `
  - {name: duel, mode: duel, tick: 100ms, match_hold: 3h, ticket_ttl: 3h}
  - {name: trio, mode: group, size: 3, tick: 100ms, match_hold: 3h, ticket_ttl: 3h}
`

func TestAClockOfRedisThatStepsHurtsNobody(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]time.Duration{"forward": time.Hour, "back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := redistest.NewClock(t)
			redis := redistest.Start(t, redistest.OwnClock(clock))
			c := startCluster(t, 2, withRedis(redis, redis.Addr()), withWorlds(longWorlds), withEnv("PRESENCE_TTL=30s", "PRESENCE_RECONNECT_GRACE=30s"))
			p := c.players("p", 8)
			first, second := p[0].join("trio"), p[1].join("trio")
			p[1].cut() // it is away
			p[2].join("duel")
			p[3].join("duel")
			m := together(t, p[2], p[3])
			clock.Set(step)
			stepped := time.Now()
			p[4].join("duel")
			p[5].join("duel")
			together(t, p[4], p[5])
			checkTook(t, "a match after the step", time.Since(stepped), usualBound)
			during(t, 2*time.Second, func() string { // several sweeps, of the presence.ttl that it is calm
				for _, x := range p {
					if heardOf[*protocol.Dequeued](x)+heardOf[*protocol.MatchEnded](x)+heardOf[*protocol.MatchCancelled](x) > 0 {
						return x.id + " lost something by the step"
					}
				}
				return ""
			})
			if w := p[1].connect(c.instances[0]); len(w.Queued) != 1 || w.Queued[0].TicketID != second.TicketID {
				t.Errorf("%s comes back to %+v, not to %s", p[1].id, w.Queued, second.TicketID)
			}
			// Places go on from the last one: who joins now is behind who joined before.
			if third := p[6].join("trio"); third.EnqueuedAt < first.EnqueuedAt {
				t.Errorf("enqueued at %d, before %d", third.EnqueuedAt, first.EnqueuedAt)
			}
			together(t, p[0], p[1], p[6])
			if s := p[2].status(); s.Match == nil || s.Match.ID != m.ID {
				t.Errorf("%s is in match %+v, want %s", p[2].id, s.Match, m.ID)
			}
		})
	}
}

// shiftedVariable names the environment variable that puts an instance's clock by so many seconds ahead.
const shiftedVariable = "E2E_SECONDS_AHEAD"

// shiftSource is added to the package time of a server whose clock shall be off. Go asks the kernel for the time
// and not the C library: what faketime does has no effect on it.
const shiftSource = `package time

import "syscall"

var secondsAhead = func() int64 {
	text, _ := syscall.Getenv("` + shiftedVariable + `")
	n, _ := atoi(text)
	return int64(n)
}()
`

// buildShifted builds the server with a clock that shiftedVariable sets.
func buildShifted(t *testing.T) (path string) {
	t.Helper()
	if *soakFlag == 0 {
		t.Skip("builds the standard library anew, which takes minutes: make soak")
	}
	path, err := shiftedProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// shiftedProgram is built once for all tests: the standard library is compiled anew for it.
var shiftedProgram = sync.OnceValues(func() (path string, err error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	const now = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if !strings.Contains(string(source), now) {
		return "", fmt.Errorf("%s does not hold:\n%s", original, now)
	}
	dir := filepath.Dir(program)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		original: filepath.Join(dir, "time.go"),
		filepath.Join(filepath.Dir(original), "seconds_ahead.go"): filepath.Join(dir, "seconds_ahead.go"),
	}})
	if err != nil {
		return "", err
	}
	for name, text := range map[string]string{
		"time.go":          strings.Replace(string(source), now, now+"\tsec += secondsAhead\n", 1),
		"seconds_ahead.go": shiftSource,
		"overlay.json":     string(overlay),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	path = filepath.Join(dir, "shifted")
	if err := build(path, false, "-overlay", filepath.Join(dir, "overlay.json")); err != nil {
		return "", err
	}
	return path, nil
})

func TestAnInstanceWhoseClockIsOffServesLikeAnyOther(t *testing.T) {
	t.Parallel()
	shifted := buildShifted(t)
	c := startCluster(t, 3, withEnv("PRESENCE_HEARTBEAT=500ms", "PRESENCE_TTL=3s", "PRESENCE_RECONNECT_GRACE=3s"))
	for n, ahead := range []string{"3600", "-86400"} {
		i := c.instances[n]
		i.kill()
		i.program, i.env = shifted, []string{shiftedVariable + "=" + ahead}
		i.start()
		i.awaitReady()
		var line struct{ Time time.Time }
		log := strings.Split(strings.TrimSpace(i.logTail()), "\n")
		if err := json.Unmarshal([]byte(log[len(log)-1]), &line); err != nil || time.Until(line.Time).Abs() < 50*time.Minute {
			t.Fatalf("the clock of %s is not off: %v %v", i.name, line.Time, err)
		}
	}
	d, players := startDriver(c, 1, "d", 60, "duel", "trio", "five")
	p := c.players("p", 3)
	for _, x := range p {
		now := x.connect(c.instances[0]).Now
		if off := time.Until(time.UnixMilli(now)).Abs(); off > time.Minute {
			t.Errorf("the welcome's now is off by %v", off)
		}
	}
	<-time.After(4 * time.Second) // longer than a lease, and than presence.ttl
	d.finish()
	settled := d.settle(players)
	c.judge(history.Options{SettledAt: settled})
	if n := c.history.Count().Matches; n < 20 {
		t.Errorf("only %d matches", n)
	}
}
