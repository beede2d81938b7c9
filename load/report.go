package load

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	"muster/protocol"
)

// Report is what a run saw. Its JSON is for programs: fields may be added, not renamed.
type Report struct {
	Settings  Settings  `json:"settings"`
	StartedAt time.Time `json:"started_at"`
	// TookMS is the whole run, with connecting and settling.
	TookMS int64 `json:"took_ms"`
	// CutShort is "interrupted" or "timeout" where the run did not come to its end.
	CutShort string `json:"cut_short,omitempty"`
	// Connected is how many players connected at first, Present how many were so at the end.
	Connected int64 `json:"connected"`
	Present   int64 `json:"present"`
	// Joins were sent, Unsent were not as no player was free in time.
	Joins  int64 `json:"joins"`
	Unsent int64 `json:"unsent"`
	// Told is how many times a player was told of a match.
	Told int64 `json:"told"`
	// Matches were heard of; Foreign of them had players who are not of this run.
	Matches int `json:"matches"`
	Foreign int `json:"foreign"`
	// SpanMS is from the first join sent to the last player told; the rates are over it.
	SpanMS           float64 `json:"span_ms"`
	JoinsPerSecond   float64 `json:"joins_per_second"`
	MatchesPerSecond float64 `json:"matches_per_second"`

	Latencies []Latency `json:"latencies"`
	Timeline  []Point   `json:"timeline"`

	Errors   map[string]int `json:"errors"`           // by error code
	Closes   map[string]int `json:"closes"`           // by close code, or "broken"
	Failures map[string]int `json:"connect_failures"` // by reason
	Dequeued map[string]int `json:"dequeued"`         // by reason
	Waiting  map[string]int `json:"waiting"`          // players who wait still, by world

	// Correct tells that there is no violation.
	Correct bool `json:"correct"`
	// Shortfall says what was asked for and was not done: players that did not connect or were gone at the end, joins that
	// were not sent or were refused for the moment. What was not done was not judged.
	Shortfall  []string     `json:"shortfall"`
	Violations map[Kind]int `json:"violations"`
	Examples   []Violation  `json:"violation_examples"`
	// Notes say what to think of before trusting the figures.
	Notes []string `json:"notes"`
}

// Settings are the options of a run.
type Settings struct {
	URLs        []string `json:"urls"`
	Players     int      `json:"players"`
	Worlds      []string `json:"worlds"`
	EveryWorld  bool     `json:"every_world"`
	Pattern     Pattern  `json:"pattern"`
	Rate        float64  `json:"rate"`
	DurationMS  int64    `json:"duration_ms"`
	Leave       bool     `json:"leave"`
	ConnectRate float64  `json:"connect_rate"`
	Sources     []string `json:"sources"`
}

func (r *run) report(began time.Time, cutShort string) *Report {
	span := r.time.span()
	report := &Report{
		Settings: r.o.settings(), StartedAt: began.UTC().Truncate(time.Millisecond),
		TookMS: time.Since(began).Milliseconds(), CutShort: cutShort,
		Connected: r.connect.count(), Present: r.present, Joins: r.joins.Load(), Unsent: r.unsent.Load(), Told: r.match.count(),
		SpanMS: milliseconds(span.Microseconds()), Latencies: r.latencies(), Timeline: r.time.points(),
		Errors: r.errors.snapshot(), Closes: r.closes.snapshot(), Failures: r.failures.snapshot(),
		Dequeued: r.dequeued.snapshot(), Waiting: r.stay,
	}
	r.judge.verdict(report)
	if span > 0 {
		report.JoinsPerSecond = float64(report.Joins) / span.Seconds()
		report.MatchesPerSecond = float64(report.Matches) / span.Seconds()
	}
	report.Shortfall = report.shortfall()
	report.Notes = r.notes(report)
	return report
}

// interrupted is CutShort of a run that a person has ended: players that were still to connect are not missed.
const interrupted = "interrupted"

