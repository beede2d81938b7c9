package hub

// The outbox is bounded: a client that lets so much pile up does not read.
const (
	outboxMaxFrames = 512
	outboxMaxBytes  = 1 << 20
)

// outbox holds frames until the client has taken them. There is a goroutine that writes only while it is
// not empty.
type outbox struct {
	frames  [][]byte
	bytes   int
	writing bool
	end     func() // called after the last frame; nothing is taken in afterwards
}

// add takes a frame in; false means that there is no room.
func (o *outbox) add(frame []byte) bool {
	if o.end != nil {
		return true
	}
	if len(o.frames) >= outboxMaxFrames || o.bytes+len(frame) > outboxMaxBytes {
		return false
	}
	o.frames = append(o.frames, frame)
	o.bytes += len(frame)
	return true
}

// begin tells whether a goroutine has to be started that writes.
func (o *outbox) begin() bool {
	if o.writing || (len(o.frames) == 0 && o.end == nil) {
		return false
	}
	o.writing = true
	return true
}

// next takes out what is to be written; without frames it may be time for the end.
func (o *outbox) next() (frames [][]byte, end func()) {
	frames = o.frames
	o.frames, o.bytes = nil, 0
	if len(frames) == 0 {
		o.writing, end = false, o.end
	}
	return frames, end
}

func (o *outbox) last(end func()) { o.end = end }

func (o *outbox) clear() { o.frames, o.bytes = nil, 0 }

// send puts a frame into the outbox and has it written. A client that does not read is dropped. mu is held.
func (s *Session) send(frame []byte) {
	if s.closed {
		return
	}
	if !s.outbox.add(frame) {
		s.closeSlow()
		return
	}
	s.startWriting()
}

func (s *Session) startWriting() {
	if s.outbox.begin() {
		go s.write()
	}
}

// write empties the outbox. A failed write means that the connection is gone, which its reader learns too.
func (s *Session) write() {
	for {
		s.mu.Lock()
		frames, end := s.outbox.next()
		s.mu.Unlock()
		if end != nil {
			end()
		}
		if len(frames) == 0 {
			return
		}
		for _, frame := range frames {
			if err := s.transport.Write(frame); err != nil {
				s.transport.Abort()
				return
			}
		}
	}
}
