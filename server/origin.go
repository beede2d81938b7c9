package server

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
)

// origins are the browser origins that may connect. It is safe for concurrent use.
type origins struct {
	// localOnly is set where clients name themselves on this machine alone: without a list only its own names
	// are the same host. Any site can have its name point here, and its pages would be of the same host.
	localOnly bool
	listed    atomic.Pointer[map[origin]bool]
}

// origin is an origin in one way of writing: lower case, and the port always there where the scheme has a
// usual one.
type origin struct{ scheme, host, port string }

func newOrigins(listed []string) *origins {
	o := new(origins)
	o.set(listed)
	return o
}

// set replaces the list for the requests that follow. An empty list allows the same host only. What is no
// origin is left out: it could never be sent.
func (o *origins) set(listed []string) {
	set := make(map[origin]bool, len(listed))
	for _, text := range listed {
		if parsed, ok := parseOrigin(text); ok {
			set[parsed] = true
		}
	}
	o.listed.Store(&set)
}

// allows reports whether a request may come from where it comes. A request without the header Origin is
// not a browser's, or not one across origins. Several such headers, or one that is no origin (`null` too),
// are refused.
func (o *origins) allows(r *http.Request) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	from, ok := parseOrigin(values[0])
	if !ok || len(values) > 1 {
		return false
	}
	if listed := *o.listed.Load(); len(listed) > 0 {
		return listed[from]
	}
	return from.sameHost(r) && (!o.localOnly || from.isLocal())
}

// isLocal tells of the names that only this machine has.
func (o origin) isLocal() bool {
	address, err := netip.ParseAddr(o.host)
	return o.host == "localhost" || err == nil && address.IsLoopback()
}

// sameHost compares with the host that the request was sent to. Its scheme is not known for sure: a proxy may
// have ended TLS, so plain HTTP here says nothing, but TLS here does.
func (o origin) sameHost(r *http.Request) bool {
	if o.scheme != "https" && (o.scheme != "http" || r.TLS != nil) {
		return false
	}
	host, ok := parseOrigin(o.scheme + "://" + r.Host)
	return ok && host == o
}

// parseOrigin reads scheme://host or scheme://host:port and nothing else.
func parseOrigin(text string) (origin, bool) {
	text = strings.ToLower(text)
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Hostname() == "" || text != u.Scheme+"://"+u.Host {
		return origin{}, false
	}
	port := u.Port()
	switch {
	case port != "":
	case strings.HasSuffix(u.Host, ":"):
		return origin{}, false
	case u.Scheme == "http":
		port = "80"
	case u.Scheme == "https":
		port = "443"
	}
	return origin{u.Scheme, u.Hostname(), port}, true
}