// shortfall is the value of Shortfall.
func (r *Report) shortfall() (all []string) {
	short := func(n int64, format string, args ...any) {
		if n > 0 {
			all = append(all, thousands(n)+fmt.Sprintf(format, args...))
		}
	}
	players := int64(r.Settings.Players)
	if r.CutShort != interrupted {
		short(players-r.Connected, " of %s players did not connect", thousands(players))
	}
	short(r.Connected-r.Present, " of %s players were not connected at the end", thousands(players))
	short(r.Unsent, " joins were not sent")
	refused := 0
	for code, n := range r.Errors {
		if protocol.LookupCode(code).Retryable {
			refused += n
		}
	}
	short(int64(refused), " requests were refused")
	return all
}

// verdict writes what the judge found into a report.
func (j *judge) verdict(r *Report) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.Matches, r.Foreign = j.matches, j.foreign
	r.Correct, r.Violations, r.Examples = len(j.counts) == 0, maps.Clone(j.counts), slices.Clone(j.examples)
}

func (o *Options) settings() Settings {
	return Settings{
		URLs: o.URLs, Players: o.Players, Worlds: o.Worlds, EveryWorld: o.EveryWorld, Pattern: o.Pattern,
		Rate: o.Rate, DurationMS: o.Duration.Milliseconds(), Leave: o.Leave, ConnectRate: o.ConnectRate,
		Sources: o.Sources,
	}
}

// latencies are those of which there is anything to say.
func (r *run) latencies() []Latency {
	var all []Latency
	for _, l := range []struct {
		of          *latency
		name, about string
	}{
		{r.match, "match", "join to match_complete"},
		{r.gather, "gather", "last join of a match to all of its players told"},
		{r.joined, "joined", "join to joined"},
		{r.connect, "connect", "dial to welcome"},
		{r.reconnect, "reconnect", "lost connection to welcome"},
		{r.lag, "lag", "when a join was due to when it was sent: this program's own delay"},
	} {
		if l.of.count() > 0 {
			all = append(all, l.of.summary(l.name, l.about))
		}
	}
	return all
}

// lateMS is from where on this program's own delay is worth a word.
const lateMS = 10

// notes are what explains figures that mislead.
func (r *run) notes(report *Report) (notes []string) {
	note := func(holds bool, format string, args ...any) {
		if holds {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	both := func(name string) int { return report.Failures[name] + report.Closes[name] }
	tooMany := fmt.Sprint(protocol.CloseTooMany)
	note(report.CutShort != "", "The run was cut short: %s.", report.CutShort)
	note(both(tooMany) > 0, "The server refused %s connections with %s, too many: by limits.connections_per_ip "+
		"(1000 by default) or limits.connections. Use more --sources, or raise the limit.", thousands(int64(both(tooMany))), tooMany)
	note(both(syscall.EADDRNOTAVAIL.Error()) > 0, "Local ports ran out: a source address has some 28,000. Use more --sources.")
	note(both(syscall.EMFILE.Error()) > 0, "This program ran out of open files: raise `ulimit -n`.")
	note(report.Errors[protocol.CodeRateLimited] > 0, "Players were rate_limited: each asks too often. "+
		"Use more --players, or raise limits.messages_per_second.")
	note(report.Unsent > 0, "Joins found no free player in time. Use more --players or a lower --rate.")
	note(r.o.Pattern != Burst && r.lag.p99() > lateMS*time.Millisecond,
		"Joins were sent up to %v late (p99): no player was free and "+
			"connected, or this program had too little CPU. The time is part of the latencies.", r.lag.p99().Round(time.Millisecond))
	note(report.Present < report.Connected, "What became of the joins of players who were not connected at the end is not judged.")
	note(r.worlds == nil && r.o.Pattern != Idle, "The server does not list its worlds: sizes of matches, and whether enough wait, were not judged.")
	note(report.Foreign > 0, "%s matches had players who are not of this run.", thousands(int64(report.Foreign)))
	return notes
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Verdict says in a few words whether the server was right, and whether it did all that was asked for.
func (r *Report) Verdict() string {
	if !r.Correct {
		var kinds []string
		for _, kind := range slices.Sorted(maps.Keys(r.Violations)) {
			kinds = append(kinds, fmt.Sprintf("%s × %d", kind, r.Violations[kind]))
		}
		return "not correct: " + strings.Join(kinds, ", ")
	}
	if len(r.Shortfall) > 0 {
		return "overloaded: " + strings.Join(r.Shortfall, ", ")
	}
	return "correct"
}
