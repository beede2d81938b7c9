package load

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"muster/protocol"
)

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", r.Title())
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "ms\tcount\tmean\tp50\tp90\tp99\tp99.9\tmax\t")
	for _, l := range r.Latencies {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", l.Name, thousands(l.Count), showMS(l.MeanMS), showMS(l.P50MS),
			showMS(l.P90MS), showMS(l.P99MS), showMS(l.P999MS), showMS(l.MaxMS))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	b.WriteByte('\n')
	for _, l := range r.Latencies {
		fmt.Fprintf(&b, "%-10s %s\n", l.Name, l.About)
	}
	b.WriteByte('\n')
	for _, f := range r.facts() {
		fmt.Fprintf(&b, "%-10s %s\n", f.Name, f.Value)
	}
	for _, v := range r.Examples {
		fmt.Fprintf(&b, "  %s: %s\n", v.Kind, v.Detail)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\n%s\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Title says what the run was.
func (r *Report) Title() string {
	s := r.Settings
	players := thousands(int64(s.Players)) + " players"
	in := " in " + strings.Join(s.Worlds, ", ")
	if s.EveryWorld && len(s.Worlds) > 1 {
		in += " at once"
	}
	spell := (time.Duration(s.DurationMS) * time.Millisecond).String()
	switch s.Pattern {
	case Burst:
		return "Burst: " + players + in
	case Idle:
		return "Idle: " + players + ", " + spell
	case Churn:
		return fmt.Sprintf("Churn: %s joins/s for %s, %s%s, each breaks off and returns", showRate(s.Rate), spell, players, in)
	}
	return fmt.Sprintf("Steady: %s joins/s for %s, %s%s", showRate(s.Rate), spell, players, in)
}

// fact is a line of the report.
type fact struct{ Name, Value string }

// facts are what is not a latency.
func (r *Report) facts() []fact {
	all := []fact{{"verdict", r.Verdict()}}
	add := func(name, format string, args ...any) { all = append(all, fact{name, fmt.Sprintf(format, args...)}) }
	add("players", "%s of %s connected", thousands(r.Connected), thousands(int64(r.Settings.Players)))
	if r.Joins > 0 {
		add("joins", "%s, %s/s", thousands(r.Joins), showRate(r.JoinsPerSecond))
		add("matches", "%s, %s/s, players told %s times", thousands(int64(r.Matches)), showRate(r.MatchesPerSecond), thousands(r.Told))
		add("span", "%s ms from the first join to the last player told", showMS(r.SpanMS))
	}
	for _, group := range []struct {
		name   string
		counts map[string]int
	}{
		{"errors", r.Errors}, {"closes", named(r.Closes)}, {"refused", named(r.Failures)},
		{"dequeued", r.Dequeued}, {"waiting", r.Waiting},
	} {
		add(group.name, "%s", list(group.counts))
	}
	return all
}

// named puts the names of close codes behind them.
func named(byCode map[string]int) map[string]int {
	out := make(map[string]int, len(byCode))
	for name, n := range byCode {
		if code, err := strconv.Atoi(name); err == nil {
			name = strings.TrimSpace(name + " " + protocol.CloseName(code))
		}
		out[name] = n
	}
	return out
}

// list is counts in a line, "none" where there are none.
func list(byName map[string]int) string {
	if len(byName) == 0 {
		return "none"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		parts = append(parts, fmt.Sprintf("%s × %s", name, thousands(int64(byName[name]))))
	}
	return strings.Join(parts, ", ")
}

// showMS is milliseconds to three digits or to one, whichever is more.
func showMS(ms float64) string {
	switch {
	case ms >= 100:
		return thousands(int64(ms + 0.5))
	case ms >= 10:
		return strconv.FormatFloat(ms, 'f', 1, 64)
	}
	return strconv.FormatFloat(ms, 'f', 2, 64)
}

// showRate is a number of things a second.
func showRate(rate float64) string {
	if rate < 10 {
		return strconv.FormatFloat(rate, 'g', 2, 64)
	}
	return thousands(int64(rate + 0.5))
}

// thousands is a number with commas.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
