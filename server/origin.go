package server

import (
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"muster/configs"
	"muster/protocol"
)

// origins are the browser origins that may connect. It is safe for concurrent use.
type origins struct {
	// localOnly is set where clients name themselves on this machine alone. Any origin of this machine may connect
	// then: development servers use ports of their own. Of the host that is asked only names of this machine count,
	// since any site can have its name point here, and its pages would be of the same host.
	localOnly bool
	listed    atomic.Pointer[map[configs.Origin]bool]
	refusals  refusals
}

func newOrigins(listed []string) *origins {
	o := new(origins)
	o.set(listed)
	return o
}

// set replaces the list for the requests that follow. It adds to the host that is asked. What is no origin is left
// out: it could never be sent.
func (o *origins) set(listed []string) {
	set := make(map[configs.Origin]bool, len(listed))
	for _, text := range listed {
		if parsed, ok := configs.ParseOrigin(text); ok {
			set[parsed] = true
		}
	}
	o.listed.Store(&set)
}

// allows reports whether a request may come from where it comes. A request without the header Origin is
// not a browser's, or not one across origins. Several such headers, or one that is no origin, are refused.
func (o *origins) allows(r *http.Request) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	from, ok := configs.ParseOrigin(values[0])
	switch {
	case !ok || len(values) > 1:
		return false
	case (*o.listed.Load())[from]:
		return true
	case o.localOnly:
		return isLocal(from)
	}
	return sameHost(from, r)
}

// isLocal tells of the origins that only this machine has.
func isLocal(o configs.Origin) bool {
	if o.Scheme != "http" && o.Scheme != "https" {
		return false
	}
	address, err := netip.ParseAddr(o.Host)
	return o.Host == "localhost" || strings.HasSuffix(o.Host, ".localhost") || err == nil && address.IsLoopback()
}

// sameHost compares with the host that the request was sent to. Its scheme is not known for sure: a proxy may
// have ended TLS, so plain HTTP here says nothing, but TLS here does.
func sameHost(o configs.Origin, r *http.Request) bool {
	if o.Scheme != "https" && (o.Scheme != "http" || r.TLS != nil) {
		return false
	}
	host, ok := configs.ParseOrigin(o.Scheme + "://" + r.Host)
	return ok && host == o
}

// crossOrigin lets pages of allowed origins read the answers and asks of browsers beforehand (CORS). It does not
// refuse anything but such a question: see refuseForeign.
func (s *Server) crossOrigin(c *gin.Context) {
	header, asked := c.Writer.Header(), c.Request.Header
	header.Add("Vary", "Origin")
	from := asked.Get("Origin")
	if from == "" {
		return
	}
	allowed := s.origins.allows(c.Request)
	if allowed {
		header.Set("Access-Control-Allow-Origin", from)
		header.Set("Access-Control-Expose-Headers", "Retry-After")
	}
	if c.Request.Method != http.MethodOptions || asked.Get("Access-Control-Request-Method") == "" {
		return
	}
	if !allowed {
		s.refuseOrigin(c)
		return
	}
	header.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, DELETE")
	header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, "+playerHeader)
	header.Set("Access-Control-Max-Age", "600")
	c.AbortWithStatus(http.StatusNoContent)
}

// refuseForeign refuses what the pages of origins ask for that may not.
func (s *Server) refuseForeign(c *gin.Context) {
	if !s.origins.allows(c.Request) {
		s.refuseOrigin(c)
	}
}

// refuseOrigin answers 403, and says in the log what to do, since browsers do not show the answer.
func (s *Server) refuseOrigin(c *gin.Context) {
	s.metrics.refused(refusedOrigin)
	if from := strings.Join(c.Request.Header.Values("Origin"), ", "); s.origins.refusals.isNew(from, time.Now()) {
		s.log.Warn().Str("origin", from[:min(len(from), maxLoggedOrigin)]).Str("host", c.Request.Host[:min(len(c.Request.Host), maxLoggedOrigin)]).
			Msg("origin refused; to let its pages connect add it to the setting origins")
	}
	writeProblemAs(c.Writer, http.StatusForbidden,
		protocol.Errorf(protocol.CodeUnauthorized, "this origin may not connect; see the setting origins"))
	c.Abort()
}

const (
	// maxLoggedOrigin is how many bytes of an origin are logged.
	maxLoggedOrigin = 200
	// refusalsLogged is how many refused origins are logged in one refusalPeriod, so that nobody can fill the log.
	refusalsLogged = 10
	refusalPeriod  = time.Minute
)

// refusals remembers which origins were refused lately.
type refusals struct {
	mu sync.Mutex
	// guarded by mu
	since time.Time
	seen  map[string]bool
}

// isNew reports whether the refusal of an origin is to be logged: once a period.
func (r *refusals) isNew(from string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil || now.Sub(r.since) >= refusalPeriod {
		r.since, r.seen = now, make(map[string]bool)
	}
	if r.seen[from] || len(r.seen) >= refusalsLogged {
		return false
	}
	r.seen[from] = true
	return true
}
