package server

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// called is the answer to an HTTP request.
type called struct {
	status int
	header http.Header
	body   object // nil where there is none
}

// problemFields are those of RFC 9457, and those of an error message but for its type and id.
var problemFields = fields{
	"type": text, "title": text, "status": from(400), "detail": text, "code": id,
	"retry_after_ms?": from(1), "ticket_id?": id, "match?": match,
}

// call sends an HTTP request as a player; "" is nobody. A problem is held against the protocol's rules.
func (i *instance) call(player, method, path, body string) called {
	i.tb.Helper()
	r, err := http.NewRequestWithContext(i.tb.Context(), method, "http://"+i.address+path, strings.NewReader(body))
	if err != nil {
		i.tb.Fatal(err)
	}
	if player != "" {
		r.Header.Set(playerHeader, player)
	}
	return i.send(r)
}

func (i *instance) send(r *http.Request) called {
	i.tb.Helper()
	response, err := stranger.Do(r)
	if err != nil {
		i.tb.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		i.tb.Fatal(err)
	}
	a := called{status: response.StatusCode, header: response.Header}
	if len(raw) > 0 {
		if !bytes.HasSuffix(raw, []byte("}\n")) {
			i.tb.Errorf("%s %s: the answer does not end its line: %q", r.Method, r.URL.Path, raw)
		}
		if a.body, err = parseObject(raw); err != nil {
			i.tb.Fatalf("%s %s: %v: %s", r.Method, r.URL.Path, err, raw)
		}
	}
	kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	switch {
	case a.status >= http.StatusBadRequest:
		wantSoundProblem(i.tb, a, kind)
	case len(raw) > 0 && kind != "application/json":
		i.tb.Errorf("%s %s: content type %q", r.Method, r.URL.Path, kind)
	}
	return a
}

// wantSoundProblem checks what holds for every problem.
func wantSoundProblem(tb testing.TB, a called, kind string) {
	tb.Helper()
	if kind != "application/problem+json" {
		tb.Errorf("status %d with content type %q", a.status, kind)
	}
	fault := problemFields.check(a.body)
	if fault == "" {
		fault = errorFault(a.body)
	}
	if fault != "" {
		tb.Errorf("problem: %s: %v", fault, a.body)
	}
	if number(a.body, "status") != int64(a.status) {
		tb.Errorf("status %d says %v", a.status, a.body["status"])
	}
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	_, due := a.body["retry_after_ms"]
	if due != (err == nil && seconds >= 1) {
		tb.Errorf("%v with Retry-After %q", a.body["code"], a.header.Get("Retry-After"))
	}
}

// wantStatus calls, and checks the status and some fields of the body.
func (i *instance) wantStatus(status int, want object, player, method, path, body string) called {
	i.tb.Helper()
	a := i.call(player, method, path, body)
	if a.status != status {
		i.tb.Fatalf("%s %s %s: status %d, want %d: %v", method, path, body, a.status, status, a.body)
	}
	wantFields(i.tb, a.body, want)
	return a
}

// wantShape checks a body against the protocol's tables.
func wantShape(tb testing.TB, f fields, o object) {
	tb.Helper()
	if fault := f.check(o); fault != "" {
		tb.Errorf("%s: %v", fault, o)
	}
}
