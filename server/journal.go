package server

import (
	"context"
	"errors"
	"time"

	"github.com/musterhq/muster/configs"
	"github.com/musterhq/muster/journal"
	"github.com/musterhq/muster/lua"
	"github.com/musterhq/muster/webhooks"
)

// afterwards is what is done with what happened: the durable record, and other systems that are told. Both are nil
// where they are not set. Nobody waits for them.
type afterwards struct {
	journal  *journal.Journal
	webhooks *webhooks.Webhooks
	// filled is signalled when there is something new in the outbox, by address.
	filled map[string]chan struct{}
}

// newAfterwards puts together what is set.
func (s *Server) newAfterwards(ctx context.Context) (afterwards, error) {
	a := afterwards{filled: make(map[string]chan struct{})}
	targets := targetsOf(s.config.Webhooks)
	if s.config.Journal.URL != "" {
		stream, err := s.store.Stream(lua.JournalGroup, journal.Hold)
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
	if a.journal != nil {
		err = a.journal.Start(ctx)
	}
	if a.webhooks != nil {
		err = errors.Join(err, a.webhooks.Start(ctx))
	}
	return err
}

func (a afterwards) stop() {
	if a.webhooks != nil {
		a.webhooks.Stop()
	}
	if a.journal != nil {
		a.journal.Stop()
	}
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
		t := webhooks.Target{URL: w.URL, Secret: []byte(w.Secret.Reveal()), Attempts: w.Attempts}
		for _, e := range w.Events {
			t.Events = append(t.Events, webhooks.Type(e))
		}
		targets = append(targets, t)
	}
	return targets
}

// outgoing is what the journal puts into its outbox for targets.
func outgoing(realm string, targets []webhooks.Target) func(lua.Event) ([]journal.Outgoing, error) {
	if len(targets) == 0 {
		return nil
	}
	return func(e lua.Event) ([]journal.Outgoing, error) {
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

// outbox is the journal's outbox for one address, as a source of deliveries.
type outbox struct {
	journal *journal.Journal
	url     string
	filled  <-chan struct{}
}

// outboxInterval is how often the outbox is looked at for what another instance put there, or is due again.
const outboxInterval = time.Second

// outboxHold is how long a delivery stays with an instance that may have died: longer than an attempt takes.
const outboxHold = 2 * webhooks.DefaultTimeout

// Claim takes what is due, or waits for it and lets the caller ask again.
func (o outbox) Claim(ctx context.Context, n int) ([]webhooks.Delivery, error) {
	select {
	case <-o.journal.Migrated():
	case <-ctx.Done():
		return nil, nil
	}
	pending, err := o.journal.ClaimPending(ctx, o.url, n, outboxHold)
	if err != nil {
		return nil, err
	}
	if len(pending) == 0 {
		timer := time.NewTimer(outboxInterval)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-o.filled:
		case <-timer.C:
		}
		return nil, nil
	}
	deliveries := make([]webhooks.Delivery, len(pending))
	for i, p := range pending {
		deliveries[i] = webhooks.Delivery{
			Event: webhooks.Event{ID: p.Event, Type: webhooks.Type(p.Type), Body: p.Body}, Attempt: p.Attempts,
		}
	}
	return deliveries, nil
}

func (o outbox) Delivered(ctx context.Context, d webhooks.Delivery) error {
	return o.journal.Delivered(ctx, d.ID, o.url)
}

func (o outbox) Postpone(ctx context.Context, d webhooks.Delivery, wait time.Duration, reason string) error {
	return o.journal.Postpone(ctx, d.ID, o.url, wait, reason)
}

func (o outbox) Bury(ctx context.Context, d webhooks.Delivery, reason string) error {
	return o.journal.Bury(ctx, d.ID, o.url, reason)
}
