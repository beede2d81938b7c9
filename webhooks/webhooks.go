package webhooks

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Target is an address that is told of events.
type Target struct {
	URL    string
	Secret []byte // signs what is sent; none where empty
	Events []Type
	// Attempts is how often a delivery is tried before it is given up.
	Attempts int
}

func (t Target) wants() map[Type]bool {
	wants := make(map[Type]bool, len(t.Events))
	for _, e := range t.Events {
		wants[e] = true
	}
	return wants
}

// Wanted are the targets that are told of an event of that type.
func Wanted(targets []Target, t Type) []Target {
	var wanted []Target
	for _, target := range targets {
		if target.wants()[t] {
			wanted = append(wanted, target)
		}
	}
	return wanted
}

// Options are what webhooks are made of.
type Options struct {
	Targets []Target
	// Source is where the deliveries to a target wait.
	Source   func(Target) (Source, error)
	Log      zerolog.Logger
	Observer Observer
	// Timeout bounds an attempt, RetryBase is the pause after the first; 0 are DefaultTimeout, DefaultRetryBase.
	Timeout, RetryBase time.Duration
}

// DefaultTimeout is long for a receiver that takes an event and works on it later, as it should.
// DefaultRetryBase with doubled pauses up to MaxPause has eight attempts outlast about two minutes.
const (
	DefaultTimeout   = 10 * time.Second
	DefaultRetryBase = time.Second
)

// Observer is told what is delivered. What is nil is not told. It must not block.
type Observer struct {
	// Delivered is told how long the receiver took; Failed counts attempts without success, Dead deliveries that were
	// given up.
	Delivered    func(took time.Duration)
	Failed, Dead func()
}

// Webhooks delivers events.
type Webhooks struct {
	opts    Options
	senders []*sender

	mu     sync.Mutex
	cancel context.CancelFunc // guarded by mu
	done   sync.WaitGroup
}

// New puts webhooks together.
func New(opts Options) (*Webhooks, error) {
	if opts.Timeout == 0 {
		opts.Timeout = DefaultTimeout
	}
	if opts.RetryBase == 0 {
		opts.RetryBase = DefaultRetryBase
	}
	w := &Webhooks{opts: opts}
	for _, target := range opts.Targets {
		source, err := opts.Source(target)
		if err != nil {
			return nil, err
		}
		w.senders = append(w.senders, newSender(opts, target, source))
	}
	return w, nil
}

// Start begins to deliver.
func (w *Webhooks) Start(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil {
		return nil
	}
	ctx, w.cancel = context.WithCancel(ctx)
	for _, s := range w.senders {
		w.done.Go(func() { s.run(ctx) })
	}
	return nil
}

// Stop ends the delivering. What is on its way is sent again by another instance.
func (w *Webhooks) Stop() {
	w.mu.Lock()
	cancel := w.cancel
	w.mu.Unlock()
	if cancel == nil {
		return
	}
	cancel()
	w.done.Wait()
	for _, s := range w.senders {
		s.client.CloseIdleConnections()
	}
}

// errRedirect: a signed event goes to the address that was set, and nowhere else.
var errRedirect = errors.New("the receiver redirects")

func noRedirect(*http.Request, []*http.Request) error { return errRedirect }
