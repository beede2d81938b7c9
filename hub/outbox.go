package hub

import (
	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/lua"
)

// The outbox is bounded: a client that lets so much pile up does not read.
const (
	outboxMaxFrames = 4096
	outboxMaxBytes  = 1 << 20
)

// outbox holds frames until the client has taken them. There is a goroutine that writes only while it is
// not empty.
type outbox struct {
	frames  []frame
	bytes   int
	writing bool
	end     func() // called after the last frame
}

// frame is what is written at a time.
type frame struct {
	data []byte
	// prompt is the match that the player is asked about by it, if any.
	prompt ident.Match
}

// add takes a frame in; false means that there is no room.
func (o *outbox) add(f frame) bool {
	if len(o.frames) >= outboxMaxFrames || o.bytes+len(f.data) > outboxMaxBytes {
		return false
	}
	o.frames = append(o.frames, f)
	o.bytes += len(f.data)
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
func (o *outbox) next() (f frame, end func()) {
	if len(o.frames) == 0 {
		end = o.end
		*o = outbox{}
		return frame{}, end
	}
	f = o.frames[0]
	o.frames[0] = frame{}
	o.frames = o.frames[1:]
	o.bytes -= len(f.data)
	return f, nil
}

// last has end called after what is in the outbox.
func (o *outbox) last(end func()) { o.end = end }

// clear drops what is in the outbox, the end too.
func (o *outbox) clear() { o.frames, o.bytes, o.end = nil, 0, nil }

// send puts a frame into the outbox and has it written. A client that does not read is dropped. mu is held.
func (s *Session) send(data []byte) {
	if s.closed {
		return
	}
	f := frame{data: data, prompt: s.prompt}
	s.prompt = ""
	if !s.outbox.add(f) {
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
		f, end := s.outbox.next()
		s.mu.Unlock()
		if end != nil {
			end()
		}
		if f.data == nil {
			return
		}
		if err := s.transport.Write(f.data); err != nil {
			s.Over()
			s.transport.Abort()
			return
		}
		if f.prompt != "" {
			s.hub.opts.Shown(lua.Shown{Player: s.Player(), Match: f.prompt})
		}
	}
}
