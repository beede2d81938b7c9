package e2e

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/e2e/history"
	"muster/internal/race"
)

// report is what a soak came to.
type report struct {
	t          *testing.T
	began      time.Time
	rounds     int
	violations int
	count      history.Count
	busy       string                // how much of the machine the load took while nothing was broken
	faults     map[string]*suffering // by name
}

// suffering is how often a fault struck, and how long it took at worst until a fresh pair was matched.
type suffering struct {
	times int
	worst time.Duration
}

func newReport(t *testing.T) *report {
	return &report{t: t, began: time.Now(), faults: map[string]*suffering{}}
}

func (r *report) suffered(name string, took time.Duration) {
	f := r.faults[name]
	if f == nil {
		f = &suffering{}
		r.faults[name] = f
	}
	f.times++
	f.worst = max(f.worst, took)
}

// String is the report as a table in Markdown.
func (r *report) String() string {
	var b strings.Builder
	sum := 0
	for name, f := range r.faults {
		if name != comeBack && name != toldLate {
			sum += f.times
		}
	}
	fmt.Fprintf(&b, "%s, %v, %d rounds of %d players on 3 instances, race detector %v, %d cores%s; bounds ×%g:\n\n",
		r.began.Format("2 January 2006"), time.Since(r.began).Round(time.Second), r.rounds, *playersFlag, onOff(race.Enabled), runtime.NumCPU(), r.busy, slack())
	fmt.Fprintf(&b, "| joins | matches | faults | violations | tickets told `lost` | players told that their match is `lost` |\n")
	fmt.Fprintf(&b, "| --- | --- | --- | --- | --- | --- |\n")
	fmt.Fprintf(&b, "| %d | %d | %d | %d | %d | %d |\n\n", r.count.Joins, r.count.Matches, sum, r.violations, r.count.LostTickets, r.count.LostMatches)
	fmt.Fprintf(&b, "| fault | times | worst recovery | at most |\n| --- | --- | --- | --- |\n")
	for _, f := range slices.Concat(allFaults, []fault{
		{name: atOnce}, {name: comeBack, bound: reconnectBound}, {name: toldLate, bound: toldBound},
	}) {
		if s := r.faults[f.name]; s != nil {
			_, bound, _ := names([]fault{f})
			fmt.Fprintf(&b, "| %s | %d | %.2f s | %.0f s |\n", f.name, s.times, s.worst.Seconds(), within(bound).Seconds())
		}
	}
	return b.String()
}

// measureLoad looks how busy the machine is while the players do what they do and nothing is broken; in a long
// run only, as it takes a while.
func (r *report) measureLoad() {
	if *soakFlag == 0 || r.busy != "" {
		return
	}
	<-time.After(2 * time.Second) // until all have connected
	idle, all := processorTime(r.t)
	<-time.After(3 * time.Second)
	idleAfter, allAfter := processorTime(r.t)
	r.busy = fmt.Sprintf(" of which the calm load takes %.0f %%", 100*(1-(idleAfter-idle)/(allAfter-all)))
}

// processorTime is how long the machine's processors were idle, and all their time, in units of the kernel's.
func processorTime(t *testing.T) (idle, all float64) {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(line)[1:] {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			t.Fatal(err)
		}
		if i == 3 || i == 4 { // idle, and waiting for a disk
			idle += n
		}
		all += n
	}
	return idle, all
}

func onOff(on bool) string { return cmp.Or(map[bool]string{true: "on"}[on], "off") }

// The lines between which write puts the table.
const (
	soakBegins = "<!-- The soak writes this: make soak ARGS=-write-guarantees -->"
	soakEnds   = "<!-- Here ends what the soak writes. -->"
)

// write puts the report into a file, between its two marks.
func (r *report) write(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	begin, end := slices.Index(lines, soakBegins), slices.Index(lines, soakEnds)
	if begin < 0 || end < begin {
		r.t.Fatalf("%s has not the marks of the soak", path)
	}
	text = []byte(strings.Join(slices.Concat(lines[:begin+1], []string{r.String()}, lines[end:]), "\n"))
	if err := os.WriteFile(path, text, 0o644); err != nil {
		r.t.Fatal(err)
	}
}
