package server

import (
	"net/netip"
	"sync"
)

// admission bounds how many connections there are, in all and of one address. It is safe for concurrent
// use.
type admission struct {
	max, perAddress int

	mu        sync.Mutex
	total     int                  // guarded by mu
	byAddress map[netip.Prefix]int // guarded by mu; no entry is 0
}

func newAdmission(max, perAddress int) *admission {
	return &admission{max: max, perAddress: perAddress, byAddress: make(map[netip.Prefix]int)}
}

// admit counts a connection, unless there are too many. Whoever was admitted calls release when the
// connection is over; further calls of it do nothing, nor does any call where the connection was refused.
func (a *admission) admit(addr netip.Addr) (release func(), ok bool) {
	key := addressKey(addr)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.total >= a.max || a.byAddress[key] >= a.perAddress {
		return func() {}, false
	}
	a.total++
	a.byAddress[key]++
	released := false // guarded by a.mu
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !released {
			released = true
			a.remove(key)
		}
	}, true
}

// remove is called with mu held.
func (a *admission) remove(key netip.Prefix) {
	a.total--
	if a.byAddress[key]--; a.byAddress[key] == 0 {
		delete(a.byAddress, key)
	}
}

// count is how many connections there are.
func (a *admission) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.total
}
