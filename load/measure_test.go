package load

import (
	"context"
	"math"
	"testing"
	"time"
)

func TestPercentilesAreThoseOfWhatWasRecorded(t *testing.T) {
	t.Parallel()
	l := newLatency()
	for ms := 1; ms <= 1000; ms++ {
		l.record(time.Duration(ms) * time.Millisecond)
	}
	s := l.summary("match", "")
	for name, c := range map[string]struct{ got, want float64 }{
		"count": {float64(s.Count), 1000}, "mean": {s.MeanMS, 500.5}, "p50": {s.P50MS, 500}, "p90": {s.P90MS, 900},
		"p99": {s.P99MS, 990}, "p99.9": {s.P999MS, 999}, "max": {s.MaxMS, 1000},
	} {
		if math.Abs(c.got-c.want) > c.want/500 {
			t.Errorf("%s is %v, want %v", name, c.got, c.want)
		}
	}
	for i, c := range s.Curve {
		if want := c.Percentile * 10; math.Abs(c.MS-want) > want/500+1 {
			t.Errorf("the curve has %v at %v", c.MS, c.Percentile)
		}
		if i > 0 && c.Percentile <= s.Curve[i-1].Percentile {
			t.Errorf("the curve goes from %v to %v", s.Curve[i-1].Percentile, c.Percentile)
		}
	}
}

func TestDurationsOutsideOfTheHistogramCountAsItsBounds(t *testing.T) {
	t.Parallel()
	l := newLatency()
	l.record(-time.Second)
	l.record(time.Hour)
	s := l.summary("match", "")
	if want := float64(maxLatency.Milliseconds()); s.Count != 2 || math.Abs(s.MaxMS-want) > want/500 {
		t.Errorf("%d recorded, the longest of %v ms", s.Count, s.MaxMS)
	}
}

func TestAScheduleIsFixedWhateverIsLate(t *testing.T) {
	t.Parallel()
	start := time.Now()
	s := schedule{start: start, rate: 2000}
	for k, want := range map[int]time.Duration{0: 0, 1: 500 * time.Microsecond, 2000: time.Second, 1_000_000: 500 * time.Second} {
		if got := s.at(k).Sub(start); got != want {
			t.Errorf("arrival %d is due after %v, want %v", k, got, want)
		}
	}
	if at := (schedule{start: start}).at(1000); at != start {
		t.Errorf("without a rate, one is due at %v", at)
	}
	if !wait(t.Context(), start) {
		t.Error("a moment that has passed is waited for")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if wait(ended, start.Add(time.Hour)) || wait(ended, start) {
		t.Error("waited although the context has ended")
	}
}

func TestTheTimelineKeepsAllAndGivesRates(t *testing.T) {
	t.Parallel()
	start := time.Now()
	var line timeline
	line.begin(start)
	const seconds, perSecond = 30, 100
	for k := range seconds * perSecond {
		at := start.Add(time.Duration(k) * time.Second / perSecond)
		line.sent(at)
		line.told(at)
		if k%2 == 1 {
			line.met(at)
		}
	}
	points := line.points()
	if len(points) < maxPoints/4 || len(points) > maxPoints {
		t.Errorf("%d points", len(points))
	}
	for _, p := range points {
		if p.JoinsPerSecond != perSecond || p.MatchesPerSecond != perSecond/2 {
			t.Errorf("after %d ms %v joins and %v matches a second", p.AtMS, p.JoinsPerSecond, p.MatchesPerSecond)
		}
	}
	if got := line.span(); got != seconds*time.Second-time.Second/perSecond {
		t.Errorf("the span is %v", got)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	valid := Options{
		URLs: []string{"ws://127.0.0.1:8080/v1/ws"}, Players: 1, Worlds: []string{"voice"}, Pattern: Steady, Rate: 1,
		Duration: time.Second, IDPrefix: "load", Timeout: time.Second, Settle: time.Second,
	}
	if err := valid.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(o *Options){
		"no address":           func(o *Options) { o.URLs = nil },
		"not a WebSocket":      func(o *Options) { o.URLs = []string{"http://127.0.0.1/v1/ws"} },
		"nobody":               func(o *Options) { o.Players = 0 },
		"too many":             func(o *Options) { o.Players = maxPlayers + 1 },
		"no world":             func(o *Options) { o.Worlds = nil },
		"no name of a world":   func(o *Options) { o.Worlds = []string{"a b"} },
		"no pattern":           func(o *Options) { o.Pattern = "storm" },
		"no rate":              func(o *Options) { o.Rate = 0 },
		"a rate of NaN":        func(o *Options) { o.Rate = math.NaN() },
		"no duration":          func(o *Options) { o.Duration = 0 },
		"a burst that leaves":  func(o *Options) { o.Pattern, o.Leave = Burst, true },
		"no address to be":     func(o *Options) { o.Sources = []string{"localhost"} },
		"a prefix too long":    func(o *Options) { o.IDPrefix = "a234567890123456789012345678901234567890123456789" },
		"no bound":             func(o *Options) { o.Timeout = 0 },
		"nothing to settle in": func(o *Options) { o.Settle = 0 },
		"less than no rate":    func(o *Options) { o.ConnectRate = -1 },
	} {
		o := valid
		spoil(&o)
		if o.Validate() == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}
