package journal

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"muster/store"
)

const (
	// tidyInterval is how often the stream is tidied and measured.
	tidyInterval = 5 * time.Second
	// forgetInterval is how often the outbox is cleared of what is done.
	forgetInterval = time.Minute
)

// alarm is how full the stream is, as far as somebody has to know.
type alarm int

const (
	calm   alarm = iota
	behind       // half of the bound: there is time to act
	full         // the bound: the oldest of what is not written is being lost
)

// The shares of its bound at which the stream alarms, and the one below which that is over.
const (
	behindShare = 0.5
	fullShare   = 1
	calmShare   = 0.25
)

// keep looks after the stream until ctx ends, apart from the writer: it matters most while that waits for
// PostgreSQL.
func (j *Journal) keep(ctx context.Context) {
	alarmed := calm
	for forgot := time.Now(); wait(ctx, tidyInterval); {
		err := j.opts.Stream.Tidy(ctx)
		if errors.Is(err, store.ErrNoGroup) {
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

// measure tells how much the stream keeps, and alarms once for each time that it gets too full.
func (j *Journal) measure(waiting int64, alarmed alarm) alarm {
	if f := j.opts.Observer.Waiting; f != nil {
		f(waiting)
	}
	log := func(e *zerolog.Event, message string) {
		e.Int64("entries", waiting).Int("bound", store.JournalBound).Str("realm", j.opts.Realm).Msg(message)
	}
	switch share := float64(waiting) / store.JournalBound; {
	case share >= fullShare && alarmed < full:
		log(j.opts.Log.Error(), "stream is full: the oldest of what the journal has not written is lost")
		return full
	case share >= behindShare && alarmed < behind:
		log(j.opts.Log.Warn(), "journal is behind: at its bound the stream loses the oldest of what is not written")
		return behind
	case share < calmShare:
		return calm
	}
	return alarmed
}
