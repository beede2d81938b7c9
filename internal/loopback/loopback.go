// Package loopback gives tests a port of 127.0.0.1 that stays theirs while nothing listens on it.
// It owns the choice of the port and nothing else. Listen is safe for concurrent use.
package loopback

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// The ports to choose from lie below the range out of which the kernel serves outgoing connections
// (from 32768 on Linux). A port out of that range may be taken by any client, even by one that
// dials this very port (which then talks to itself), while a test has its server down.
//
// A process takes them by the block, and its blocks stay its own until it ends: test binaries that run at the same time
// never choose the same port.
const (
	firstPort = 20000
	blocks    = 100
	blockSize = 100
)

// reserved are the ports of this process' blocks that were not given out yet.
var reserved struct {
	sync.Mutex
	ports []int
	// locks are the files whose locks hold the blocks; they are closed by the end of the process.
	locks []*os.File
}

// Listen listens on a TCP port of 127.0.0.1 that it gives out once in this process. A caller that needs only the number
// closes the listener; the port stays the caller's.
func Listen() (net.Listener, error) {
	for {
		port, err := next()
		if err != nil {
			return nil, fmt.Errorf("listen on loopback: %w", err)
		}
		ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return ln, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) { // another program may have the port
			return nil, fmt.Errorf("listen on loopback: %w", err)
		}
	}
}

// next returns a port that was not given out before.
func next() (int, error) {
	reserved.Lock()
	defer reserved.Unlock()
	if len(reserved.ports) == 0 {
		if err := reserveBlock(); err != nil {
			return 0, err
		}
	}
	port := reserved.ports[0]
	reserved.ports = reserved.ports[1:]
	return port, nil
}

// reserveBlock takes a block that no process has.
func reserveBlock() error {
	dir := filepath.Join(os.TempDir(), "muster-test-ports")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, block := range rand.Perm(blocks) { //nolint:gosec // G404: a port is no secret
		file, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(block)), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			_ = file.Close() // another process has the block
			continue
		}
		reserved.locks = append(reserved.locks, file)
		for i := range blockSize {
			reserved.ports = append(reserved.ports, firstPort+block*blockSize+i)
		}
		return nil
	}
	return errors.New("all ports for tests are taken")
}
