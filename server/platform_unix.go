//go:build unix

package server

import (
	"math"
	"syscall"
)

// openFiles is how many files the process may have open. Go has raised that at the start as far as it may be raised.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return int(min(limit.Cur, math.MaxInt32))
}

// writeNow writes as much as a descriptor that does not block takes.
func writeNow(fd uintptr, piece []byte) (int, error) { return syscall.Write(int(fd), piece) }
