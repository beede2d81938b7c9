package hub

import (
	"fmt"
	"testing"

	"muster/internal/ident"
	"muster/internal/race"
	"muster/store"
)

// countingTransport counts what is written, and allocates nothing.
type countingTransport struct{ written chan int }

func (t countingTransport) Write(frames [][]byte, _ bool) (flush func() error, err error) {
	t.written <- len(frames)
	return nil, nil
}
func (countingTransport) Close(int, string) {}
func (countingTransport) Abort()            {}

// TestGateAllocationsOfADelivery holds what it takes to tell the two players of a match that was formed, from
// what a script told to the transport, to a number of allocations.
func TestGateAllocationsOfADelivery(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates; make gate runs it without")
	}
	const bound = 55
	h := New(Options{Facts: func(ident.World) WorldFacts { return WorldFacts{} }})
	transport := countingTransport{make(chan int, 2)}
	var sessions []*Session
	for i, player := range []ident.Player{"a", "b"} {
		s := h.Connect(transport)
		sessions = append(sessions, s)
		h.Enter(s, player)
		s.Submit(func() {
			s.Arrived(0, store.PlayerState{Player: player, Generation: ident.Place(10 + i), AsOf: ident.Place(10 + i)})
			s.Finish()
		})
	}
	number := int64(0)
	got := testing.AllocsPerRun(100, func() {
		number++
		h.Deliver(formed(number, ident.Match(fmt.Sprintf("m%d", number)), ident.Place(100*number), "a", "b"))
		<-transport.written
		<-transport.written
		for _, s := range sessions {
			s.Saw(0, record(ident.Place(100*number+50), "")) // it left the match
		}
	})
	if got > bound {
		t.Errorf("%.0f allocations, at most %d", got, bound)
	} else {
		t.Logf("%.0f allocations, at most %d", got, bound)
	}
}
