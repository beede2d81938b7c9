package load

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
)

// sample is a report with one of everything.
func sample() *Report {
	l := newLatency()
	for k := range 2000 {
		l.record(time.Duration(k+300) * time.Microsecond)
	}
	return &Report{
		Settings:  Settings{URLs: []string{"ws://a/<b>"}, Players: 2000, Worlds: []string{"voice"}, Pattern: Steady, Rate: 5000, DurationMS: 30_000},
		StartedAt: time.Unix(0, 0).UTC(), Connected: 2000, Joins: 1234, Told: 2000, Matches: 617, SpanMS: 30_000,
		JoinsPerSecond: 5000, MatchesPerSecond: 2500,
		Latencies: []Latency{l.summary("match", "join to match_complete"), l.summary("lag", "own delay")},
		Timeline:  []Point{{0, 5000, 2400}, {1000, 5100, 2500}, {2000, 4900, 2600}},
		Errors:    map[string]int{"rate_limited": 3}, Closes: map[string]int{"1013": 2},
		Violations: map[Kind]int{Lost: 1}, Examples: []Violation{{Lost, "p1 <script> was lost"}},
		Notes: []string{"think"},
	}
}

func TestTheTextSaysIt(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := sample().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Steady: 5,000 joins/s for 30s, 2,000 players in voice", "match  2,000", "1,234, 5,000/s",
		"1013 too many connections × 2", "rate_limited × 3", "not correct: lost × 1", "p1 <script> was lost", "think",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("does not say %q:\n%s", want, b.String())
		}
	}
}

// outside finds what a page would load from elsewhere.
var outside = regexp.MustCompile(`(?i)(src|href)=|@import|url\(|<script`)

func TestThePageIsWholeAndNeedsNothingElse(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := sample().WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if found := outside.FindString(text); found != "" {
		t.Errorf("the page holds %q", found)
	}
	for _, broken := range []string{"NaN", "Inf", "%!", "e+0"} {
		if strings.Contains(text, broken) {
			t.Errorf("the page holds %q", broken)
		}
	}
	drawings := regexp.MustCompile(`(?s)<svg class="(?:wide|narrow)".*?</svg>`).FindAllString(text, -1)
	if len(drawings) != 4 {
		t.Fatalf("%d drawings, want two of each plot", len(drawings))
	}
	for _, svg := range drawings {
		for d := xml.NewDecoder(strings.NewReader(svg)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in %s", err, svg)
			}
		}
	}
}

func TestReport_SaysWhatWasNotDone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Report)
		want   string
	}{
		"all":               {func(*Report) {}, "correct"},
		"a few connected":   {func(r *Report) { r.Connected, r.Present = 20, 20 }, "overloaded: 40 of 60 players did not connect"},
		"a few stayed":      {func(r *Report) { r.Present = 50 }, "overloaded: 10 of 60 players were not connected at the end"},
		"joins were unsent": {func(r *Report) { r.Unsent = 1200 }, "overloaded: 1,200 joins were not sent"},
		"refused":           {func(r *Report) { r.Errors = map[string]int{"queue_full": 2, "rate_limited": 1, "in_match": 7} }, "overloaded: 3 requests were refused"},
		"interrupted":       {func(r *Report) { r.Connected, r.Present, r.CutShort = 20, 20, interrupted }, "correct"},
		"wrong":             {func(r *Report) { r.Connected, r.Correct, r.Violations = 20, false, map[Kind]int{Lost: 1} }, "not correct: lost × 1"},
	} {
		r := &Report{Settings: Settings{Players: 60, Pattern: Burst}, Connected: 60, Present: 60, Correct: true}
		c.change(r)
		r.Shortfall = r.shortfall()
		var text, page strings.Builder
		if err := errors.Join(r.WriteText(&text), r.WriteHTML(&page)); err != nil {
			t.Fatal(err)
		}
		if got := r.Verdict(); got != c.want || !strings.Contains(text.String(), c.want) || c.want != "correct" && !strings.Contains(page.String(), c.want[1:]) {
			t.Errorf("%s: %q, want %q in\n%s", name, got, c.want, text.String())
		}
	}
}

func TestAReportOfNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	r := newRun(Options{URLs: []string{"ws://a"}, Players: 1, Pattern: Idle, IDPrefix: "t"}, nil)
	report := r.report(time.Now(), "interrupted")
	for _, write := range []func(io.Writer) error{report.WriteText, report.WriteHTML, report.WriteJSON} {
		if err := write(io.Discard); err != nil {
			t.Error(err)
		}
	}
}

func TestTicksAreRound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ v, up, down float64 }{
		{1, 1, 1}, {1.1, 2, 1}, {0.3, 0.5, 0.2}, {4999, 5000, 2000}, {5001, 10_000, 5000}, {0.01, 0.01, 0.01},
	} {
		near := func(got, want float64) bool { return got > want*0.999 && got < want*1.001 }
		if up, down := roundUp(c.v), roundDown(c.v); !near(up, c.up) || !near(down, c.down) {
			t.Errorf("%v lies between %v and %v, want %v and %v", c.v, down, up, c.down, c.up)
		}
	}
	for v, want := range map[float64]string{0.1 + 0.2: "0.3", 5000: "5000", 20_000: "20k", 0.05: "0.05"} {
		if got := number(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}
