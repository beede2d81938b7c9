package configs

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"muster/internal/ident"
)

// forms are the checks that the tag form names. Each returns what is allowed, or "" where the text is
// right. None repeats the text: parse does, unless the key is a secret.
var forms = map[string]func(string) string{
	"id": func(s string) string {
		return unless(ident.Valid(s), "must be an id: 1 to 64 characters out of A-Z a-z 0-9 . _ : @ -")
	},
	"address": func(s string) string {
		return unless(isAddress(s), "must be host:port, such as 127.0.0.1:8080 or :8080 for all addresses")
	},
	"address_or_empty": func(s string) string {
		return unless(s == "" || isAddress(s), "must be host:port, such as 127.0.0.1:9090, or empty for off")
	},
	"origin": func(s string) string {
		return unless(isOrigin(s), "must be an origin as a browser sends it: scheme://host, scheme://host:port, "+
			"null or file://, in small letters, without a path, a wildcard or the scheme's own port")
	},
	"http_url": func(s string) string {
		if !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") {
			return "must be a URL that starts with http:// or https://"
		}
		return unless(isHTTPURL(s), "must be a URL with a host, and with special characters percent-encoded")
	},
	"namespace": func(s string) string {
		return unless(namespace.MatchString(s), "must be a namespace of Kubernetes: at most 63 characters out of a-z 0-9 -")
	},
	"hs256_secret": func(s string) string {
		// RFC 7518, section 3.2: a key of the hash's size or larger.
		return unless(s == "" || len(s) >= 32, "must have at least 32 bytes")
	},
}

func unless(right bool, allowed string) string {
	if right {
		return ""
	}
	return allowed
}

var hostname = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?\.?$`)

// isHost reports whether s is a name or an address, without brackets.
func isHost(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	return hostname.MatchString(s)
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == s
}

func isAddress(s string) bool {
	host, port, err := net.SplitHostPort(s)
	return err == nil && isPort(port) && (host == "" || isHost(host))
}

// isLoopback reports whether only this machine reaches a listener at the address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// isHTTPURL reports whether net/http can send a request to the URL.
func isHTTPURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.Port() != "" && !isPort(u.Port()) {
		return false
	}
	request, err := http.NewRequest(http.MethodPost, s, http.NoBody) //nolint:noctx // it is not sent
	return err == nil && request.Write(io.Discard) == nil
}
