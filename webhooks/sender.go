package webhooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/backoff"
	"muster/internal/faultlog"
)

const (
	// slots is how many deliveries to an address are on their way at once.
	slots = 8
	// mostReplyBytes is how much of a reply is read, so that the connection can be used again.
	mostReplyBytes = 64 << 10
	// mostHeaderBytes is how long the headers of a reply may be.
	mostHeaderBytes = 16 << 10
	// claimPause bounds the pauses while the source is away.
	claimPause = 10 * time.Second
	// settleTimeout bounds saying what became of a delivery, also while stopping.
	settleTimeout = 5 * time.Second
)

// sender delivers to one address.
type sender struct {
	opts   Options
	target Target
	host   string // of the address: all of it that is logged, as the rest may hold a token
	source Source
	client *http.Client
	// receiver, dead and claims log how the receiver, the deliveries that are given up, and the source fare.
	receiver, dead, claims *faultlog.Log
}

func newSender(opts Options, target Target, source Source) *sender {
	s := &sender{opts: opts, target: target, source: source, client: &http.Client{
		Timeout: opts.Timeout, CheckRedirect: noRedirect,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: slots, MaxConnsPerHost: slots, IdleConnTimeout: time.Minute,
			TLSHandshakeTimeout: opts.Timeout, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: mostHeaderBytes,
		},
	}}
	if u, err := url.Parse(target.URL); err == nil {
		s.host = u.Host
	}
	log := opts.Log.With().Str("host", s.host).Logger()
	s.receiver = faultlog.New(log, faultlog.Messages{
		Level: zerolog.WarnLevel, Fails: "webhook receiver does not take deliveries; they are retried", Works: "webhook receiver takes deliveries again",
		Reached: "webhook receiver reached",
	})
	s.dead = faultlog.New(log, faultlog.Messages{Level: zerolog.ErrorLevel, Fails: "webhook delivery given up; see muster webhooks dead"})
	s.claims = faultlog.New(log, faultlog.Messages{
		Level: zerolog.WarnLevel, Fails: "webhook's deliveries not to be had; waiting for them", Works: "webhook's deliveries can be had again",
	})
	return s
}

// run delivers until ctx ends.
func (s *sender) run(ctx context.Context) {
	free := make(chan struct{}, slots)
	for range slots {
		free <- struct{}{}
	}
	var flying sync.WaitGroup
	defer flying.Wait()
	for failures := 0; ; {
		n := take(ctx, free)
		if ctx.Err() != nil {
			return
		}
		deliveries, err := s.source.Claim(ctx, n)
		for range n - len(deliveries) {
			free <- struct{}{}
		}
		for _, d := range deliveries {
			flying.Go(func() {
				defer func() { free <- struct{}{} }()
				s.deliver(ctx, d)
			})
		}
		if err == nil {
			failures = 0
			s.claims.Worked()
			continue
		}
		if failures++; ctx.Err() == nil {
			s.claims.Failed(err)
		}
		pause(ctx, backoff.After(failures, s.opts.RetryBase, claimPause))
	}
}

// take waits for a free slot and takes all that are free, their number.
func take(ctx context.Context, free <-chan struct{}) int {
	select {
	case <-ctx.Done():
		return 0
	case <-free:
	}
	for n := 1; ; n++ {
		select {
		case <-free:
		default:
			return n
		}
	}
}

// deliver makes one attempt, and says what became of it.
func (s *sender) deliver(ctx context.Context, d Delivery) {
	start, failure := time.Now(), d.Unreadable
	if failure == nil {
		failure = s.post(ctx, d)
	}
	if failure != nil && ctx.Err() != nil {
		return // stopped: it is another's when the hold is over
	}
	if failure == nil {
		s.receiver.Worked()
	} else if d.Unreadable == nil {
		s.receiver.Failed(failure, "event", d.ID)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	var err error
	switch o := s.opts.Observer; {
	case failure == nil:
		if o.Delivered != nil {
			o.Delivered(time.Since(start))
		}
		err = s.source.Delivered(ctx, d)
	case d.Attempt >= s.target.Attempts:
		told(o.Failed)
		if err = s.source.Bury(ctx, d, failure.Error()); err == nil {
			told(o.Dead)
			s.dead.Failed(failure, "event", d.ID)
		}
	default:
		told(o.Failed)
		s.opts.Log.Debug().Err(failure).Str("host", s.host).Str("event", d.ID).Msg("webhook delivery failed; it is tried again")
		err = s.source.Postpone(ctx, d, backoff.After(d.Attempt, s.opts.RetryBase, MaxPause), failure.Error())
	}
	if err != nil {
		s.opts.Log.Debug().Err(err).Str("event", d.ID).Msg("outcome of a webhook delivery not noted; it is sent again")
	}
}

// post sends a delivery; the error says why the receiver has not taken it, and shows no address.
func (s *sender) post(ctx context.Context, d Delivery) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.target.URL, bytes.NewReader(d.Body))
	if err != nil {
		return errors.New("the address cannot be asked")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "muster-webhooks/1")
	request.Header.Set(HeaderEvent, string(d.Type))
	request.Header.Set(HeaderEventID, d.ID)
	sign(request.Header, s.target.Secret, d.Body, time.Now())
	response, err := s.client.Do(request)
	if err != nil {
		var about *url.Error
		if errors.As(err, &about) {
			err = about.Err // without the address
		}
		return fmt.Errorf("post: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // the status is all that counts
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, mostReplyBytes))
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}

// told calls a function of the observer that may be nil.
func told(f func()) {
	if f != nil {
		f()
	}
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
