package server

import (
	"encoding/binary"
	"errors"
)

// errNothing is what ReadArrived returns when nothing more has come.
var errNothing = errors.New("nothing more has come")

// arrived is what the transport took in and the library has not read yet. It is for one goroutine at a time.
type arrived struct {
	buffer [readBuffer]byte
	rest   []byte // of buffer
	err    error  // that followed
	// between says that no frame has begun, so that a read that finds nothing need not wait.
	between bool
}

// Await waits until something has come that was not read, or the connection is over. It is the one place where an idle session waits,
// and calls as little as can be: the library's own depth would double the stack that each of them keeps. The answer to a ping is
// taken in here: it needs no goroutine and nothing of the library, and an idle session sends nothing else.
func (t *transport) Await() {
	if t.More() {
		return // it was sent ahead of the upgrade
	}
	a := &t.raw.arrived
	for {
		n, err := t.raw.Conn.Read(a.buffer[:])
		a.rest, a.err = a.buffer[:n], err
		if !a.isPong() {
			return
		}
		a.rest = nil
		if f := t.onLife.Load(); f != nil {
			(*f)()
		}
	}
}

// isPong reports whether what has come is one pong, from end to end.
func (a *arrived) isPong() bool {
	return a.err == nil && len(a.rest) >= 2+maskBytes && a.rest[0] == pongHead && a.rest[1]&maskBit != 0 &&
		int(a.rest[1]&^maskBit) == len(a.rest)-2-maskBytes && len(a.rest)-2-maskBytes < twoBytes
}

// Read hands over what has been taken in, and reads on where the library is within a frame.
func (c *rawConn) Read(p []byte) (int, error) {
	a := &c.arrived
	switch {
	case len(a.rest) > 0:
		n := copy(p, a.rest)
		a.rest, a.between = a.rest[n:], false
		return n, nil
	case a.err != nil:
		return 0, a.err
	case a.between:
		return 0, errNothing
	}
	return c.Conn.Read(p)
}

// ReadArrived reads a text frame of which at least a part was there when Await returned, and waits for the rest. Where
// there is none, as only pings and pongs came, it returns errNothing, and the connection goes on. After any other error
// it is to be given up, by Over; a close frame of the client is found in the error by [websocket.CloseStatus], which is
// 1005 where the client gave no code.
func (t *transport) ReadArrived() ([]byte, error) {
	if !t.More() {
		return nil, errNothing
	}
	t.yields = true
	t.frameOver()
	frame, err := t.read()
	t.yields = false
	return frame, err
}

// More reports whether something has come that was not read.
func (t *transport) More() bool {
	a := &t.raw.arrived
	return len(a.rest) > 0 || a.err != nil || t.buffered.Buffered() > 0
}

// Whole reports whether what has come is one text frame, from end to end: then ReadArrived does not wait for the client,
// whether to send or to take an answer to a control frame.
func (t *transport) Whole() bool {
	a := &t.raw.arrived
	if len(a.rest) < 2 || a.err != nil || t.buffered.Buffered() > 0 || a.rest[0] != textHead || a.rest[1]&maskBit == 0 {
		return false
	}
	head, length := 2+maskBytes, int(a.rest[1]&^maskBit)
	switch {
	case length == eightBytes:
		return false // no such frame fits
	case length == twoBytes && len(a.rest) > head:
		head, length = head+2, int(binary.BigEndian.Uint16(a.rest[2:]))
	}
	return len(a.rest) == head+length
}

// frameOver notes that the library is between two frames, unless it holds a part of the next. Between the frames
// of one message it has to wait for the rest.
func (t *transport) frameOver() {
	t.raw.between = t.yields && !t.inMessage && t.buffered.Buffered() == 0
}
