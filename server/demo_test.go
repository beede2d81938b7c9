package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/gin-gonic/gin"
	"github.com/rs/zerolog"

	"muster/web"
)

func demoEngine() *gin.Engine {
	e := newEngine(zerolog.Nop(), nil, 64)
	serveDemo(e, fstest.MapFS{
		"index.html": {Data: []byte("<!doctype html>")},
		"app.js":     {Data: []byte("start()")},
		"img/a.svg":  {Data: []byte("<svg/>")},
		"data.bin":   {Data: []byte{0}},
	})
	return e
}

func TestDemoServesItsFiles(t *testing.T) {
	t.Parallel()
	e := demoEngine()
	for path, want := range map[string]struct{ kind, body string }{
		"/":          {"text/html; charset=utf-8", "<!doctype html>"},
		"/app.js":    {"text/javascript; charset=utf-8", "start()"},
		"/img/a.svg": {"image/svg+xml", "<svg/>"},
		"/data.bin":  {"application/octet-stream", "\x00"},
	} {
		w := serve(e, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK || w.Body.String() != want.body || w.Header().Get("Content-Type") != want.kind {
			t.Errorf("%s: %d %q %q, want %+v", path, w.Code, w.Header().Get("Content-Type"), w.Body, want)
		}
		if w.Header().Get("Content-Security-Policy") != demoPolicy || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", path, w.Header())
		}
		if w := serve(e, httptest.NewRequest(http.MethodHead, path, nil)); w.Code != http.StatusOK || w.Body.Len() != 0 {
			t.Errorf("HEAD %s: %d with %d bytes", path, w.Code, w.Body.Len())
		}
	}
	for _, path := range []string{"/img/", "/img", "/index.html/", "/../demo.go", "/app.js/x"} {
		if w := serve(e, httptest.NewRequest(http.MethodGet, path, nil)); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", path, w.Code)
		}
	}
}

func TestDemoIsAskedForAgainAndMostlyUnchanged(t *testing.T) {
	t.Parallel()
	e := demoEngine()
	first := serve(e, httptest.NewRequest(http.MethodGet, "/app.js", nil))
	tag := first.Header().Get("ETag")
	if tag == "" || first.Header().Get("Cache-Control") != "no-cache" {
		t.Fatalf("headers %v", first.Header())
	}
	for given, status := range map[string]int{tag: http.StatusNotModified, `"other"`: http.StatusOK} {
		r := httptest.NewRequest(http.MethodGet, "/app.js", nil)
		r.Header.Set("If-None-Match", given)
		if w := serve(e, r); w.Code != status {
			t.Errorf("If-None-Match %s: %d, want %d", given, w.Code, status)
		}
	}
	if other := serve(e, httptest.NewRequest(http.MethodGet, "/", nil)); other.Header().Get("ETag") == tag {
		t.Error("two files have the same tag")
	}
}

func TestDemoFilesHaveKnownTypes(t *testing.T) {
	t.Parallel()
	e := newEngine(zerolog.Nop(), nil, 64)
	serveDemo(e, web.Demo())
	checked := 0
	for _, route := range e.Routes() {
		if route.Method != http.MethodGet {
			continue
		}
		checked++
		w := serve(e, httptest.NewRequest(http.MethodGet, route.Path, nil))
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") == "application/octet-stream" {
			t.Errorf("%s: %d %s", route.Path, w.Code, w.Header().Get("Content-Type"))
		}
	}
	if checked < 2 {
		t.Errorf("only %d files", checked)
	}
}
