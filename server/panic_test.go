package server

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"muster/hub"
	"muster/protocol"
)

// brokenPipe is a transport that only tells how it was closed.
type brokenPipe struct{ closed chan int }

func (brokenPipe) Write([][]byte, bool) (flush func() error, err error) { return nil, nil }
func (p brokenPipe) Close(code int, _ string)                           { p.closed <- code }
func (brokenPipe) Abort()                                               {}

func TestAFaultOfOursEndsOneConnectionOnly(t *testing.T) {
	t.Parallel()
	pipe := brokenPipe{closed: make(chan int, 1)}
	s := &Server{log: zerolog.Nop()} // without metrics, so that the first message is a fault
	c := &socket{server: s, session: hub.New(hub.Options{}).Connect(pipe)}
	c.handle(t.Context(), time.Now(), []byte(`{"type":"ping"}`))
	select {
	case code := <-pipe.closed:
		if code != protocol.CloseInternal {
			t.Errorf("closed with %d", code)
		}
	case <-time.After(10 * time.Second):
		t.Error("not closed")
	}
}
