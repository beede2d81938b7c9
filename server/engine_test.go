package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/rs/zerolog"

	"muster/protocol"
)

// testLog writes into the log of the test.
func testLog(t testing.TB) zerolog.Logger {
	return zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.InfoLevel)
}

// logged collects what is logged, one JSON object a line.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(line)
}

// lines are those with the message.
func (l *logged) lines(t testing.TB, message string) []map[string]any {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []map[string]any
	for dec := json.NewDecoder(bytes.NewReader(l.buf.Bytes())); ; {
		var line map[string]any
		if err := dec.Decode(&line); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		if line["message"] == message {
			found = append(found, line)
		}
	}
}

// testEngine is an engine with a few routes, and what it logs at debug.
func testEngine() (*gin.Engine, *logged) {
	log := new(logged)
	e := newEngine(zerolog.New(log), nil, 64)
	e.GET("/v1/matches/:id", func(c *gin.Context) { c.String(http.StatusOK, "match") })
	e.POST("/v1/echo", func(c *gin.Context) {
		body, err := io.ReadAll(c.Request.Body)
		if err != nil {
			c.String(http.StatusTeapot, err.Error())
			return
		}
		c.String(http.StatusOK, string(body))
	})
	e.GET("/v1/broken", func(*gin.Context) { panic("broken: 4711") })
	e.GET("/v1/away", func(c *gin.Context) { writeProblem(c, protocol.NewError(protocol.CodeUnavailable)) })
	e.GET("/v1/half", func(c *gin.Context) {
		c.String(http.StatusOK, "half an answ")
		c.Writer.Flush()
		panic("no more")
	})
	return e, log
}

func serve(e http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w
}

func TestEngineRefusesWithProblems(t *testing.T) {
	t.Parallel()
	e, _ := testEngine()
	for name, c := range map[string]struct {
		request *http.Request
		status  int
		code    string
	}{
		"no route":             {httptest.NewRequest(http.MethodGet, "/nothing/here", nil), http.StatusNotFound, protocol.CodeBadMessage},
		"no route with a body": {httptest.NewRequest(http.MethodPost, "/nothing", strings.NewReader(strings.Repeat("x", 100))), http.StatusNotFound, protocol.CodeBadMessage},
		"trailing slash":       {httptest.NewRequest(http.MethodGet, "/v1/away/", nil), http.StatusNotFound, protocol.CodeBadMessage},
		"wrong method":         {httptest.NewRequest(http.MethodPut, "/v1/matches/1", nil), http.StatusMethodNotAllowed, protocol.CodeBadMessage},
		"large body":           {httptest.NewRequest(http.MethodPost, "/v1/echo", strings.NewReader(strings.Repeat("x", 65))), http.StatusRequestEntityTooLarge, protocol.CodeBadMessage},
		"body cut off":         {httptest.NewRequest(http.MethodPost, "/v1/echo", io.MultiReader(strings.NewReader("x"), errorReader{})), http.StatusBadRequest, protocol.CodeBadMessage},
		"panic":                {httptest.NewRequest(http.MethodGet, "/v1/broken", nil), http.StatusInternalServerError, protocol.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(e, c.request)
			members := wantProblem(t, w.Code, w.Header(), w.Body.Bytes(), c.status, c.code)
			if strings.Contains(w.Body.String(), "4711") {
				t.Errorf("the client is told the cause: %v", members)
			}
			if c.status == http.StatusMethodNotAllowed && w.Header().Get("Allow") != http.MethodGet {
				t.Errorf("Allow = %q", w.Header().Get("Allow"))
			}
		})
	}
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestEngineHandsOverTheBody(t *testing.T) {
	t.Parallel()
	e, _ := testEngine()
	longest := strings.Repeat("x", 64)
	w := serve(e, httptest.NewRequest(http.MethodPost, "/v1/echo", strings.NewReader(longest)))
	if w.Code != http.StatusOK || w.Body.String() != longest {
		t.Errorf("%d %q, want the body back", w.Code, w.Body)
	}
	if w := serve(e, httptest.NewRequest(http.MethodPost, "/v1/echo", nil)); w.Code != http.StatusOK {
		t.Errorf("without a body: %d", w.Code)
	}
}

func TestEngineSetsSecurityHeaders(t *testing.T) {
	t.Parallel()
	e, _ := testEngine()
	for _, path := range []string{"/v1/matches/1", "/nothing", "/v1/broken"} {
		h := serve(e, httptest.NewRequest(http.MethodGet, path, nil)).Header()
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", path, h)
		}
	}
}

