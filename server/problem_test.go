package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"

	"muster/protocol"
)

// wantProblem checks that an answer is a problem of the status and code, and returns its members.
func wantProblem(t *testing.T, status int, header http.Header, body []byte, wantStatus int, wantCode string) map[string]any {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(body, &members); err != nil {
		t.Fatalf("body %q: %v", body, err)
	}
	if status != wantStatus || members["code"] != wantCode || members["status"] != float64(wantStatus) {
		t.Errorf("status %d, problem %v, want %d %s", status, members, wantStatus, wantCode)
	}
	if got := header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type = %q", got)
	}
	return members
}

func answerOf(e *protocol.Error) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(w)
	writeProblem(c, e)
	return w
}

func TestProblemHasTheMembersOfItsError(t *testing.T) {
	t.Parallel()
	queued := protocol.NewError(protocol.CodeAlreadyQueued)
	queued.ID, queued.TicketID = "an id of the WebSocket has no place here", "t1"
	inMatch := protocol.NewError(protocol.CodeInMatch)
	inMatch.Match = &protocol.Match{ID: "m1", World: "w", State: protocol.StateComplete}
	for _, c := range []struct {
		e    *protocol.Error
		want map[string]any
	}{
		{protocol.Errorf(protocol.CodeBadMessage, "world: missing"), map[string]any{
			"type": "about:blank", "title": "Bad Request", "status": 400.0, "detail": "world: missing", "code": "bad_message"}},
		{queued, map[string]any{
			"type": "about:blank", "title": "Conflict", "status": 409.0, "detail": queued.Message, "code": "already_queued", "ticket_id": "t1"}},
		{protocol.NewError(protocol.CodeRateLimited).RetryAfter(1500), map[string]any{
			"type": "about:blank", "title": "Too Many Requests", "status": 429.0, "detail": "too many requests", "code": "rate_limited", "retry_after_ms": 1500.0}},
	} {
		w := answerOf(c.e)
		got := wantProblem(t, w.Code, w.Header(), w.Body.Bytes(), int(c.want["status"].(float64)), c.e.Code)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.e.Code, diff)
		}
	}
	w := answerOf(inMatch)
	got := wantProblem(t, w.Code, w.Header(), w.Body.Bytes(), 409, "in_match")
	if match, ok := got["match"].(map[string]any); !ok || match["id"] != "m1" {
		t.Errorf("match = %v", got["match"])
	}
}

func TestProblemSaysWhenToRetry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		e    *protocol.Error
		want string
	}{
		{"rounded up", protocol.NewError(protocol.CodeRateLimited).RetryAfter(1001), "2"},
		{"exact", protocol.NewError(protocol.CodeUnavailable).RetryAfter(3000), "3"},
		{"at least a second", protocol.NewError(protocol.CodeUnavailable).RetryAfter(0), "1"},
		{"always with 503", protocol.NewError(protocol.CodeDraining), "1"},
		{"not where it does not help", protocol.NewError(protocol.CodeBadMessage), ""},
	} {
		if got := answerOf(c.e).Header().Get("Retry-After"); got != c.want {
			t.Errorf("%s: Retry-After = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestProblemOfAMissingTokenNamesTheScheme(t *testing.T) {
	t.Parallel()
	if got := answerOf(protocol.NewError(protocol.CodeUnauthorized)).Header().Get("WWW-Authenticate"); got != "Bearer" {
		t.Errorf("WWW-Authenticate = %q, want Bearer", got)
	}
}

func TestProblemSurvivesAttributesThatAreNoJSON(t *testing.T) {
	t.Parallel()
	e := protocol.NewError(protocol.CodeInMatch)
	e.Match = &protocol.Match{ID: "m1", Attributes: json.RawMessage("{")}
	w := answerOf(e)
	if got := wantProblem(t, w.Code, w.Header(), w.Body.Bytes(), 409, "in_match"); got["match"] != nil {
		t.Errorf("match = %v", got["match"])
	}
}
