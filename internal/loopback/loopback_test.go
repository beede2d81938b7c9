package loopback

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
)

func TestListenGivesDistinctPortsOutsideTheEphemeralRange(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for range blockSize + 50 {
		ln, err := Listen()
		if err != nil {
			t.Fatal(err)
		}
		_ = ln.Close() // the port stays ours
		addr, ok := ln.Addr().(*net.TCPAddr)
		if !ok || !addr.IP.IsLoopback() {
			t.Fatalf("listens on %v, want a loopback address", ln.Addr())
		}
		if addr.Port < firstPort || addr.Port >= firstPort+blocks*blockSize {
			t.Errorf("port %d is outside %d to %d", addr.Port, firstPort, firstPort+blocks*blockSize-1)
		}
		if seen[addr.Port] {
			t.Errorf("port %d given twice", addr.Port)
		}
		seen[addr.Port] = true
	}
}

func TestListen_KeepsPortsFromOtherProcesses(t *testing.T) {
	t.Parallel()
	if _, err := Listen(); err != nil {
		t.Fatal(err)
	}
	// Each open file locks for itself, like another process.
	for _, held := range reserved.locks {
		again, err := os.OpenFile(held.Name(), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Flock(int(again.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
			t.Errorf("another process may take %s: %v", held.Name(), err)
		}
		_ = again.Close()
	}
}
