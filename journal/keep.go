package journal

import (
	"context"
	"errors"
	"time"

	"github.com/musterhq/muster/lua"
)

const (
	// tidyInterval is how often the stream is tidied and measured.
	tidyInterval = 5 * time.Second
	// forgetInterval is how often the outbox is cleared of what is done.
	forgetInterval = time.Minute
)

// The share of its bound at which the stream alarms, and the one at which that is over.
const (
	alarmShare = 0.5
	calmShare  = 0.25
)

// keep looks after the stream until ctx ends, apart from the writer: it matters most while that waits for
// PostgreSQL.
func (j *Journal) keep(ctx context.Context) {
	alarmed := false
	for forgot := time.Now(); wait(ctx, tidyInterval); {
		err := errors.Join(j.opts.Stream.Tidy(ctx), j.opts.Store.KeepStream(ctx, true))
		if errors.Is(err, lua.ErrNoGroup) {
			err = j.opts.Stream.Begin(ctx, true) // Redis lost it, and the writer may be waiting
		}
		var waiting int64
		if err == nil {
			waiting, err = j.opts.Store.StreamLength(ctx)
		}
		if err == nil {
			alarmed = j.measure(waiting, alarmed)
		}
		if time.Since(forgot) >= forgetInterval {
			forgot = time.Now()
			err = errors.Join(err, j.forgetDone(ctx))
		}
		if err != nil && ctx.Err() == nil {
			j.opts.Log.Debug().Err(err).Msg("stream or outbox not tidied; again in a while")
		}
	}
}

// measure tells how much the stream keeps, and alarms once before it is full.
func (j *Journal) measure(waiting int64, alarmed bool) bool {
	if f := j.opts.Observer.Waiting; f != nil {
		f(waiting)
	}
	share := float64(waiting) / lua.JournalBound
	if share >= alarmShare && !alarmed {
		j.opts.Log.Warn().Int64("entries", waiting).Int("bound", lua.JournalBound).Str("realm", j.opts.Realm).
			Msg("journal is behind: at its bound the stream loses the oldest of what is not written")
	}
	return share >= alarmShare || alarmed && share >= calmShare
}
