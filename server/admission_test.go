package server

import (
	"net/netip"
	"sync"
	"testing"
)

func TestAdmissionBoundsAnAddress(t *testing.T) {
	t.Parallel()
	a := newAdmission(100, 2)
	one, other := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8:0:1::1")
	sameNet := netip.MustParseAddr("2001:db8::2")
	release := admitted(t, a, one)
	admitted(t, a, sameNet)
	if _, ok := a.admit(one); ok {
		t.Error("a third connection of the same /64 was admitted")
	}
	admitted(t, a, other)
	release()
	admitted(t, a, sameNet)
	if got := a.count(); got != 3 {
		t.Errorf("count = %d, want 3", got)
	}
}

func TestAdmissionBoundsAll(t *testing.T) {
	t.Parallel()
	a := newAdmission(2, 100)
	release := admitted(t, a, netip.MustParseAddr("192.0.2.1"))
	admitted(t, a, netip.MustParseAddr("192.0.2.2"))
	nothing, ok := a.admit(netip.MustParseAddr("192.0.2.3"))
	if ok {
		t.Error("a third connection was admitted")
	}
	nothing()
	if got := a.count(); got != 2 {
		t.Errorf("count after the refused one was released = %d, want 2", got)
	}
	release()
	admitted(t, a, netip.MustParseAddr("192.0.2.3"))
}

func TestAdmissionReleasesOnceAndForgets(t *testing.T) {
	t.Parallel()
	a := newAdmission(10, 10)
	addr := netip.MustParseAddr("192.0.2.1")
	first, second := admitted(t, a, addr), admitted(t, a, addr)
	first()
	first()
	if got := a.count(); got != 1 {
		t.Errorf("count after the first was released twice = %d, want 1", got)
	}
	second()
	if a.count() != 0 || len(a.byAddress) != 0 {
		t.Errorf("left over: %d connections, addresses %v", a.count(), a.byAddress)
	}
}

func TestAdmissionUnderConcurrency(t *testing.T) {
	t.Parallel()
	const most = 5
	a := newAdmission(most, most)
	addr := netip.MustParseAddr("192.0.2.1")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				release, ok := a.admit(addr)
				if n := a.count(); n > most {
					t.Errorf("%d connections, at most %d are allowed", n, most)
				}
				if ok {
					release()
				}
			}
		})
	}
	wg.Wait()
	if a.count() != 0 || len(a.byAddress) != 0 {
		t.Errorf("left over: %d connections, addresses %v", a.count(), a.byAddress)
	}
}

func admitted(t *testing.T, a *admission, addr netip.Addr) (release func()) {
	t.Helper()
	release, ok := a.admit(addr)
	if !ok {
		t.Fatalf("%v was refused", addr)
	}
	return release
}
