package hub

// The outbox is bounded: a client that lets so much pile up does not read.
const (
	outboxMaxFrames = 4096
	outboxMaxBytes  = 1 << 20
)

// outbox holds frames until the client has taken them. There is a goroutine that writes only while it is
// not empty.
type outbox struct {
	frames  [][]byte
	bytes   int
	writing bool
	end     func() // called after the last frame
}

// add takes a frame in; false means that there is no room.
func (o *outbox) add(frame []byte) bool {
	if len(o.frames) >= outboxMaxFrames || o.bytes+len(frame) > outboxMaxBytes {
		return false
	}
	o.frames = append(o.frames, frame)
	o.bytes += len(frame)
	return true
}

// begin tells whether a goroutine has to be started that writes.
func (o *outbox) begin() bool {
	if o.writing {
		return false
	}
	o.writing = true
	return true
}

// next takes out what is to be written. Without a frame it is the end, or there is nothing more to do.
func (o *outbox) next() (frame []byte, end func()) {
	if len(o.frames) == 0 {
		end = o.end
		*o = outbox{}
		return nil, end
	}
	frame = o.frames[0]
	o.frames[0] = nil
	o.frames = o.frames[1:]
	o.bytes -= len(frame)
	return frame, nil
}

// last has end called after what is in the outbox.
func (o *outbox) last(end func()) { o.end = end }

// clear drops what is in the outbox, the end too.
func (o *outbox) clear() { o.frames, o.bytes, o.end = nil, 0, nil }

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
		frame, end := s.outbox.next()
		s.mu.Unlock()
		if end != nil {
			end()
		}
		if frame == nil {
			return
		}
		if err := s.transport.Write(frame); err != nil {
			s.Over()
			s.transport.Abort()
			return
		}
	}
}
