package server

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"muster/protocol"
)

// problem is the body of an error in HTTP, RFC 9457.
type problem struct {
	Type         string          `json:"type"`
	Title        string          `json:"title"`
	Status       int             `json:"status"`
	Detail       string          `json:"detail,omitempty"`
	Code         string          `json:"code"`
	RetryAfterMS *int64          `json:"retry_after_ms,omitempty"`
	TicketID     string          `json:"ticket_id,omitempty"`
	Match        *protocol.Match `json:"match,omitempty"`
}

// writeProblem answers with an error, under the status of its code, and ends the chain of handlers.
func writeProblem(c *gin.Context, e *protocol.Error) {
	writeProblemAs(c.Writer, protocol.LookupCode(e.Code).HTTPStatus, e)
	c.Abort()
}

// writeProblemAs answers with an error under another status, where HTTP has a more exact one than the code.
func writeProblemAs(w http.ResponseWriter, status int, e *protocol.Error) {
	body, err := json.Marshal(problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: e.Message, Code: e.Code, RetryAfterMS: e.RetryAfterMS, TicketID: e.TicketID, Match: e.Match,
	})
	if err != nil { // attributes of the match that are no JSON: the error itself can still be told
		without := *e
		without.Match = nil
		writeProblemAs(w, status, &without)
		return
	}
	body = append(body, '\n') // a shell's prompt does not follow it on its line
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if seconds := retryAfterSeconds(status, e.RetryAfterMS); seconds > 0 {
		h.Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer") // required with 401, RFC 9110
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone, then
}

// retryAfterSeconds is the value of Retry-After, 0 for none. It is rounded up: a client that comes a little
// late succeeds. A 503 always has one.
func retryAfterSeconds(status int, ms *int64) int64 {
	switch {
	case ms != nil:
		return max((*ms+999)/1000, 1)
	case status == http.StatusServiceUnavailable:
		return 1
	}
	return 0
}
