package server

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func trustedProxies(t testing.TB, prefixes ...string) proxies {
	t.Helper()
	var p proxies
	for _, s := range prefixes {
		prefix, err := netip.ParsePrefix(s)
		if err != nil {
			t.Fatal(err)
		}
		p = append(p, prefix)
	}
	return p
}

func TestClientAddr(t *testing.T) {
	t.Parallel()
	trusted := trustedProxies(t, "10.0.0.0/8", "fd00::/8", "::ffff:192.168.0.0/112")
	for _, c := range []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"a peer that is no proxy is the client", "203.0.113.9:1", []string{"198.51.100.1"}, "203.0.113.9"},
		{"a proxy that says nothing is the client", "10.0.0.1:1", nil, "10.0.0.1"},
		{"a proxy tells the client", "10.0.0.1:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"what the client wrote does not count", "10.0.0.1:1", []string{"1.1.1.1, 198.51.100.1"}, "198.51.100.1"},
		{"proxies in a row are skipped", "10.0.0.1:1", []string{"1.1.1.1, 198.51.100.1, 10.2.2.2"}, "198.51.100.1"},
		{"several headers are one list", "10.0.0.1:1", []string{"1.1.1.1", "198.51.100.1", "10.2.2.2"}, "198.51.100.1"},
		{"proxies only: the one farthest away", "10.0.0.1:1", []string{"10.3.3.3,10.2.2.2"}, "10.3.3.3"},
		{"junk stops at the proxy before it", "10.0.0.1:1", []string{"198.51.100.1, unknown, 10.2.2.2"}, "10.2.2.2"},
		{"junk only: the peer", "10.0.0.1:1", []string{"<script>"}, "10.0.0.1"},
		{"an empty header: the peer", "10.0.0.1:1", []string{""}, "10.0.0.1"},
		{"commas only: the peer", "10.0.0.1:1", []string{",,,"}, "10.0.0.1"},
		{"a port is cut off", "10.0.0.1:1", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		{"IPv6 in brackets", "10.0.0.1:1", []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"IPv6 in brackets with a port", "10.0.0.1:1", []string{"[2001:db8::1]:80"}, "2001:db8::1"},
		{"IPv4 in brackets is junk", "10.0.0.1:1", []string{"[198.51.100.1]"}, "10.0.0.1"},
		{"a zone is cut off", "[fe80::1%eth0]:1", nil, "fe80::1"},
		{"a zone in the header is cut off", "10.0.0.1:1", []string{"fe80::1%a"}, "fe80::1"},
		{"IPv4 mapped into IPv6", "[::ffff:203.0.113.9]:1", nil, "203.0.113.9"},
		{"a mapped proxy is a proxy", "[::ffff:10.0.0.1]:1", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"a mapped prefix is the IPv4 one", "192.168.0.7:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"an IPv6 proxy", "[fd00::1]:1", []string{"198.51.100.1"}, "198.51.100.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = c.peer
			r.Header["X-Forwarded-For"] = c.forwarded
			for _, h := range []string{"X-Real-Ip", "Forwarded", "Cf-Connecting-Ip", "True-Client-Ip"} {
				r.Header.Set(h, "9.9.9.9")
			}
			if got := trusted.clientAddr(r); got != netip.MustParseAddr(c.want) {
				t.Errorf("clientAddr = %v, want %v", got, c.want)
			}
		})
	}
}

func TestClientAddrOfAPeerWithoutAddress(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = "@"
	r.Header.Set("X-Forwarded-For", "198.51.100.1")
	addr := trustedProxies(t, "10.0.0.0/8").clientAddr(r)
	if addr.IsValid() || addressKey(addr) != (netip.Prefix{}) {
		t.Errorf("address %v, key %v, want the zero ones", addr, addressKey(addr))
	}
}

func TestAddressKey(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"203.0.113.9":          "203.0.113.9/32",
		"::ffff:203.0.113.9":   "203.0.113.9/32",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2::":       "2001:db8:1:2::/64",
		"fe80::1%eth0":         "fe80::/64",
	} {
		if got := addressKey(netip.MustParseAddr(addr)); got != netip.MustParsePrefix(want) {
			t.Errorf("addressKey(%s) = %v, want %v", addr, got, want)
		}
	}
}

func FuzzClientAddr(f *testing.F) {
	f.Add("10.0.0.1:80", "198.51.100.1, [::1]:80", "10.0.0.2")
	f.Add("[::1]:1", ",", "[[]]:%")
	trusted := trustedProxies(f, "10.0.0.0/8", "::1/128")
	f.Fuzz(func(t *testing.T, peer, first, second string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = peer
		r.Header["X-Forwarded-For"] = []string{first, second}
		addr := trusted.clientAddr(r)
		if addr.Zone() != "" || addr.Is4In6() {
			t.Errorf("%v has a zone or is mapped", addr)
		}
		if addr.IsValid() && !strings.Contains(strings.ToLower(peer+first+second), addr.String()) {
			// It may be written another way there; then it must at least be an address of its own.
			if again, ok := parseAddr(addr.String()); !ok || again != addr {
				t.Errorf("%v comes from nowhere", addr)
			}
		}
	})
}
