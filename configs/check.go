package configs

import (
	"fmt"
	"net"
)

// checkServer looks at how the settings of the server go together; each by itself is right already.
func (l *loader) checkServer(c *Config) {
	if twice := 2 * c.Presence.Heartbeat; c.Presence.TTL < twice {
		l.report(fmt.Sprintf("presence.ttl must be at least twice presence.heartbeat, so %s, is %s", twice, c.Presence.TTL),
			"presence.ttl", "presence.heartbeat")
	}
	if _, port, _ := net.SplitHostPort(c.Listen); c.Listen == c.OpsListen && port != "0" {
		l.report("listen and ops_listen must differ, both are "+quote(c.Listen), "ops_listen", "listen")
	}
	checkUnique(l, "origins", "origin", c.Origins)
	checkUnique(l, "limits.trusted_proxies", "network", c.Limits.TrustedProxies)
	l.checkAuth(c)
	l.checkWebhooks(c.Webhooks)
}

// checkURL reports why the library that will use a URL does not take it.
func (l *loader) checkURL(path string, address Secret, file string, check func(string) error) {
	if check == nil || address == "" {
		return
	}
	err := check(address.Reveal())
	switch {
	case err == nil:
	case file != "":
		l.report("names a file whose text "+err.Error(), path+twinSuffix)
	default:
		l.report(err.Error(), path)
	}
}

// checkWebhooks refuses an address a second time: its deliveries are told apart by it. The address is not
// repeated, as it may hold a token.
func (l *loader) checkWebhooks(webhooks []Webhook) {
	first := make(map[Secret]int, len(webhooks))
	for i, w := range webhooks {
		if other, ok := first[w.URL]; ok && w.URL != "" {
			l.report("is the same address as that of "+element("webhooks", other)+"; one entry may have several events",
				join(element("webhooks", i), "url"))
			continue
		}
		first[w.URL] = i
		checkUnique(l, join(element("webhooks", i), "events"), "event", w.Events)
	}
}

func (l *loader) checkAuth(c *Config) {
	a := c.Auth
	if a.Mode == AuthDev {
		if !a.AllowDev && !isLoopback(c.Listen) {
			l.report("must be a loopback address such as 127.0.0.1:8080 while auth.mode is dev, where clients name "+
				"themselves, unless auth.allow_dev is true"+is(c.Listen), "listen", "auth.mode", "auth.allow_dev")
		}
		l.checkNoTokenSettings(a)
		return
	}
	ways := 0
	for _, set := range []bool{a.HS256Secret != "" || a.HS256SecretFile != "", a.PublicKeyFile != "", a.JWKSFile != ""} {
		if set {
			ways++
		}
	}
	if ways != 1 {
		l.report("needs exactly one of auth.hs256_secret (or auth.hs256_secret_file), auth.public_key_file and "+
			"auth.jwks_file", "auth.mode", "auth.hs256_secret", "auth.hs256_secret_file", "auth.public_key_file", "auth.jwks_file")
	}
}

// checkNoTokenSettings refuses in dev mode what only tokens need: whoever sets a key believes that
// clients are checked.
func (l *loader) checkNoTokenSettings(a Auth) {
	for _, s := range []struct {
		key string
		set bool
	}{
		{"auth.hs256_secret", a.HS256Secret != "" && a.HS256SecretFile == ""},
		{"auth.hs256_secret_file", a.HS256SecretFile != ""},
		{"auth.public_key_file", a.PublicKeyFile != ""},
		{"auth.jwks_file", a.JWKSFile != ""},
		{"auth.issuer", a.Issuer != ""},
		{"auth.audience", a.Audience != ""},
		{"auth.client_attributes", len(a.ClientAttributes) > 0},
	} {
		if s.set {
			l.report("is for auth.mode token, but auth.mode is dev, which checks no tokens", s.key, "auth.mode")
		}
	}
}

func checkUnique[T comparable](l *loader, path, noun string, values []T) {
	seen := make(map[T]bool, len(values))
	for i, v := range values {
		if seen[v] {
			l.report(fmt.Sprintf("is the same %s a second time: %v", noun, v), element(path, i), path)
		}
		seen[v] = true
	}
}
