package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"muster/configs"
	"muster/journal"
	"muster/store"
	"muster/webhooks"
)

// afterwards is what is done with what happened: the durable record, and other systems that are told. Both are nil
// where they are not set. Nobody waits for them.
type afterwards struct {
	journal  *journal.Journal
	webhooks *webhooks.Webhooks
	// filled is signalled when there is something new in the outbox, by address.
	filled map[string]chan struct{}
	// idle tidies the stream where nothing is set, after what was set before.
	idle *streamTidier
}

// newAfterwards puts together what is set.
func (s *Server) newAfterwards(ctx context.Context) (afterwards, error) {
	a := afterwards{filled: make(map[string]chan struct{})}
	targets := targetsOf(s.config.Webhooks)
	if s.config.Journal.URL != "" {
		stream, err := s.store.Stream(store.JournalGroup, journal.Hold)
		if err != nil {
			return a, err
		}
		a.journal, err = journal.New(ctx, journal.Options{
			URL: s.config.Journal.URL.Reveal(), Realm: s.config.Realm, Store: s.store, Stream: stream,
			Attempts: s.config.Journal.Attempts, Outgoing: outgoing(s.config.Realm, targets), OutboxFilled: a.signal,
			Log: s.log, Observer: s.metrics.observeJournal(),
		})
		if err != nil {
			return a, err
		}
	}
	if len(targets) == 0 {
		if a.journal == nil {
			a.idle = &streamTidier{store: s.store, log: s.log}
		}
		return a, nil
	}
	for _, t := range targets {
		a.filled[t.URL] = make(chan struct{}, 1)
	}
	var err error
	a.webhooks, err = webhooks.New(webhooks.Options{
		Targets: targets, Log: s.log, Observer: s.metrics.observeWebhooks(),
		Source: func(t webhooks.Target) (webhooks.Source, error) {
			if a.journal != nil {
				return outbox{a.journal, t.URL, a.filled[t.URL]}, nil
			}
			stream, err := s.store.Stream(webhooks.Group(t.URL), webhooks.Hold)
			return webhooks.NewStreamSource(stream, s.config.Realm, t), err
		},
	})
	return a, err
}

func (a afterwards) start(ctx context.Context) error {
	var err error
	if a.idle != nil {
		a.idle.start(ctx)
	}
	if a.journal != nil {
		err = a.journal.Start(ctx)
	}
	if a.webhooks != nil {
		err = errors.Join(err, a.webhooks.Start(ctx))
	}
	return err
}

// stop is called after the context of start has ended.
func (a afterwards) stop() {
	if a.idle != nil {
		a.idle.done.Wait()
	}
	if a.webhooks != nil {
		a.webhooks.Stop()
	}
	if a.journal != nil {
		a.journal.Stop()
	}
}

// streamTidier tidies the realm's stream for an instance that does not read it.
type streamTidier struct {
	store *store.Store
	log   zerolog.Logger
	done  sync.WaitGroup
}

// streamTidyInterval is how often; what it finds is a day old.
const streamTidyInterval = 10 * time.Minute

func (t *streamTidier) start(ctx context.Context) {
	t.done.Go(func() {
		ticker := time.NewTicker(streamTidyInterval)
		defer ticker.Stop()
		for {
			if err := t.store.TidyStream(ctx); err != nil && ctx.Err() == nil {
				t.log.Debug().Err(err).Msg("stream not tidied; again in a while")
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
}

// signal wakes who waits for the outbox.
func (a afterwards) signal() {
	for _, filled := range a.filled {
		select {
		case filled <- struct{}{}:
		default:
		}
	}
}

func targetsOf(settings []configs.Webhook) []webhooks.Target {
	var targets []webhooks.Target
	for _, w := range settings {
		t := webhooks.Target{URL: w.URL.Reveal(), Secret: []byte(w.Secret.Reveal()), Attempts: w.Attempts}
		for _, e := range w.Events {
			t.Events = append(t.Events, webhooks.Type(e))
		}
		targets = append(targets, t)
	}
	return targets
}

// outgoing is what the journal puts into its outbox for targets.
func outgoing(realm string, targets []webhooks.Target) func(store.Event) ([]journal.Outgoing, error) {
	if len(targets) == 0 {
		return nil
	}
	return func(e store.Event) ([]journal.Outgoing, error) {
		event, err := webhooks.EventOf(realm, e)
		if err != nil {
			return nil, err
		}
		var out []journal.Outgoing
		for _, t := range webhooks.Wanted(targets, event.Type) {
			out = append(out, journal.Outgoing{Event: event.ID, Type: string(event.Type), URL: t.URL, Body: event.Body})
		}
		return out, nil
	}
}
