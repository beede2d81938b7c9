package journal

import (
	"context"
	"errors"
	"time"

	"muster/internal/backoff"
	"muster/internal/faultlog"
	"muster/store"
)

const (
	// batch is how many entries are written in one transaction.
	batch = 500
	// block is how long a read waits; it is also how long Stop may have to.
	block = 500 * time.Millisecond
	// claimInterval is how often entries of others are looked for.
	claimInterval = time.Second
	// retryBase and retryLimit are the pauses while PostgreSQL or Redis is away, and between the deliveries of an
	// entry that is refused.
	retryBase  = 200 * time.Millisecond
	retryLimit = 10 * time.Second
)

// run writes until ctx ends.
func (j *Journal) run(ctx context.Context) {
	j.begin(ctx) // first, so that the stream is kept while PostgreSQL is away
	j.insist(ctx, j.postgres, func() error {
		ctx, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		return j.migrate(ctx)
	})
	if ctx.Err() == nil {
		close(j.migrated)
	}
	for ctx.Err() == nil {
		var entries []store.StreamEntry
		j.insist(ctx, j.redis, func() (err error) {
			entries, err = j.next(ctx)
			if errors.Is(err, store.ErrNoGroup) {
				j.opts.Log.Warn().Str("realm", j.opts.Realm).Msg("stream began anew; the journal reads it from its beginning")
				j.begin(ctx)
				err = nil
			}
			return err
		})
		j.record(ctx, entries)
	}
}

// begin makes the group, which reads all that the stream has, and has the stream kept for it.
func (j *Journal) begin(ctx context.Context) {
	j.insist(ctx, j.redis, func() error {
		return j.opts.Stream.Begin(ctx, true)
	})
}

// insist tries until do succeeds or ctx ends, and logs that what it needs is away.
func (j *Journal) insist(ctx context.Context, log *faultlog.Log, do func() error) {
	for attempts := 1; ; attempts++ {
		err := do()
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			log.Worked()
			return
		}
		log.Failed(err)
		if !wait(ctx, backoff.After(attempts, retryBase, retryLimit)) {
			return
		}
	}
}

// next are the entries to write: now and then those that are due again or another's, otherwise new ones.
func (j *Journal) next(ctx context.Context) ([]store.StreamEntry, error) {
	if time.Since(j.claimed) >= claimInterval {
		entries, err := j.opts.Stream.Claim(ctx, batch)
		if err != nil || len(entries) > 0 {
			return entries, err
		}
		j.claimed = time.Now()
	}
	return j.opts.Stream.Read(ctx, batch, block)
}

// record writes entries together, and where one of them is refused in halves, until it stands alone.
func (j *Journal) record(ctx context.Context, entries []store.StreamEntry) {
	if len(entries) == 0 {
		return
	}
	err := j.writeEntries(ctx, entries)
	switch half := len(entries) / 2; {
	case err == nil || ctx.Err() != nil:
	case half == 0:
		j.refused(ctx, entries[0], err)
	default:
		j.record(ctx, entries[:half])
		j.record(ctx, entries[half:])
	}
}

// writeEntries writes entries and acknowledges them, however long PostgreSQL is away. The error is one of the
// entries being refused.
func (j *Journal) writeEntries(ctx context.Context, entries []store.StreamEntry) error {
	var refusal error
	j.insist(ctx, j.postgres, func() error {
		err := j.writeOnce(ctx, entries)
		if isRefused(err) {
			refusal = err
			return nil
		}
		if err != nil && ctx.Err() == nil {
			told(j.opts.Observer.Failed)
		}
		return err
	})
	if refusal != nil || ctx.Err() != nil {
		return refusal
	}
	if f := j.opts.Observer.Written; f != nil {
		f(len(entries))
	}
	if err := j.opts.Stream.Ack(ctx, entries...); err != nil && ctx.Err() == nil {
		j.opts.Log.Debug().Err(err).Msg("entries not acknowledged; they are written again")
	}
	return nil
}

// writeOnce tries to write entries in one transaction.
func (j *Journal) writeOnce(ctx context.Context, entries []store.StreamEntry) error {
	var events []store.Event
	var outgoing []Outgoing
	for _, entry := range entries {
		if !entry.For(store.JournalGroup) {
			continue
		}
		e, err := store.ParseEvent(entry)
		if err != nil {
			return &invalidError{err}
		}
		events = append(events, e)
		if j.opts.Outgoing == nil {
			continue
		}
		out, err := j.opts.Outgoing(e)
		if err != nil {
			return &invalidError{err}
		}
		outgoing = append(outgoing, out...)
	}
	if err := j.write(ctx, events, outgoing); err != nil {
		return err
	}
	if len(outgoing) > 0 {
		told(j.opts.OutboxFilled)
	}
	return nil
}

// refused has an entry delivered again later, perhaps to an instance of another version, or gives it up.
func (j *Journal) refused(ctx context.Context, entry store.StreamEntry, cause error) {
	told(j.opts.Observer.Refused)
	var err error
	if entry.Deliveries < j.opts.Attempts {
		err = j.opts.Stream.Postpone(ctx, entry, backoff.After(entry.Deliveries, retryBase, retryLimit))
	} else if err = j.opts.Stream.Bury(ctx, entry, text(cause.Error())); err == nil {
		if f := j.opts.Observer.Dead; f != nil {
			f(1)
		}
		j.dead.Failed(cause, "match_id", entry.Fields["match"])
	}
	if err != nil && ctx.Err() == nil {
		j.opts.Log.Debug().Err(err).Msg("refused entry not put off; it comes again")
	}
}

// wait waits for d; false means that ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
