package server

import (
	"net/http"
	"net/netip"
	"strings"
)

// proxies are the addresses whose X-Forwarded-For is believed.
type proxies []netip.Prefix

// clientAddr is the address that a request came from: the peer's, or, if the peer is a trusted proxy, the
// right-most one in X-Forwarded-For that is not a trusted proxy itself. Whatever stands left of that one was
// written by the client and proves nothing. An entry that is no address ends the search at the last good
// one, so that junk is counted against the proxy that let it through. Other headers (X-Real-IP, Forwarded
// and the like) never count: a proxy that does not set them passes on what the client wrote.
//
// Where the peer has no IP address (a unix socket), the zero Addr is returned.
func (p proxies) clientAddr(r *http.Request) netip.Addr {
	client, _ := parseAddr(r.RemoteAddr)
	if !p.trust(client) {
		return client
	}
	lines := r.Header.Values("X-Forwarded-For")
	for i := len(lines) - 1; i >= 0; i-- {
		for rest, more := lines[i], true; more; {
			var entry string
			rest, entry, more = cutLast(rest)
			addr, ok := parseAddr(entry)
			if !ok {
				return client
			}
			client = addr
			if !p.trust(client) {
				return client
			}
		}
	}
	return client
}

func (p proxies) trust(a netip.Addr) bool {
	for _, prefix := range p {
		if unmapPrefix(prefix).Contains(a) {
			return true
		}
	}
	return false
}

// cutLast cuts a list at its last comma; more tells whether there was one.
func cutLast(list string) (rest, last string, more bool) {
	i := strings.LastIndexByte(list, ',')
	if i < 0 {
		return "", list, false
	}
	return list[:i], list[i+1:], true
}

// parseAddr reads an address with or without a port, an IPv6 one also in brackets. IPv4 that is mapped into
// IPv6 and zones are undone, so that one client has one address.
func parseAddr(s string) (netip.Addr, bool) {
	s = strings.TrimSpace(s)
	if withPort, err := netip.ParseAddrPort(s); err == nil {
		return withPort.Addr().Unmap().WithZone(""), true
	}
	if bare, ok := strings.CutPrefix(s, "["); ok {
		if bare, ok = strings.CutSuffix(bare, "]"); ok && strings.Contains(bare, ":") {
			s = bare
		}
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}, false
	}
	return addr.Unmap().WithZone(""), true
}

// unmapPrefix is the IPv4 prefix that p means, if p is one that is mapped into IPv6.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	const mappedBits = 96
	if !p.Addr().Is4In6() || p.Bits() < mappedBits {
		return p
	}
	return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mappedBits)
}

// addressKey is what connections are counted by: an IPv4 address itself, of an IPv6 address its /64, which
// is what one customer has at least. All peers without an IP address share the zero Prefix.
func addressKey(a netip.Addr) netip.Prefix {
	bits := 64
	if a = a.Unmap(); a.Is4() {
		bits = 32
	}
	key, err := a.WithZone("").Prefix(bits)
	if err != nil { // the zero Addr
		return netip.Prefix{}
	}
	return key
}
