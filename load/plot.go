package load

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// plot is lines in a frame, in the coordinates of an SVG.
type plot struct {
	Class         string // says for which windows
	Width, Height float64
	// The frame: lines are between Left and Right, Top and Bottom.
	Left, Right, Top, Bottom float64
	X, Y                     []tick
	Lines                    []line
}

// tick is a mark at an axis. Anchor is which part of the text stands there.
type tick struct {
	At           float64
	Text, Anchor string
}

// line is a series of points. Class says its colour.
type line struct{ Class, Name, Path string }

// axis maps values from Low to High to 0 to 1.
type axis struct {
	low, high float64
	log       bool
}

func (a axis) place(v float64) float64 {
	if a.log {
		return math.Log(v/a.low) / math.Log(a.high/a.low)
	}
	return (v - a.low) / (a.high - a.low)
}

// newPlots are a wide frame and a narrow one.
func newPlots() []plot {
	return []plot{
		{Class: "wide", Width: 760, Height: 320, Left: 64, Right: 744, Top: 16, Bottom: 284},
		{Class: "narrow", Width: 340, Height: 280, Left: 52, Right: 328, Top: 14, Bottom: 246},
	}
}

func (p *plot) x(share float64) float64 { return p.Left + share*(p.Right-p.Left) }
func (p *plot) y(share float64) float64 { return p.Bottom - share*(p.Bottom-p.Top) }

// draw adds a line through points.
func (p *plot) draw(class, name string, x, y axis, points [][2]float64) {
	var path strings.Builder
	for i, point := range points {
		command := 'L'
		if i == 0 {
			command = 'M'
		}
		fmt.Fprintf(&path, "%c%.1f %.1f", command, p.x(x.place(point[0])), p.y(y.place(point[1])))
	}
	p.Lines = append(p.Lines, line{class, name, path.String()})
}

// curves draw the percentiles of what players wait for: to the right ever fewer are slower.
func (r *Report) curves() []plot {
	x, y := axis{low: 0}, axis{low: math.Inf(1), log: true}
	var shown []Latency
	for _, l := range r.Latencies {
		if l.Name == "lag" || l.Name == "connect" && r.Settings.Pattern != Idle {
			continue
		}
		shown = append(shown, l)
		x.high = max(x.high, nines(l.lastBelowMax()))
		for _, c := range l.Curve {
			y.low, y.high = min(y.low, c.MS), max(y.high, c.MS)
		}
	}
	if len(shown) == 0 || x.high == 0 {
		return nil
	}
	y.low, y.high = roundDown(y.low), roundUp(y.high)
	plots := newPlots()
	for i := range plots {
		p := &plots[i]
		p.percentileTicks(x)
		p.timeTicks(y)
		for _, l := range shown {
			var points [][2]float64
			for _, c := range l.Curve {
				points = append(points, [2]float64{min(nines(c.Percentile), x.high), c.MS})
			}
			p.draw(l.Name, l.About, x, y, points)
		}
	}
	return plots
}

// nines is how many nines a percentile has: 1 for 90, 2 for 99.
func nines(percentile float64) float64 { return -math.Log10(1 - percentile/100) }

// lastBelowMax is the highest percentile of the curve that is not the maximum.
func (l Latency) lastBelowMax() float64 {
	if len(l.Curve) < 2 {
		return 0
	}
	return l.Curve[len(l.Curve)-2].Percentile
}

// tickX adds a mark at the lower axis. The text of one at the end stays within the picture.
func (p *plot) tickX(share float64, text string) {
	at, anchor := p.x(share), "middle"
	if at > p.Right-float64(len(text))*3 {
		anchor = "end"
	}
	p.X = append(p.X, tick{at, text, anchor})
}

func (p *plot) tickY(share float64, text string) {
	p.Y = append(p.Y, tick{p.y(share), text, "end"})
}

func (p *plot) percentileTicks(x axis) {
	for _, t := range []struct {
		percentile float64
		text       string
	}{{0, "0"}, {50, "p50"}, {90, "p90"}, {99, "p99"}, {99.9, "p99.9"}, {99.99, "p99.99"}, {99.999, "p99.999"}} {
		if at := nines(t.percentile); at <= x.high {
			p.tickX(x.place(at), t.text)
		}
	}
}

// timeTicks are marks at a logarithmic upright axis of milliseconds: 1, 2 and 5 of each power of ten, or
// 1 alone where that is enough.
func (p *plot) timeTicks(y axis) {
	all := math.Log10(y.high/y.low) <= 2.5
	for v := y.low; v <= y.high*1.001; v = roundUp(v * 1.1) {
		text := number(v) + " ms"
		if v > 999 {
			text = number(v/1000) + " s"
		}
		if power := math.Log10(v); all || math.Abs(power-math.Round(power)) < 1e-9 {
			p.tickY(y.place(v), text)
		}
	}
}

// rates draw joins and matches a second over time; matches alone where all join at one moment.
func (r *Report) rates() []plot {
	if len(r.Timeline) < 2 {
		return nil
	}
	var joins, matches [][2]float64
	highest := 0.0
	for _, point := range r.Timeline {
		at := float64(point.AtMS) / 1000
		matches = append(matches, [2]float64{at, point.MatchesPerSecond})
		highest = max(highest, point.MatchesPerSecond)
		if r.Settings.Pattern != Burst {
			joins = append(joins, [2]float64{at, point.JoinsPerSecond})
			highest = max(highest, point.JoinsPerSecond)
		}
	}
	stepX, stepY := roundUp(matches[len(matches)-1][0]/6), roundUp(max(highest, 1)/5)
	x, y := axis{high: matches[len(matches)-1][0]}, axis{high: stepY * math.Ceil(max(highest, 1)/stepY)}
	plots := newPlots()
	for i := range plots {
		p := &plots[i]
		for v := 0.0; v <= x.high*1.001; v += stepX {
			p.tickX(x.place(v), number(v)+" s")
		}
		for v := 0.0; v <= y.high*1.001; v += stepY {
			p.tickY(y.place(v), number(v))
		}
		p.draw("matches", "matches a second", x, y, matches)
		if joins != nil {
			p.draw("joins", "joins a second", x, y, joins)
		}
	}
	return plots
}

// roundUp is the next of 1, 2, 5, 10, 20, … (and 0.5, 0.2, …) that is not below v.
func roundUp(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, factor := range []float64{1, 2, 5} {
		if v <= power*factor*(1+1e-9) {
			return power * factor
		}
	}
	return power * 10
}

// roundDown is the last of them that is not above v.
func roundDown(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, factor := range []float64{5, 2} {
		if v >= power*factor*(1-1e-9) {
			return power * factor
		}
	}
	return power
}

// number is short: 20k, 5, 0.2.
func number(v float64) string {
	if v >= 10_000 {
		return fmt.Sprintf("%gk", math.Round(v)/1000)
	}
	return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64)
}
