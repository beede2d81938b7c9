package server

import (
	"context"
	"time"

	"muster/journal"
	"muster/webhooks"
)

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
			Event: webhooks.Event{ID: p.Event, Type: webhooks.Type(p.Type), Body: p.Body}, Attempt: p.Attempts, Unreadable: p.Unreadable,
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
