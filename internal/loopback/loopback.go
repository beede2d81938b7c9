// Package loopback gives tests a port of 127.0.0.1 that stays theirs while nothing listens on it.
// It owns the choice of the port and nothing else. Listen is safe for concurrent use.
package loopback

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// The ports to choose from lie below the range out of which the kernel serves outgoing connections
// (from 32768 on Linux). A port out of that range may be taken by any client, even by one that
// dials this very port (which then talks to itself), while a test has its server down.
const (
	firstPort = 20000
	ports     = 10000
)

// attempts is enough to find one free port among thousands even when most of them are taken.
const attempts = 100

// Listen listens on a free TCP port of 127.0.0.1. A caller that needs only the number closes the
// listener and must be ready for another process to take the port first.
func Listen() (net.Listener, error) {
	for range attempts {
		port := firstPort + rand.IntN(ports) //nolint:gosec // G404: a port is no secret
		ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return ln, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("listen on loopback: %w", err)
		}
	}
	return nil, fmt.Errorf("listen on loopback: no free port found in %d attempts", attempts)
}
