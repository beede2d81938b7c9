package load

import (
	"sync"
	"time"
)

// slotLength is how finely it is kept when something happened: a burst is over in half a second.
const slotLength = 10 * time.Millisecond

// maxPoints is about how many points a plot of time has.
const maxPoints = 120

// timeline counts what happened when. Its methods may be called concurrently.
type timeline struct {
	mu          sync.Mutex
	start       time.Time // of the first join; guarded by mu, as all below
	slots       []slot
	first, last time.Time // first join sent, last player told
}

// slot counts what happened within slotLength.
type slot struct{ joins, matches int }

// begin sets the zero of time.
func (t *timeline) begin(start time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.start = start
}

func (t *timeline) sent(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first.IsZero() || at.Before(t.first) {
		t.first = at
	}
	t.slot(at).joins++
}

func (t *timeline) told(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at.After(t.last) {
		t.last = at
	}
}

func (t *timeline) met(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.slot(at).matches++
}

// slot is the one of a moment. The caller holds mu.
func (t *timeline) slot(at time.Time) *slot {
	k := max(0, int(at.Sub(t.start)/slotLength))
	if missing := k + 1 - len(t.slots); missing > 0 {
		t.slots = append(t.slots, make([]slot, missing)...)
	}
	return &t.slots[k]
}

// span is from the first join to the last player who was told, 0 where nobody was.
func (t *timeline) span() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(0, t.last.Sub(t.first))
}

// Point is what happened in a second, taken from a shorter or longer span that begins AtMS after the
// first join.
type Point struct {
	AtMS             int64   `json:"at_ms"`
	JoinsPerSecond   float64 `json:"joins_per_second"`
	MatchesPerSecond float64 `json:"matches_per_second"`
}

// points sums slots up to about maxPoints of them, over a round time.
func (t *timeline) points() []Point {
	t.mu.Lock()
	defer t.mu.Unlock()
	width := roundWidth(len(t.slots))
	points := make([]Point, 0, len(t.slots)/width+1)
	for from := 0; from < len(t.slots); from += width {
		var sum slot
		part := t.slots[from:min(from+width, len(t.slots))]
		length := time.Duration(len(part)) * slotLength // the last may be shorter
		for _, s := range part {
			sum.joins += s.joins
			sum.matches += s.matches
		}
		points = append(points, Point{
			AtMS:             (time.Duration(from) * slotLength).Milliseconds(),
			JoinsPerSecond:   float64(sum.joins) / length.Seconds(),
			MatchesPerSecond: float64(sum.matches) / length.Seconds(),
		})
	}
	return points
}

// roundWidth is how many of n slots make a point: 1, 2, 5, 10, and so on.
func roundWidth(n int) int {
	for width := 1; ; width *= 10 {
		for _, factor := range []int{1, 2, 5} {
			if n <= width*factor*maxPoints {
				return width * factor
			}
		}
	}
}
