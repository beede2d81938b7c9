//go:build linux

package bench

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// row is one line of the table.
type row struct {
	what, unit string
	// reference is what the figure is held against, in the same unit; "" where it stands alone.
	reference string
	// bound is what the ratio, or the figure where it stands alone, may be at most; noBound where it is only told.
	bound float64
}

const noBound = -1

// The rows, in their order.
var (
	rowServerCPU    = &row{"server CPU a player, burst of 10,000 in pairs, on a core of its own", "µs", "an echo through the same stack", 2.5}
	rowRedisCPU     = &row{"Redis CPU a player, the same with Redis on a core of its own", "µs", "a SET, one at a time", 1.1}
	rowBurst        = &row{"a burst of 10,000 in pairs, all on two cores: first `join` sent to last `match_complete`", "s", "", 0.8}
	rowSteadyP99    = &row{"5,000 joins/s for 30 s with leaving: `match`, p99", "ms", "", 50}
	rowSteadyLost   = &row{"the same: joins not told of a match", "players", "", 0}
	rowSteadyServer = &row{"the same: server CPU a join, with its leaving", "µs", "", noBound}
	rowSteadyRedis  = &row{"the same: Redis CPU a join, with its leaving", "µs", "", noBound}
	rowCalmServer   = &row{"1,000 joins/s for 20 s with leaving: server CPU a join", "µs", "", 250}
	rowCalmRedis    = &row{"the same: Redis CPU a join", "µs", "", 130}
	rowCalmP99      = &row{"the same: `match`, p99", "ms", "", noBound}
	rowBesideP99    = &row{"the same beside 15,000 idle sessions: `match`, p99", "ms", "", 15}
	rowBesideServer = &row{"the same: server CPU a join, with all heartbeats", "µs", "", noBound}
	rowBesideRedis  = &row{"the same: Redis CPU a join, with all heartbeats", "µs", "", noBound}
	rowCrowdedP99   = &row{"1,000 joins/s beside 50,000 idle sessions: `match`, p99", "ms", "", 25}
	rowIdleJoin     = &row{"idle server, one player: `join` to `joined`, p50", "µs", "a PING by the same library", 6}
	rowBareScript   = &row{"a script that does nothing, p50", "µs", "a PING by the same library", noBound}
	rowPong         = &row{"`ping` to `pong`, p50", "µs", "a PING by the same library", noBound}
	rowMemory       = &row{"RSS an idle greeted session, 10,000 of them", "kB", "", 11}
	rowGoroutines   = &row{"goroutines an idle session", "", "", 1}
	rowPresence     = &row{"Redis for the presence of 20,000 idle players", "% of a core", "", 3}
	rowEmbedded     = &row{"embedded Redis: burst of 1,000 in pairs", "s", "", 0.5}

	rows = []*row{rowServerCPU, rowRedisCPU, rowBurst, rowSteadyP99, rowSteadyLost, rowSteadyServer, rowSteadyRedis,
		rowCalmServer, rowCalmRedis, rowCalmP99, rowBesideP99, rowBesideServer, rowBesideRedis, rowCrowdedP99, rowIdleJoin, rowBareScript, rowPong, rowMemory, rowGoroutines, rowPresence, rowEmbedded}
)

// sample is a figure of one run and, where the row has one, its reference in the same run.
type sample struct{ figure, reference float64 }

// table collects the samples of all runs.
type table struct {
	samples   map[*row][]sample
	discarded int
}

func newTable() *table { return &table{samples: map[*row][]sample{}} }

func (t *table) add(r *row, figure, reference float64) {
	t.samples[r] = append(t.samples[r], sample{figure, reference})
}

// discard counts a burst that was refused in part, as the machine was too busy.
func (t *table) discard() { t.discarded++ }

// spread is the median of some figures, and their bounds.
type spread struct{ median, least, most float64 }

func spreadOf[T any](samples []T, of func(T) float64) spread {
	var list []float64
	for _, s := range samples {
		list = append(list, of(s))
	}
	slices.Sort(list)
	return spread{list[len(list)/2], list[0], list[len(list)-1]}
}

func (s spread) String() string {
	return fmt.Sprintf("%s (%s–%s)", digits(s.median), digits(s.least), digits(s.most))
}

// digits is a figure with as many digits as say something.
func digits(f float64) string {
	switch {
	case f >= 100 || f == float64(int64(f)):
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// line is a row of the table in Markdown.
func (t *table) line(r *row) string {
	samples := t.samples[r]
	figure := spreadOf(samples, func(s sample) float64 { return s.figure })
	judged, beside, ratio := figure, "–", "–"
	if r.reference != "" {
		reference := spreadOf(samples, func(s sample) float64 { return s.reference })
		judged = spreadOf(samples, func(s sample) float64 { return s.figure / s.reference })
		beside, ratio = fmt.Sprintf("%s: %s %s", r.reference, digits(reference.median), r.unit), judged.String()+" ×"
	}
	bound, holds := "–", "–"
	if r.bound != noBound {
		bound, holds = digits(r.bound)+" "+r.unit, "**no**"
		if r.reference != "" {
			bound = digits(r.bound) + " ×"
		}
		if judged.median <= r.bound {
			holds = "yes"
		}
	}
	return fmt.Sprintf("| %s | %s %s | %s | %s | %s | %s |", r.what, figure, r.unit, beside, ratio, strings.TrimSpace(bound), holds)
}

func (t *table) String() string {
	lines := []string{
		"| what | median (least–most) | beside it | ratio | bound | holds |",
		"| --- | --- | --- | --- | --- | --- |",
	}
	for _, r := range rows {
		if len(t.samples[r]) > 0 {
			lines = append(lines, t.line(r))
		}
	}
	if t.discarded > 0 {
		lines = append(lines, "", fmt.Sprintf("%d bursts were left out: joins were refused, as the machine was too busy.", t.discarded))
	}
	return strings.Join(lines, "\n") + "\n"
}

// taken reports whether the command line asks for an experiment.
func taken(name string) bool { return strings.Contains(name, *rowsFlag) }

// conditions say where and when.
func conditions() string {
	model := "unknown CPU"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, "model name"); ok {
				model = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), ":"))
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d runs, %d cores (%s), %s, race detector off", time.Now().UTC().Format("2 January 2006"),
		*runsFlag, runtime.NumCPU(), model, runtime.Version())
}

// write logs the table, and writes it into a file where one is named.
func (t *table) write(tb testing.TB) {
	tb.Helper()
	text := conditions() + ":\n\n" + t.String()
	tb.Logf("\n%s", text)
	writeOut(tb, text)
}

// writeOut writes a text into the file that the command line names, if any.
func writeOut(tb testing.TB, text string) {
	tb.Helper()
	if *outFlag == "" {
		return
	}
	if err := os.WriteFile(*outFlag, []byte(text), 0o600); err != nil {
		tb.Error(err)
	}
}