func TestEngineLogsOneLineARequestWithoutWhatTheClientMadeUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, target            string
		level, wantMethod, wantAs string
		status                    float64
	}{
		"a route":          {"GET", "/v1/matches/secret-1?token=secret-2", "debug", "GET", "/v1/matches/:id", 200},
		"no route":         {"GET", "/secret-1?secret-2", "debug", "GET", "unmatched", 404},
		"an invented word": {"SECRET-1", "/v1/away", "debug", "other", "unmatched", 405},
		"a failure":        {"GET", "/v1/broken?secret-2", "info", "GET", "/v1/broken", 500},
		"Redis away":       {"GET", "/v1/away", "debug", "GET", "/v1/away", 503},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, log := testEngine()
			r := httptest.NewRequest(c.method, c.target, nil)
			r.RemoteAddr = "203.0.113.9:1"
			r.Header.Set("Authorization", "Bearer secret-3")
			r.Header.Set("X-Forwarded-For", "1.1.1.1")
			serve(e, r)
			lines := log.lines(t, "request")
			if len(lines) != 1 {
				t.Fatalf("%d lines: %v", len(lines), lines)
			}
			line := lines[0]
			if line["level"] != c.level || line["method"] != c.wantMethod || line["path"] != c.wantAs || line["status"] != c.status ||
				line["client"] != "203.0.113.9" || line["dur_ms"] == nil {
				t.Errorf("line %v", line)
			}
			if strings.Contains(strings.ToLower(log.buf.String()), "secret") {
				t.Errorf("the log has what the client made up: %s", log.buf.String())
			}
		})
	}
}

func TestEngineLogsAPanicInFull(t *testing.T) {
	t.Parallel()
	e, log := testEngine()
	serve(e, httptest.NewRequest(http.MethodGet, "/v1/broken", nil))
	lines := log.lines(t, "handler panicked")
	if len(lines) != 1 || lines[0]["err"] != "broken: 4711" || lines[0]["level"] != "error" {
		t.Fatalf("lines %v", lines)
	}
	if stack, _ := lines[0]["stack"].(string); !strings.Contains(stack, "testEngine") {
		t.Errorf("the stack does not show where: %s", stack)
	}
}

func TestEngineCutsOffAnAnswerThatPanicked(t *testing.T) {
	t.Parallel()
	e, log := testEngine()
	server := httptest.NewServer(e)
	defer server.Close()
	response, err := server.Client().Get(server.URL + "/v1/half")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if body, err := io.ReadAll(response.Body); err == nil {
		t.Errorf("the client takes %q for the whole answer", body)
	}
	if lines := log.lines(t, "handler panicked"); len(lines) != 1 {
		t.Errorf("lines %v", lines)
	}
}

func TestEngineUpgrades(t *testing.T) {
	t.Parallel()
	e, log := testEngine()
	accepted := make(chan *transport, 1)
	e.GET("/", func(c *gin.Context) {
		s, err := accept(c.Writer, c.Request, 64)
		if err != nil {
			t.Errorf("accept: %v", err)
			return
		}
		accepted <- s
		if c.Query("panic") != "" {
			panic("after the upgrade")
		}
	})
	server := httptest.NewServer(e)
	defer server.Close()
	for _, target := range []string{"/", "/?panic=1"} {
		a := exchange(t, strings.TrimPrefix(server.URL, "http://"), strings.Replace(handshake(), "GET /", "GET "+target, 1))
		if a.status != http.StatusSwitchingProtocols {
			t.Fatalf("%s: status %d", target, a.status)
		}
		s := receive(t, accepted)
		if err := write(s, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		s.Abort()
		rest, err := io.ReadAll(a.conn)
		if err != nil || string(rest) != "\x81\x02{}" {
			t.Errorf("%s: after the upgrade came %q, %v, want the frame alone", target, rest, err)
		}
		_ = a.conn.Close()
	}
	for _, line := range log.lines(t, "request") {
		if line["status"] != 101.0 || line["path"] != "/" || line["level"] != "debug" {
			t.Errorf("line %v", line)
		}
	}
}

func TestHTTPServerDropsASlowHeader(t *testing.T) {
	t.Parallel()
	s := newHTTPServer(http.NotFoundHandler(), testLog(t))
	if s.ReadHeaderTimeout <= 0 || s.ReadHeaderTimeout > protocol.HelloTimeout || s.ReadTimeout <= 0 || s.WriteTimeout <= 0 || s.IdleTimeout <= 0 {
		t.Errorf("a stranger may hold a connection for ever: %+v", s)
	}
}

func TestHTTPServerRefusesALargeHeader(t *testing.T) {
	t.Parallel()
	address, _ := serveSockets(t)
	a := exchange(t, address, handshake("Authorization: Bearer "+strings.Repeat("x", 2*maxHeaderBytes)))
	if a.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d, want 431", a.status)
	}
}

func TestHTTPServerLogsAtDebugWhatClientsDo(t *testing.T) {
	t.Parallel()
	log := new(logged)
	s := newHTTPServer(http.NotFoundHandler(), zerolog.New(log))
	s.ErrorLog.Print("http: TLS handshake error from 203.0.113.9")
	s.ErrorLog.Print("http: Accept error: accept tcp 0.0.0.0:80: accept4: too many open files; retrying in 5ms")
	s.ErrorLog.Print("http: panic serving 203.0.113.9: oh")
	lines := log.lines(t, "http server")
	if len(lines) != 3 || lines[0]["level"] != "debug" || lines[1]["level"] != "warn" || lines[2]["level"] != "error" {
		t.Errorf("lines %v", lines)
	}
}
