package server

import (
	"net"
	"sync/atomic"
)

// spareFiles are kept from clients, and sixteen for each processor beside: for Redis and the databases, of which pools grow
// with the processors, and for the ports of those who operate the server.
const spareFiles = 64

// The reasons for which the metrics say that a connection was refused.
const (
	tooMany       = "too_many" // for the number of others
	refusedOrigin = "origin"
)

// reserve is how many of so many open files are kept from players.
func reserve(files, processors int) int {
	return min(max(files/16, spareFiles+16*processors), files/2)
}

// carried is how many players so many open files carry.
func carried(files, processors int) int { return max(1, files-reserve(files, processors)) }

// scarce bounds the connections of a listener, those of players and all others: what is beyond is closed without a word.
// Half of the reserve is for those who are refused or do not upgrade; the other half is out of the reach of clients.
// refused is told of each.
func scarce(l net.Listener, files, processors int, refused func()) net.Listener {
	return &scarceListener{Listener: l, most: int64(files - reserve(files, processors)/2), refused: refused}
}

type scarceListener struct {
	net.Listener
	most    int64
	open    atomic.Int64
	refused func()
}

func (l *scarceListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.most {
			return &countedConn{TCPConn: conn.(*net.TCPConn), open: &l.open}, nil
		}
		l.open.Add(-1)
		_ = conn.Close() // nothing was said on it
		l.refused()
	}
}

// countedConn is counted until it is closed. It is a whole TCPConn, which has a descriptor.
type countedConn struct {
	*net.TCPConn
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *countedConn) Close() error {
	if !c.closed.Swap(true) {
		c.open.Add(-1)
	}
	return c.TCPConn.Close()
}
