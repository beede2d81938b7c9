package hub

import (
	"muster/internal/ident"
	"muster/store"
)

// The outbox is bounded: a client that lets so much pile up does not read.
const (
	outboxMaxFrames = 4096
	outboxMaxBytes  = 1 << 20
	// writeBytes is about how much one write takes out: a burst of replies is a few system calls, and a client
	// that reads slowly is not held to one that is too long.
	writeBytes = 64 << 10
)

// outbox holds frames until the client has taken them. There is a goroutine that writes only while it is
// not empty.
type outbox struct {
	frames [][]byte // that wait
	bytes  int      // of frames
	// flying and flyingBytes are what is being written; it counts as held.
	flying, flyingBytes int
	ping                bool // a ping is to be sent, behind what waits
	// prompts are the matches that the player is asked about by frames that wait.
	prompts []ident.Match
	writing bool
	end     func() // called after the last frame
}

// add takes a frame in; false means that there is no room.
func (o *outbox) add(frame []byte) bool {
	if len(o.frames)+o.flying >= outboxMaxFrames || o.bytes+o.flyingBytes+len(frame) > outboxMaxBytes {
		return false
	}
	o.frames = append(o.frames, frame)
	o.bytes += len(frame)
	return true
}

// begin tells whether somebody has to begin to write, who then does until next gives nothing.
func (o *outbox) begin() bool {
	if o.writing || len(o.frames) == 0 && !o.ping && o.end == nil {
		return false
	}
	o.writing = true
	return true
}

// outgoing is what is to be written at a time: frames, then a ping, or the end. The zero outgoing is nothing.
type outgoing struct {
	frames  [][]byte
	prompts []ident.Match
	ping    bool
	end     func()
}

// next takes out what is to be written. When there is nothing more, or after the end, the outbox is empty.
func (o *outbox) next() outgoing {
	if len(o.frames) == 0 && !o.ping {
		end := o.end
		*o = outbox{}
		return outgoing{end: end}
	}
	out := outgoing{frames: o.frames}
	o.flying, o.flyingBytes = len(o.frames), o.bytes
	if o.bytes > writeBytes {
		o.flying, o.flyingBytes = 0, 0
		for o.flying == 0 || o.flying < len(o.frames) && o.flyingBytes < writeBytes {
			o.flyingBytes += len(o.frames[o.flying])
			o.flying++
		}
		out.frames = o.frames[:o.flying:o.flying]
	}
	o.frames, o.bytes = o.frames[o.flying:], o.bytes-o.flyingBytes
	if len(o.frames) == 0 {
		o.frames = nil
		out.ping, o.ping = o.ping, false
		out.prompts, o.prompts = o.prompts, nil
	}
	return out
}

// last has end called after what is in the outbox.
func (o *outbox) last(end func()) { o.end = end }

// clear drops what is in the outbox, the end too.
func (o *outbox) clear() { o.frames, o.bytes, o.ping, o.prompts, o.end = nil, 0, false, nil, nil }

// send puts a frame into the outbox and has it written. A client that does not read is dropped. mu is held.
func (s *Session) send(frame []byte) {
	s.put(frame)
	s.startWriting()
}

// put puts a frame into the outbox. mu is held.
func (s *Session) put(frame []byte) {
	if s.closed {
		return
	}
	if !s.outbox.add(frame) {
		s.closeSlow()
	}
	if s.prompt != "" {
		s.outbox.prompts = append(s.outbox.prompts, s.prompt)
		s.prompt = ""
	}
}

// startWriting has somebody write what is in the outbox: who releases events does so itself afterwards.
// mu is held.
func (s *Session) startWriting() {
	if !s.releasing && s.outbox.begin() {
		go s.write()
	}
}

// write empties the outbox. It does not wait: where the client does not take what is written, another goroutine does.
func (s *Session) write() {
	for {
		s.mu.Lock()
		out := s.outbox.next()
		s.mu.Unlock()
		if out.end != nil {
			go out.end()
		}
		if len(out.frames) == 0 && !out.ping {
			return
		}
		flush, err := s.transport.Write(out.frames, out.ping)
		if flush != nil {
			go func() {
				if s.written(out, flush()) {
					s.write()
				}
			}()
			return
		}
		if !s.written(out, err) {
			return
		}
	}
}

// written takes in what became of a write, and reports whether more may follow. One that failed means that the
// connection is gone, which its reader learns too.
func (s *Session) written(out outgoing, err error) bool {
	if err != nil {
		s.Over()
		go s.transport.Abort()
		return false
	}
	for _, match := range out.prompts {
		s.hub.opts.Shown(store.Shown{Player: s.Player(), Match: match})
	}
	return true
}
