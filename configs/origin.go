package configs

import (
	"net/url"
	"strings"
)

// Origin is the origin of a browser's page in one way of writing: in small letters, and with the port if its scheme has
// a usual one.
type Origin struct{ Scheme, Host, Port string }

// nullOrigin is that of pages without an origin of their own, such as sandboxed frames and some local files.
var nullOrigin = Origin{Scheme: "null"}

var usualPorts = map[string]string{"http": "80", "https": "443"}

// ParseOrigin reads scheme://host or scheme://host:port, "null", and scheme:// if the scheme is not of the web, such as
// file://. The settings and the requests of browsers are read by it.
func ParseOrigin(text string) (Origin, bool) {
	text = strings.ToLower(text)
	if text == "null" {
		return nullOrigin, true
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.User != nil || text != u.Scheme+"://"+u.Host || strings.HasSuffix(u.Host, ":") {
		return Origin{}, false
	}
	o := Origin{Scheme: u.Scheme, Host: u.Hostname(), Port: u.Port()}
	usual, web := usualPorts[o.Scheme]
	if web && o.Host == "" {
		return Origin{}, false
	}
	if o.Port == "" {
		o.Port = usual
	}
	return o, true
}

// isOrigin is strict: an origin that no browser ever sends would look like a permission and be none.
func isOrigin(s string) bool {
	o, ok := ParseOrigin(s)
	if !ok || s != strings.ToLower(s) || strings.Contains(s, "*") {
		return false
	}
	usual, web := usualPorts[o.Scheme]
	if !web {
		return true
	}
	u, err := url.Parse(s)
	return err == nil && isHost(o.Host) && isPort(o.Port) && u.Port() != usual
}
