package server

import "errors"

// errNothing is what ReadArrived returns when nothing more has come.
var errNothing = errors.New("nothing more has come")

// arrived is what the transport took in and the library has not read yet. Like Read it is for one goroutine
// at a time.
type arrived struct {
	buffer [readBuffer]byte
	rest   []byte // of buffer
	err    error  // that followed
	// between says that no frame has begun, so that a read that finds nothing need not wait.
	between bool
}

// Await waits until something comes, or the connection is over. It is the one place where an idle session waits,
// and calls as little as can be: the library's own depth would double the stack that each of them keeps.
func (t *transport) Await() {
	a := &t.raw.arrived
	n, err := t.raw.Conn.Read(a.buffer[:])
	a.rest, a.err = a.buffer[:n], err
}

// Read hands over what has been taken in, and reads on where the library is within a frame.
func (c *corked) Read(p []byte) (int, error) {
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

// ReadArrived is Read for a frame of which at least a part was there when Await returned. Where there is none, as
// only pings and pongs came, it returns errNothing, and the connection goes on.
func (t *transport) ReadArrived() ([]byte, error) {
	if !t.More() {
		return nil, errNothing
	}
	t.yields = true
	t.frameOver()
	frame, err := t.Read()
	t.yields = false
	return frame, err
}

// More reports whether something has come that was not read.
func (t *transport) More() bool {
	a := &t.raw.arrived
	return len(a.rest) > 0 || a.err != nil || t.buffered.Buffered() > 0
}

// frameOver notes that the library is between two frames, unless it holds a part of the next. Between the frames
// of one message it has to wait for the rest.
func (t *transport) frameOver() {
	t.raw.between = t.yields && !t.inMessage && t.buffered.Buffered() == 0
}
