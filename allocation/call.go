package allocation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// maxReplyBytes is how much of a reply is read: an endpoint, and what an allocator may say besides.
const maxReplyBytes = 64 << 10

// quotedBytes is how much of a reply that is an error goes to the log.
const quotedBytes = 200

// failure is an attempt that brought no endpoint.
type failure struct {
	outcome Outcome
	// after is the pause that the allocator asked for, 0 for none.
	after time.Duration
	err   error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// badReply is a reply that cannot be used.
func badReply(format string, args ...any) *failure {
	return &failure{outcome: BadReply, err: fmt.Errorf(format, args...)}
}

// newClient builds the client for all allocators. It takes no proxy from the environment: allocators are
// neighbours, and a HTTP_PROXY meant for something else would see every match, or nothing would arrive. It
// follows no redirect: one would carry a signed request to where the operator did not send it. A connection is
// kept for the next match, as many as are asked at a time.
func newClient(inFlight int) *http.Client {
	dialer := &net.Dialer{Timeout: MaxTimeout, KeepAlive: 15 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil,
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			MaxIdleConns:           4 * inFlight,
			MaxIdleConnsPerHost:    inFlight,
			IdleConnTimeout:        90 * time.Second,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 16 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// call is one request to an allocator.
type call struct {
	url    string
	body   []byte
	header http.Header
}

// post sends a call and returns the body of a reply that says that all went well. What did not is a *failure.
func post(ctx context.Context, client *http.Client, c call) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(c.body))
	if err != nil {
		return nil, &failure{outcome: Refused, err: withoutURL(err)}
	}
	request.Header = c.header
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return nil, unanswered(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxReplyBytes+1))
	if err != nil {
		return nil, unanswered(err)
	}
	if outcome := outcomeOf(response.StatusCode); outcome != Allocated {
		return nil, &failure{
			outcome: outcome, after: retryAfter(response.Header),
			err: fmt.Errorf("allocator answered %d: %q", response.StatusCode, body[:min(len(body), quotedBytes)]),
		}
	}
	if len(body) > maxReplyBytes {
		return nil, badReply("reply has more than %d bytes", maxReplyBytes)
	}
	return body, nil
}

// outcomeOf is what a status means. A client error is one of ours: the same request will be refused again, but
// for those that speak of the moment.
func outcomeOf(status int) Outcome {
	switch {
	case status >= 200 && status < 300:
		return Allocated
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly,
		status == http.StatusTooManyRequests:
		return Failed
	case status >= 400 && status < 500:
		return Refused
	}
	return Failed
}

// unanswered is the failure of a request without an answer, or with half of one.
func unanswered(err error) *failure {
	f := &failure{outcome: Failed, err: withoutURL(err)}
	if timeout := net.Error(nil); errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		f.outcome = TimedOut
	}
	return f
}

// withoutURL is an error without the URL that was called, which may hold what does not belong into a log.
func withoutURL(err error) error {
	if e := (*url.Error)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
