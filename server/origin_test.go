package server

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
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
		"http://muster.example":    true, // the server's own host: the list adds to it
		"http://muster.example:81": false,
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

// Pages without a host of their own: local files, sandboxed frames, applications.
func TestOrigins_WithoutAHostCanBeListed(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{"null", "file://", "app://-", "chrome-extension://abcdef"} {
		if newOrigins(nil).allows(requestFrom("h", origin)) {
			t.Errorf("%s is allowed without being listed", origin)
		}
		o := newOrigins([]string{origin})
		if !o.allows(requestFrom("h", origin)) {
			t.Errorf("%s is listed and refused", origin)
		}
		if o.allows(requestFrom("h", "https://evil.example")) {
			t.Errorf("where %s is listed all are allowed", origin)
		}
	}
}

func TestOrigins_OfThisMachineMayConnectToIt(t *testing.T) {
	t.Parallel()
	o := newOrigins(nil)
	o.localOnly = true
	for origin, want := range map[string]bool{
		"http://localhost:3000": true, "http://127.0.0.1:5173": true, "https://[::1]:8443": true, "http://app.localhost:3000": true,
		"http://127.0.0.1:8080": true, "http://localhost": true, "http://rebound.example:8080": false, "http://localhost.example": false,
		"http://notlocalhost": false, "null": false, "file://": false, "app://localhost": false,
	} {
		for _, host := range []string{"127.0.0.1:8080", "localhost:8080", "rebound.example:8080"} {
			if got := o.allows(requestFrom(host, origin)); got != want {
				t.Errorf("%s to %s: allowed %v, want %v", origin, host, got, want)
			}
		}
	}
	o.set([]string{"http://rebound.example:8080"})
	if !o.allows(requestFrom("rebound.example:8080", "http://rebound.example:8080")) {
		t.Error("an origin that is listed was refused")
	}
}

func TestOrigins_AreLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	var r refusals
	now := time.Now()
	logged := 0
	for range 3 {
		for i := range 100 {
			if r.isNew(fmt.Sprint("https://evil", i, ".example"), now) {
				logged++
			}
		}
	}
	if logged != refusalsLogged || !r.isNew("https://evil0.example", now.Add(refusalPeriod)) {
		t.Errorf("%d lines", logged)
	}
}

func TestOrigins_ReadAnswersIfAllowed(t *testing.T) {
	t.Parallel()
	i := run(t, serving(duel("voice")))
	ask := func(method, path, origin string) (int, http.Header) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+i.address+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", origin)
		if method == http.MethodOptions {
			r.Header.Set("Access-Control-Request-Method", "POST")
			r.Header.Set("Access-Control-Request-Headers", "content-type,x-player-id")
		}
		response, err := stranger.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }() // its headers count
		return response.StatusCode, response.Header
	}
	const own, evil = "http://localhost:3000", "https://evil.example"
	for _, c := range []struct {
		method, path, origin string
		status               int
		allowed              string
	}{
		{get, worldsPath, own, 200, own},
		{get, queuePath + "nowhere", own, 404, own},
		{get, "/muster.js", own, 200, own},
		{get, "/healthz", own, 200, own},
		{http.MethodOptions, joinPath, own, 204, own},
		{get, worldsPath, evil, 403, ""},
		{get, "/muster.js", evil, 200, ""},
		{http.MethodOptions, joinPath, evil, 403, ""},
	} {
		status, header := ask(c.method, c.path, c.origin)
		if got := header.Get("Access-Control-Allow-Origin"); status != c.status || got != c.allowed || header.Get("Vary") != "Origin" {
			t.Errorf("%s %s from %s: %d, allowed %q, want %d, %q", c.method, c.path, c.origin, status, got, c.status, c.allowed)
		}
		preflight := c.status == http.StatusNoContent
		if got := header.Get("Access-Control-Allow-Headers"); strings.Contains(got, playerHeader) != preflight {
			t.Errorf("%s %s from %s: allowed headers %q", c.method, c.path, c.origin, got)
		}
	}
	lines := i.log.lines(t, "origin refused; to let its pages connect add it to the setting origins")
	if len(lines) != 1 || lines[0]["origin"] != evil || lines[0]["level"] != "warn" {
		t.Errorf("logged %v", lines)
	}
}
