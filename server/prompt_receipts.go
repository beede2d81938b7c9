package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"muster/store"
)

const (
	// promptsMax is the most prompts of a call.
	promptsMax = 100
	// promptsKept bounds those that wait while Redis is away. Of one that is forgotten nobody is put out.
	promptsKept = 10_000
	// promptsPause is how long after a failure they are noted again.
	promptsPause = time.Second
)

// prompts notes which prompts of proposed matches were written to their players: nobody is put out for one that was
// not. They gather while a call is in flight.
type prompts struct {
	note func(ctx context.Context, shown []store.Shown) error
	wake chan struct{}

	mu sync.Mutex
	// guarded by mu
	waiting []store.Shown
}

func newPrompts(note func(context.Context, []store.Shown) error) *prompts {
	return &prompts{note: note, wake: make(chan struct{}, 1)}
}

// add takes in a prompt that was written. It does not wait.
func (p *prompts) add(shown store.Shown) {
	p.mu.Lock()
	if len(p.waiting) < promptsKept {
		p.waiting = append(p.waiting, shown)
	}
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *prompts) take() []store.Shown {
	p.mu.Lock()
	defer p.mu.Unlock()
	batch := p.waiting[:min(promptsMax, len(p.waiting))]
	p.waiting = p.waiting[len(batch):]
	return batch
}

// run notes what comes until ctx ends.
func (p *prompts) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		}
		for batch := p.take(); len(batch) > 0 && ctx.Err() == nil; batch = p.take() {
			p.flush(ctx, batch)
		}
	}
}

// flush notes a batch, and again while Redis is away: a prompt that is not noted makes a silent player look as if it
// had not been asked.
func (p *prompts) flush(ctx context.Context, batch []store.Shown) {
	for {
		err := p.note(ctx, batch)
		if !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrLostHistory) {
			return
		}
		timer := time.NewTimer(promptsPause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}
