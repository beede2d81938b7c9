package server

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"muster/configs"
	"muster/protocol"
)

var errSettings = errors.New("muster.yaml:3: drain: must be a duration\nmuster.yaml:9: worlds: empty")

// opsHandler is the operations listener of an instance that drains and whose settings are wrong: so it
// needs no Redis.
func opsHandler(t testing.TB) (h http.Handler, reloads *int) {
	t.Helper()
	reloads = new(int)
	s := &Server{metrics: newMetrics("v1"), log: testLog(t)}
	s.config.Limits.MessageBytes = testFrameBytes
	s.draining.Store(true)
	s.opts = Options{Version: "v1", Reload: func() (configs.Config, error) {
		*reloads++
		return configs.Config{}, errSettings
	}}
	return s.opsHandler(), reloads
}

func TestOpsAnswers(t *testing.T) {
	t.Parallel()
	h, _ := opsHandler(t)
	for _, c := range []struct {
		path   string
		status int
		want   string
	}{
		{"/", http.StatusOK, "/metrics"},
		{"/metrics", http.StatusOK, `muster_build_info{version="v1"} 1`},
		{"/metrics", http.StatusOK, "go_goroutines"},
		{"/metrics", http.StatusOK, "process_start_time_seconds"},
		{"/healthz", http.StatusOK, `{"status":"ok"}`},
		{"/readyz", http.StatusServiceUnavailable, protocol.CodeDraining},
		{"/debug/pprof/", http.StatusOK, "goroutine"},
		{"/debug/pprof/goroutine?debug=1", http.StatusOK, "goroutine profile"},
		{"/debug/pprof/cmdline", http.StatusOK, "test"},
		{"/nothing", http.StatusNotFound, protocol.CodeBadMessage},
		{"/reload", http.StatusMethodNotAllowed, "POST"},
	} {
		w := serve(h, httptest.NewRequest(http.MethodGet, c.path, nil))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("GET %s: %d %.300s, want %d with %q", c.path, w.Code, w.Body, c.status, c.want)
		}
	}
}

// Load balancers ask with HEAD.
func TestOps_AnswersHEAD(t *testing.T) {
	t.Parallel()
	h, _ := opsHandler(t)
	for path, status := range map[string]int{
		"/": 200, "/metrics": 200, "/healthz": 200, "/readyz": http.StatusServiceUnavailable,
		"/reload": http.StatusMethodNotAllowed, "/nothing": http.StatusNotFound,
	} {
		if w := serve(h, httptest.NewRequest(http.MethodHead, path, http.NoBody)); w.Code != status {
			t.Errorf("HEAD %s: %d, want %d", path, w.Code, status)
		}
	}
}

func TestOpsTellsWhatIsWrongWithTheSettings(t *testing.T) {
	t.Parallel()
	h, reloads := opsHandler(t)
	w := serve(h, httptest.NewRequest(http.MethodPost, "/reload", nil))
	members := wantProblem(t, w.Code, w.Header(), w.Body.Bytes(), http.StatusUnprocessableEntity, protocol.CodeBadMessage)
	if members["detail"] != errSettings.Error() || *reloads != 1 {
		t.Errorf("detail %q after %d reloads", members["detail"], *reloads)
	}
}

func TestOpsRefusesPagesFromElsewhere(t *testing.T) {
	t.Parallel()
	h, reloads := opsHandler(t)
	r := httptest.NewRequest(http.MethodPost, "/reload", nil)
	r.Header.Set("Origin", "https://evil.example")
	w := serve(h, r)
	wantProblem(t, w.Code, w.Header(), w.Body.Bytes(), http.StatusForbidden, protocol.CodeUnauthorized)
	if *reloads != 0 {
		t.Error("the settings were read again")
	}
}
