package load

import (
	"math"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Bounds of what a histogram can tell apart: microseconds, up to ten minutes, to three digits.
const (
	maxLatency = 10 * time.Minute
	digits     = 3
)

// latency is how long something took, each time. Its methods may be called concurrently.
type latency struct {
	mu        sync.Mutex
	histogram *hdrhistogram.Histogram // of microseconds; guarded by mu
}

func newLatency() *latency {
	return &latency{histogram: hdrhistogram.New(1, maxLatency.Microseconds(), digits)}
}

// record takes in one duration. What is outside of the bounds counts as the bound.
func (l *latency) record(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// An error is for values out of range, of which there are none.
	_ = l.histogram.RecordValue(min(max(d, time.Microsecond), maxLatency).Microseconds())
}

// Latency sums up how long something took. All times are in milliseconds.
type Latency struct {
	// Name is what took so long: "connect".
	Name string `json:"name"`
	// About says from what to what.
	About  string  `json:"about"`
	Count  int64   `json:"count"`
	MeanMS float64 `json:"mean_ms"`
	P50MS  float64 `json:"p50_ms"`
	P90MS  float64 `json:"p90_ms"`
	P99MS  float64 `json:"p99_ms"`
	P999MS float64 `json:"p99_9_ms"`
	MaxMS  float64 `json:"max_ms"`
	// Curve are more percentiles, dense where few are left above.
	Curve []CurvePoint `json:"curve"`
}

// CurvePoint is a percentile, 0 to 100, and its value.
type CurvePoint struct {
	Percentile float64 `json:"percentile"`
	MS         float64 `json:"ms"`
}

// curveSteps is how many points of a curve stand between a percentile and the one that leaves a tenth
// as many above.
const curveSteps = 12

func (l *latency) summary(name, about string) Latency {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.histogram
	at := func(percentile float64) float64 { return milliseconds(h.ValueAtQuantile(percentile)) }
	s := Latency{
		Name: name, About: about, Count: h.TotalCount(),
		MeanMS: math.Round(h.Mean()) / 1000, P50MS: at(50), P90MS: at(90), P99MS: at(99), P999MS: at(99.9),
		MaxMS: milliseconds(h.Max()),
	}
	if s.Count == 0 {
		return s
	}
	last := int(math.Ceil(math.Log10(float64(s.Count)) * curveSteps))
	for k := range last {
		percentile := 100 * (1 - math.Pow(10, -float64(k)/curveSteps))
		s.Curve = append(s.Curve, CurvePoint{percentile, at(percentile)})
	}
	s.Curve = append(s.Curve, CurvePoint{100, s.MaxMS})
	return s
}

// p99 is the 99th percentile of what was recorded so far.
func (l *latency) p99() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Duration(l.histogram.ValueAtQuantile(99)) * time.Microsecond
}

func (l *latency) count() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.histogram.TotalCount()
}

func milliseconds(microseconds int64) float64 { return float64(microseconds) / 1000 }
