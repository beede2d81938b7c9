package allocation

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAStatusSaysWhetherToAskAgain(t *testing.T) {
	t.Parallel()
	for status, final := range map[int]bool{
		http.StatusBadRequest: true, http.StatusUnauthorized: true, http.StatusForbidden: true, http.StatusNotFound: true,
		http.StatusUnprocessableEntity: true,
		http.StatusRequestTimeout:      false, http.StatusConflict: false, http.StatusTooEarly: false,
		http.StatusTooManyRequests: false, http.StatusInternalServerError: false, http.StatusServiceUnavailable: false,
		http.StatusNotModified: false,
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			rec := receive(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				if n == 0 {
					w.WriteHeader(status)
					return
				}
				_, _ = io.WriteString(w, goodReply)
			})
			fake := newFakeStore(aMatch("m1"))
			_, seen := start(t, Options{Store: fake, Settings: always(rec.webhook())})
			m := fake.settled(t, "m1")
			got, asked := seen.all(), rec.requests()
			if final {
				if m.state != cancelled || len(asked) != 1 || !slices.Equal(got, []Outcome{Refused}) {
					t.Errorf("match %+v, %d requests, %v", m, len(asked), got)
				}
				return
			}
			if m.state != complete || len(asked) != 2 || !slices.Equal(got, []Outcome{Failed, Allocated}) {
				t.Fatalf("match %+v, %d requests, %v", m, len(asked), got)
			}
			if a, b := asked[0], asked[1]; !strings.Contains(a.body, `"attempt":1,`) || !strings.Contains(b.body, `"attempt":2,`) ||
				a.header.Get("Idempotency-Key") != b.header.Get("Idempotency-Key") {
				t.Errorf("asked %+v", asked)
			}
		})
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := receive(t, reply(http.StatusOK, goodReply))
	for _, status := range []int{http.StatusMovedPermanently, http.StatusSeeOther, http.StatusPermanentRedirect} {
		rec := receive(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", elsewhere.url)
			w.WriteHeader(status)
		})
		fake := newFakeStore(aMatch("m1"))
		s := rec.webhook()
		s.Attempts = 1
		start(t, Options{Store: fake, Settings: always(s)})
		if m := fake.settled(t, "m1"); m.state != cancelled {
			t.Errorf("%d: match = %+v", status, m)
		}
	}
	if n := len(elsewhere.requests()); n != 0 {
		t.Errorf("%d requests followed", n)
	}
}

func TestTheLastAttemptCancelsTheMatchAndPausesGrow(t *testing.T) {
	t.Parallel()
	rec := receive(t, reply(http.StatusInternalServerError, "out of order"))
	fake := newFakeStore(aMatch("m1"))
	start(t, Options{Store: fake, Settings: always(rec.webhook())})
	m := fake.settled(t, "m1")
	if m.state != cancelled || len(rec.requests()) != 3 || len(m.pauses) != 2 {
		t.Fatalf("match = %+v, %d requests", m, len(rec.requests()))
	}
	for i, p := range m.pauses {
		if most := backoffBase << i; p < most/2 || p > most {
			t.Errorf("pause %d = %s, want %s to %s", i, p, most/2, most)
		}
	}
}

func TestRetryAfterIsHeeded(t *testing.T) {
	t.Parallel()
	rec := receive(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 0 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, goodReply)
	})
	fake := newFakeStore(aMatch("m1"))
	start(t, Options{Store: fake, Settings: always(rec.webhook())})
	fake.settled(t, "m1")
	asked := rec.requests()
	if len(asked) != 2 || asked[1].at.Sub(asked[0].at) < time.Second {
		t.Errorf("asked %+v", asked)
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attempt     int
		asked       time.Duration
		least, most time.Duration
	}{
		{1, 0, 100 * time.Millisecond, 200 * time.Millisecond},
		{2, 0, 200 * time.Millisecond, 400 * time.Millisecond},
		{6, 0, 3200 * time.Millisecond, 6400 * time.Millisecond},
		{7, 0, 5 * time.Second, 10 * time.Second},
		{1000, 0, 5 * time.Second, 10 * time.Second},
		{1, time.Second, time.Second, time.Second},
		{1, time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond},
		{1, time.Hour, 30 * time.Second, 30 * time.Second},
	} {
		seen := map[time.Duration]bool{}
		for range 100 {
			p := pause(c.attempt, c.asked)
			seen[p] = true
			if p < c.least || p > c.most {
				t.Errorf("pause(%d, %s) = %s, want %s to %s", c.attempt, c.asked, p, c.least, c.most)
			}
		}
		if c.least < c.most && len(seen) < 10 {
			t.Errorf("pause(%d, %s) has no jitter", c.attempt, c.asked)
		}
	}
}

func TestRetryAfterHeader(t *testing.T) {
	t.Parallel()
	const date = "Sun, 29 Nov 2026 12:00:00 GMT"
	for _, c := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0},
		{"2", "", 2 * time.Second},
		{"-2", "", 0},
		{"0", "", 0},
		{"86400", "", 30 * time.Second},
		{"9223372036854775807", "", 30 * time.Second},
		{"99999999999999999999999", "", 0},
		{"soon", "", 0},
		{"Sun, 29 Nov 2026 12:00:07 GMT", date, 7 * time.Second},
		{"Sun, 29 Nov 2026 11:00:00 GMT", date, 0},
		{"Mon, 30 Nov 2026 12:00:00 GMT", date, 30 * time.Second},
		{"Sun, 29 Nov 2026 12:00:07 GMT", "", 0},
	} {
		h := http.Header{"Retry-After": {c.value}, "Date": {c.date}}
		if got := retryAfter(h); got != c.want {
			t.Errorf("%q at %q = %s, want %s", c.value, c.date, got, c.want)
		}
	}
}
