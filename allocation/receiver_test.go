package allocation

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/ident"
)

// asked is a request as a receiver got it.
type asked struct {
	at     time.Time
	path   string
	header http.Header
	body   string
}

// receiver is an allocator behind a real listener.
type receiver struct {
	url string

	mu sync.Mutex
	// guarded by mu
	asked []asked
}

// receive starts a receiver whose n-th answer, counted from 0, a function gives.
func receive(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *receiver {
	t.Helper()
	rec := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("body: %v", err)
		}
		rec.mu.Lock()
		n := len(rec.asked)
		rec.asked = append(rec.asked, asked{time.Now(), r.URL.Path, r.Header.Clone(), string(body)})
		rec.mu.Unlock()
		answer(n, w, r)
	}))
	t.Cleanup(server.Close)
	rec.url = server.URL
	return rec
}

func (r *receiver) requests() []asked {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]asked(nil), r.asked...)
}

// reply answers with a status and a body.
func reply(status int, body string) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// stall answers only when the client has gone.
func stall(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

const goodReply = `{"endpoint": {"address": "10.0.0.7", "port": 7777}, "note": "x"}`
const goodEndpoint = `{"address":"10.0.0.7","port":7777}`

// outcomes counts what an Observer is told.
type outcomes struct {
	mu sync.Mutex
	// guarded by mu
	list      []Outcome
	took      []time.Duration
	abandoned int
}

func (o *outcomes) observer() Observer {
	return Observer{
		Attempted: func(_ ident.World, outcome Outcome, took time.Duration) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.list, o.took = append(o.list, outcome), append(o.took, took)
		},
		Abandoned: func(ident.World) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.abandoned++
		},
	}
}

func (o *outcomes) all() []Outcome {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]Outcome(nil), o.list...)
}

// always is the Settings function of a realm whose only world has these.
func always(s Settings) func(ident.World) (Settings, bool) {
	return func(world ident.World) (Settings, bool) { return s, world == "w" }
}

// webhook are the settings of a world with this receiver.
func (r *receiver) webhook() Settings {
	return Settings{Webhook: r.url + "/allocate", Timeout: 5 * time.Second, Attempts: 3}
}

// start starts a Worker that is stopped at the end of the test, and returns what it was seen to do.
func start(t *testing.T, o Options) (*Worker, *outcomes) {
	t.Helper()
	seen := &outcomes{}
	o.Observer, o.Logger, o.Realm, o.Version = seen.observer(), zerolog.New(zerolog.NewTestWriter(t)), "main", "1.2.3"
	w := New(o)
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w, seen
}
