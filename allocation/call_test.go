package allocation

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/internal/ident"
	"muster/store"
)

func TestAnAnswerThatIsLateFailsTheAttempt(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(int, http.ResponseWriter, *http.Request){
		"no answer": stall,
		"half an answer": func(n int, w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, `{"endpoint":`)
			_ = http.NewResponseController(w).Flush()
			stall(n, w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := receive(t, answer)
			fake := newFakeStore(aMatch("m1"))
			s := rec.webhook()
			s.Timeout, s.Attempts = 200*time.Millisecond, 2
			_, seen := start(t, Options{Store: fake, Settings: always(s)})
			if m := fake.settled(t, "m1"); m.state != cancelled || len(rec.requests()) != 2 {
				t.Errorf("match = %+v, %d requests", m, len(rec.requests()))
			}
			if got := seen.all(); !slices.Equal(got, []Outcome{TimedOut, TimedOut}) {
				t.Errorf("outcomes = %v", got)
			}
			if took := seen.took[0]; took < 200*time.Millisecond || took > time.Minute {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestClient_BoundsResponseHeaders(t *testing.T) {
	t.Parallel()
	rec := receive(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 0 {
			w.Header().Set("X-Long", strings.Repeat("x", 64<<10))
		}
		reply(http.StatusOK, goodReply)(n, w, r)
	})
	fake := newFakeStore(aMatch("m1"))
	_, seen := start(t, Options{Store: fake, Settings: always(rec.webhook())})
	fake.settled(t, "m1")
	if got := seen.all(); !slices.Equal(got, []Outcome{Failed, Allocated}) {
		t.Errorf("outcomes = %v", got)
	}
}

// A receiver that answers each request twice: whatever of it is read as an answer to the next request, no match
// gets the endpoint of another.
func TestASecondAnswerIsNobodys(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	t.Cleanup(func() { _ = listener.Close() })
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { answerTwice(conn) })
		}
	})
	var matches []store.Match
	for i := range 50 {
		matches = append(matches, aMatch(ident.Match(fmt.Sprintf("m%d", i))))
	}
	fake := newFakeStore(matches...)
	s := Settings{Webhook: "http://" + listener.Addr().String(), Timeout: 5 * time.Second, Attempts: 50}
	start(t, Options{Store: fake, Settings: always(s), InFlight: 1})
	for _, m := range matches {
		if got := fake.settled(t, m.ID); got.state != complete || got.endpoint != strconv.Quote(string(m.ID)) {
			t.Errorf("match = %+v", got)
		}
	}
}

// answerTwice answers each request with the match's id as its endpoint, and at once once more.
func answerTwice(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReader(conn)
	for {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return
		}
		match := request.Header.Get("Idempotency-Key")
		body := fmt.Sprintf(`{"match_id":%q,"endpoint":%q}`, match, match)
		for range 2 {
			if _, err := fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
				return
			}
		}
	}
}

func TestAnAllocatorThatCannotBeReachedFailsTheAttempt(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	fake := newFakeStore(aMatch("m1"))
	_, seen := start(t, Options{Store: fake, Settings: always(Settings{Webhook: "http://" + address, Timeout: time.Second, Attempts: 2})})
	if m := fake.settled(t, "m1"); m.state != cancelled || m.attempt != 2 {
		t.Errorf("match = %+v", m)
	}
	if got := seen.all(); !slices.Equal(got, []Outcome{Failed, Failed}) {
		t.Errorf("outcomes = %v", got)
	}
}

func TestErrorsDoNotShowTheURL(t *testing.T) {
	t.Parallel()
	client := newClient(1)
	for _, url := range []string{"http://127.0.0.1:1/?token=hunter2", "http://hunter2 /", "http://h:hunter2/"} {
		_, err := post(t.Context(), client, call{url: url, header: http.Header{}})
		var failed *failure
		if !errors.As(err, &failed) || strings.Contains(err.Error(), "hunter2/?") || strings.Contains(err.Error(), "token=") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	var (
		mu    sync.Mutex
		peers = map[string]bool{}
	)
	rec := receive(t, func(n int, w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		peers[r.RemoteAddr] = true
		mu.Unlock()
		if n%2 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable) // is no reason to hang up
		}
		_, _ = io.WriteString(w, goodReply)
	})
	client := newClient(4)
	t.Cleanup(client.CloseIdleConnections)
	for range 10 {
		if _, err := post(t.Context(), client, call{url: rec.url, header: http.Header{}}); err != nil && failureOf(t.Context(), err).outcome != Failed {
			t.Fatal(err)
		}
	}
	if len(peers) != 1 {
		t.Errorf("%d connections for 10 requests", len(peers))
	}
}
