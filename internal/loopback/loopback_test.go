package loopback

import (
	"net"
	"testing"
)

func TestListenGivesDistinctPortsOutsideTheEphemeralRange(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for range 50 {
		ln, err := Listen()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = ln.Close() }()
		addr, ok := ln.Addr().(*net.TCPAddr)
		if !ok || !addr.IP.IsLoopback() {
			t.Fatalf("listens on %v, want a loopback address", ln.Addr())
		}
		if addr.Port < firstPort || addr.Port >= firstPort+ports {
			t.Errorf("port %d is outside %d to %d", addr.Port, firstPort, firstPort+ports-1)
		}
		if seen[addr.Port] {
			t.Errorf("port %d given twice while in use", addr.Port)
		}
		seen[addr.Port] = true
	}
}
