package server

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"
)

func requestFrom(host string, origin ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/v1/ws", nil)
	r.Host = host
	for _, o := range origin {
		r.Header.Add("Origin", o)
	}
	return r
}

func TestOriginOfTheSameHost(t *testing.T) {
	t.Parallel()
	o := newOrigins(nil)
	for _, c := range []struct {
		name, host, origin string
		want               bool
	}{
		{"same host and port", "localhost:8080", "http://localhost:8080", true},
		{"case does not matter", "Play.Example", "HTTPS://play.example", true},
		{"behind a proxy that ends TLS", "play.example", "https://play.example", true},
		{"usual port of the scheme", "play.example:443", "https://play.example", true},
		{"usual port of the other scheme", "play.example:443", "http://play.example", false},
		{"IPv6", "[::1]:8080", "http://[::1]:8080", true},
		{"other port", "localhost:8080", "http://localhost:8081", false},
		{"other host", "play.example", "https://evil.example", false},
		{"host as a prefix", "play.example", "https://play.example.evil.example", false},
		{"host as a user", "play.example", "https://play.example@evil.example", false},
		{"not a page of the web", "play.example", "app://play.example", false},
		{"null", "play.example", "null", false},
		{"null as the host", "null", "null", false},
		{"empty", "play.example", "", false},
		{"with a path", "play.example", "https://play.example/", false},
		{"no host at all", "", "https://", false},
		{"colon without a port", "play.example", "https://play.example:", false},
	} {
		if got := o.allows(requestFrom(c.host, c.origin)); got != c.want {
			t.Errorf("%s: host %q, origin %q: allowed %v, want %v", c.name, c.host, c.origin, got, c.want)
		}
	}
}

func TestOriginOfAListedHost(t *testing.T) {
	t.Parallel()
	o := newOrigins([]string{"https://game.example", "http://dev.example:3000", "capacitor://localhost", "not an origin"})
	for origin, want := range map[string]bool{
		"https://game.example":     true,
		"https://GAME.example:443": true,
		"http://dev.example:3000":  true,
		"capacitor://localhost":    true,
		"http://game.example":      false,
		"https://game.example:444": false,
		"https://a.game.example":   false,
		"http://dev.example":       false,
		"not an origin":            false,
		"null":                     false,
		"http://muster.example":    false, // the server's own host: the list is the whole truth
	} {
		if got := o.allows(requestFrom("muster.example", origin)); got != want {
			t.Errorf("origin %q: allowed %v, want %v", origin, got, want)
		}
	}
}

func TestOriginIsOneHeaderOrNone(t *testing.T) {
	t.Parallel()
	o := newOrigins(nil)
	if !o.allows(requestFrom("play.example")) {
		t.Error("a native client, which sends no Origin, was refused")
	}
	if o.allows(requestFrom("play.example", "https://play.example", "https://play.example")) {
		t.Error("two headers were allowed")
	}
}

func TestOriginOverTLSIsNotPlain(t *testing.T) {
	t.Parallel()
	r := requestFrom("play.example:80", "http://play.example")
	o := newOrigins(nil)
	if !o.allows(r) {
		t.Error("plain origin over plain HTTP was refused")
	}
	r.TLS = new(tls.ConnectionState)
	if o.allows(r) {
		t.Error("plain origin over TLS was allowed")
	}
}

func TestOriginsAreReplaced(t *testing.T) {
	t.Parallel()
	o := newOrigins([]string{"https://old.example"})
	o.set([]string{"https://new.example"})
	if o.allows(requestFrom("h", "https://old.example")) || !o.allows(requestFrom("h", "https://new.example")) {
		t.Error("the old list still holds")
	}
}

func TestOnThisMachineAloneOnlyItsOwnNamesAreTheSameHost(t *testing.T) {
	t.Parallel()
	o := newOrigins(nil)
	o.localOnly = true
	for host, want := range map[string]bool{
		"localhost:8080": true, "127.0.0.1:8080": true, "[::1]:8080": true, "rebound.example:8080": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/v1/ws", http.NoBody)
		r.Host = host
		r.Header.Set("Origin", "http://"+host)
		if got := o.allows(r); got != want {
			t.Errorf("%s: allowed %v, want %v", host, got, want)
		}
	}
	o.set([]string{"http://rebound.example:8080"})
	r := httptest.NewRequest(http.MethodGet, "/v1/ws", http.NoBody)
	r.Header.Set("Origin", "http://rebound.example:8080")
	if !o.allows(r) {
		t.Error("an origin that is listed was refused")
	}
}
