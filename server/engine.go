package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/rs/zerolog"

	"muster/protocol"
)

// Limits of the HTTP that a stranger may speak. None of them touches a connection that has become a
// WebSocket: its deadlines are cleared in the upgrade.
const (
	headerTimeout  = 5 * time.Second  // as long as hello may take
	readTimeout    = 15 * time.Second // header and body; a body is small
	writeTimeout   = 30 * time.Second // from the end of the header; pprof extends it by what was asked for
	idleTimeout    = 60 * time.Second // between two requests of a connection
	maxHeaderBytes = 16 << 10         // a token is a few kilobytes
)

// unmatched stands for the path of a request that has no route. What a client made up is not logged.
const unmatched = "unmatched"

// newEngine is the engine for clients, without routes. What it refuses itself is a problem too. Bodies are read
// before their handler runs, up to maxBody bytes.
func newEngine(log zerolog.Logger, trusted proxies, maxBody int) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	// The address of a client is found by proxies.clientAddr, and nothing else may guess it.
	e.ForwardedByClientIP = false
	_ = e.SetTrustedProxies(nil) // fails for malformed prefixes only
	e.RedirectTrailingSlash = false
	e.HandleMethodNotAllowed = true
	e.Use(logAccess(log, trusted), recoverPanics(log), secure, readBody(int64(maxBody)))
	e.NoRoute(func(c *gin.Context) {
		refuse(c, http.StatusNotFound, "there is nothing under this path")
	})
	e.NoMethod(func(c *gin.Context) {
		refuse(c, http.StatusMethodNotAllowed, "this path takes "+c.Writer.Header().Get("Allow"))
	})
	return e
}

// getAndHead routes GET and HEAD to a handler that only reads. net/http sends no body in answer to HEAD.
func getAndHead(r gin.IRoutes, path string, handler gin.HandlerFunc) {
	r.GET(path, handler)
	r.HEAD(path, handler)
}

// refuse answers a request that no handler may see.
func refuse(c *gin.Context, status int, detail string) {
	writeProblemAs(c.Writer, status, protocol.Errorf(protocol.CodeBadMessage, "%s", detail))
	c.Abort()
}

// logAccess writes one line a request, without anything that a client could fill the log or smuggle a token
// with. Only failures of the server itself are of interest by default: 503 is not among them, because a Redis
// that is away would flood the log with them, and readyz and the metrics tell it.
func logAccess(log zerolog.Logger, trusted proxies) gin.HandlerFunc {
	return func(c *gin.Context) {
		start := time.Now()
		defer func() {
			status := c.Writer.Status()
			level := zerolog.DebugLevel
			if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable {
				level = zerolog.InfoLevel
			}
			if line := log.WithLevel(level); line.Enabled() {
				line.Str("method", knownMethod(c.Request.Method)).Str("path", route(c)).Int("status", status).
					Int64("dur_ms", time.Since(start).Milliseconds()).
					Stringer("client", trusted.clientAddr(c.Request)).Msg("request")
			}
		}()
		c.Next()
	}
}

// route is the template of the request's path, such as /v1/matches/:id.
func route(c *gin.Context) string {
	if path := c.FullPath(); path != "" {
		return path
	}
	return unmatched
}

// knownMethod is the method, if it is one that HTTP defines; any word would be accepted as one.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return method
	}
	return "other"
}

// recoverPanics logs a panic in full and answers `internal`. Where an answer has begun, or the connection is
// no longer HTTP's, nothing can be added to it: net/http then drops the connection if it still has it.
func recoverPanics(log zerolog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(http.ErrAbortHandler)
			}
			log.Error().Str("err", fmt.Sprint(cause)).Str("path", route(c)).Bytes("stack", debug.Stack()).Msg("handler panicked")
			if c.Writer.Written() {
				panic(http.ErrAbortHandler)
			}
			writeProblem(c, protocol.NewError(protocol.CodeInternal))
		}()
		c.Next()
	}
}

// secure sets the headers that every answer has: they are told to nobody else and taken for nothing else.
func secure(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

// readBody reads the body of a request that has a route, so that no handler need think of one that is too
// large, slow or cut off.
func readBody(limit int64) gin.HandlerFunc {
	return func(c *gin.Context) {
		body := c.Request.Body
		if body == nil || body == http.NoBody || c.FullPath() == "" {
			return
		}
		content, err := io.ReadAll(http.MaxBytesReader(c.Writer, body, limit))
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			c.Header("Connection", "close") // rather than read the rest
			refuse(c, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", limit))
		case err != nil:
			refuse(c, http.StatusBadRequest, "the body could not be read")
		default:
			c.Request.Body = io.NopCloser(bytes.NewReader(content))
		}
	}
}

// newHTTPServer serves a handler with time-outs fit for strangers. What net/http complains about is mostly
// the doing of clients and goes to debug.
func newHTTPServer(handler http.Handler, logger zerolog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          log.New(httpLog{logger}, "", 0),
	}
}

// httpLog takes the lines that net/http writes.
type httpLog struct{ log zerolog.Logger }

func (l httpLog) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line))
	level := zerolog.DebugLevel
	switch {
	case strings.HasPrefix(text, "http: panic serving"):
		level = zerolog.ErrorLevel
	case strings.HasPrefix(text, "http: Accept error"):
		level = zerolog.WarnLevel // out of files, or of memory
	}
	l.log.WithLevel(level).Str("err", text).Msg("http server")
	return len(line), nil
}
