package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// senders ask for all players. They are a few, so that one whose connection takes nothing more does not
// hold all others up.
const senders = 8

// lateness is for how long after the last arrival those for which no player was free may still find one.
const lateness = time.Second

// arrive has the players do what the pattern says. It returns when the last was asked, or when asking
// ends.
func (r *run) arrive(asking, life context.Context) {
	start := time.Now()
	r.time.begin(start)
	r.happened(start)
	switch r.o.Pattern {
	case Idle:
		wait(asking, start.Add(r.o.Duration))
	case Burst:
		r.burst(life, start)
	case Steady, Churn:
		r.steady(asking, life, start)
	}
	r.happened(time.Now())
}

// burst has all who are connected join at one moment.
func (r *run) burst(life context.Context, moment time.Time) {
	players := int64(len(r.free)) // who is refused comes back behind them
	var taken atomic.Int64
	inParallel(func(int) {
		for taken.Add(1) <= players {
			(<-r.free).join(life, moment)
		}
	})
}

// steady has players join at the rate. The senders take the arrivals in turn; one for
// which nobody is free is late, and is measured as that.
func (r *run) steady(asking, life context.Context, start time.Time) {
	s := schedule{start: start, rate: r.o.Rate}
	arrivals := int(r.o.Rate * r.o.Duration.Seconds())
	if !r.o.Leave {
		arrivals = min(arrivals, len(r.free)) // each player joins once
	}
	asking, cancel := context.WithDeadline(asking, s.at(arrivals).Add(lateness))
	defer cancel()
	var sent atomic.Int64
	inParallel(func(sender int) {
		for k := sender; k < arrivals && wait(asking, s.at(k)); k += senders {
			select {
			case p := <-r.free:
				p.join(life, s.at(k))
				sent.Add(1)
			case <-asking.Done():
				return
			}
		}
	})
	due := min(arrivals, int(r.o.Rate*time.Since(start).Seconds())) // fewer, where the run was cut short
	r.unsent.Add(max(0, int64(due)-sent.Load()))
}

// inParallel calls f once for each sender.
func inParallel(f func(sender int)) {
	var wg sync.WaitGroup
	for sender := range senders {
		wg.Go(func() { f(sender) })
	}
	wg.Wait()
}
