package load

import (
	"fmt"
	"time"
)

// Progress is how far a run is.
type Progress struct {
	Elapsed            time.Duration
	Players, Connected int64
	// Joins sent and Matches formed so far, and how many a second since the last progress.
	Joins, Matches                   int64
	JoinsPerSecond, MatchesPerSecond float64
	Waiting                          int64
	// P99 is of the time from join to match_complete, so far.
	P99    time.Duration
	Errors int
	Closes int
}

// String is one line.
func (p Progress) String() string {
	return fmt.Sprintf("%4.0fs  connected %d/%d  joins %.0f/s  matches %.0f/s  waiting %d  p99 %v  errors %d  closes %d",
		p.Elapsed.Seconds(), p.Connected, p.Players, p.JoinsPerSecond, p.MatchesPerSecond, p.Waiting,
		p.P99.Round(10*time.Microsecond), p.Errors, p.Closes)
}

func (r *run) progress(elapsed time.Duration, previous Progress) Progress {
	p := Progress{
		Elapsed: elapsed, Players: int64(len(r.players)), Connected: r.connected.Load(),
		Joins: r.joins.Load(), Matches: r.judge.total(), Waiting: r.waiting.Load(), P99: r.match.p99(),
		Errors: r.errors.total() + r.failures.total(), Closes: r.closes.total(),
	}
	since := (elapsed - previous.Elapsed).Seconds()
	p.JoinsPerSecond = float64(p.Joins-previous.Joins) / since
	p.MatchesPerSecond = float64(p.Matches-previous.Matches) / since
	return p
}
