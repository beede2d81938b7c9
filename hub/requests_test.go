package hub

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"muster/protocol"
	"muster/store"
)

func pong(n int64) protocol.Message { return &protocol.Pong{T: &n} }

func TestRequestsRunInOrderAndAtMostSixteenWait(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		finish := b.request(s, func() { s.Send(pong(0)) })
		var want []string
		for i := range int64(protocol.MaxWaitingRequests) {
			want = append(want, fmt.Sprintf("pong %d", i+1))
			if !s.Submit(func() { s.Finish(pong(i + 1)) }) {
				t.Errorf("request %d was refused", i+1)
			}
		}
		if s.Submit(func() { t.Error("a refused request was run") }) {
			t.Error("a seventeenth request may wait")
		}
		finish()
		b.sees(client, append([]string{"pong 0"}, want...)...)
	})
}

// What a session whose connection is gone saw of its last request is known when AfterRequests calls.
func TestSession_AfterRequestsKnowsTheLast(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, _ := b.arrive("p", 10, store.PlayerState{})
		known := func(want bool) {
			t.Helper()
			if got := s.MayWaitIn("duel"); got != want {
				t.Errorf("waits in the world: %v, want %v", got, want)
			}
		}
		var calls int
		s.AfterRequests(func() { calls++ })
		finish := b.request(s, func() { s.Saw(0, record(20, "", "duel.20")) })
		s.Over()
		s.AfterRequests(func() {
			calls++
			known(true)
		})
		known(false)
		if calls != 1 {
			t.Errorf("%d calls before the request has ended, want that of the idle session", calls)
		}
		finish()
		s.AfterRequests(func() { calls++ })
		if calls != 3 {
			t.Errorf("%d calls, want 3", calls)
		}
	})
}

// A session that does not know the outcome of a request may wait anywhere.
func TestSession_MayWaitWhereverItIsUncertain(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, _ := b.arrive("p", 10, store.PlayerState{})
		if s.MayWaitIn("duel") {
			t.Error("an idle session waits")
		}
		s.Uncertain()
		if !s.MayWaitIn("duel") {
			t.Error("the outcome of a request is unknown, and the session is sure that it does not wait")
		}
	})
}

func TestSixteenMayWaitFromTheFirstMomentOn(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		accepted := 0
		s.Submit(func() { // which is in flight before it has returned, too
			for i := range int64(20) {
				if s.Submit(func() { s.Finish(pong(i)) }) {
					accepted++
				}
			}
			b.sees(client)
			s.Finish()
		})
		if accepted != protocol.MaxWaitingRequests {
			t.Errorf("%d requests wait, want %d", accepted, protocol.MaxWaitingRequests)
		}
		if got := len(client.take()); got != accepted {
			t.Errorf("%d requests were answered, %d taken", got, accepted)
		}
	})
}

func TestAReplyComesBeforeTheEventsThatFollowIt(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		finish := b.request(s, func() {
			s.Saw(0, record(20, "", "duel.20"))
			s.Send(&protocol.Joined{TicketID: "duel.20"})
		})
		b.hub.Deliver(formed(1, "m", 30, "p"))
		b.sees(client)
		finish()
		b.sees(client, "joined duel.20", "match_complete m")
	})
}

func TestEventsComeBetweenRequests(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		first := b.request(s, func() { s.Send(pong(1)) })
		second := b.request(s, func() { s.Send(pong(2)) })
		b.hub.Deliver(formed(1, "m", 30, "p"))
		first()
		b.sees(client, "pong 1", "match_complete m")
		second()
		b.sees(client, "pong 2")
	})
}

// Each runs in the frame of whoever ended the one before: however many do, the stack does not grow with them.
func TestRequestsThatAreOverAtOnceRunOneAfterTheOther(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		const more = 1000
		running, n := false, int64(0)
		var next func()
		next = func() {
			if running {
				t.Error("one runs within another")
			}
			running = true
			if n++; n < more {
				s.Submit(next)
			}
			s.Finish(pong(n))
			running = false
		}
		finish := b.request(s, func() {})
		s.Submit(next)
		finish()
		if got := client.take(); len(got) != more || got[more-1] != "pong 1000" {
			t.Errorf("%d of %d were answered", len(got), more)
		}
	})
}

func TestARequestMayBeOverWhereverAndWhenever(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		var want []string
		for i := range int64(10) {
			want = append(want, fmt.Sprintf("pong %d", i))
			s.Submit(func() {
				switch i % 3 {
				case 0:
					s.Finish(pong(i))
				case 1:
					go s.Finish(pong(i))
				default: // by another, before it has returned
					over := make(chan struct{})
					go func() {
						s.Finish(pong(i))
						close(over)
					}()
					<-over
				}
			})
		}
		b.sees(client, want...)
	})
}

func TestEventsWaitForTheArrival(t *testing.T) {
	inBubble(t, func(b *bundle) {
		client := newTransport()
		s := b.hub.Connect(client)
		b.hub.Enter(s, "p")
		b.hub.Deliver(formed(1, "old", 5, "p"))
		b.hub.Deliver(formed(2, "m", 30, "p"))
		s.Submit(func() { s.Finish(pong(0)) })
		b.sees(client, "pong 0")
		finish := b.request(s, func() {
			s.Arrived(0, store.PlayerState{Player: "p", Generation: 10, AsOf: 20})
			s.Send(&protocol.Welcome{PlayerID: "p"})
		})
		b.sees(client)
		finish()
		b.sees(client, "welcome", "match_complete m")
	})
}

func TestAnArrivalThatFailedLeavesNothing(t *testing.T) {
	inBubble(t, func(b *bundle) {
		client := newTransport()
		s := b.hub.Connect(client)
		b.hub.Enter(s, "p")
		b.hub.Deliver(formed(1, "m", 30, "p"))
		b.hub.Apply([]store.PlayerState{{Player: "p", AsOf: 40, Record: record(31, "m"), Match: match(30, "p")}})
		b.hub.Leave(s)
		b.hub.Enter(s, "q")
		b.arrived(s, 50, store.PlayerState{})
		b.heal()
		b.sees(client)
		if b.store.calls != 0 {
			t.Error("what happened to another player has put this one in doubt")
		}
		if got := b.hub.Count(); got != 1 {
			t.Errorf("%d sessions, want 1", got)
		}
	})
}

func TestAnIdleSessionHasNoGoroutine(t *testing.T) {
	inBubble(t, func(b *bundle) {
		before := hubGoroutines()
		for i := range 50 {
			s, client := b.arrive("p", 10, store.PlayerState{})
			s.Submit(func() { s.Finish(pong(int64(i))) })
			b.sees(client, fmt.Sprintf("pong %d", i))
		}
		b.beats(heartbeat, func() {})
		if got := hubGoroutines(); got != before {
			t.Errorf("%d goroutines of the hub's sessions, %d before they came", got, before)
		}
	})
}

// hubGoroutines counts those that this package started in the bubble of the test.
func hubGoroutines() int {
	buf := make([]byte, 4<<20)
	all := string(buf[:runtime.Stack(buf, true)])
	own, _, _ := strings.Cut(all, "\n\n")
	_, bubble, _ := strings.Cut(own, "synctest bubble ")
	bubble, _, _ = strings.Cut(bubble, "]")
	count := 0
	for g := range strings.SplitSeq(all, "\n\n") {
		if strings.Contains(g, "synctest bubble "+bubble+"]") && strings.Contains(g, "created by muster/hub.(*") {
			count++
		}
	}
	return count
}
