package hub

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
)

func TestASlowReaderIsDroppedWithoutDelayingOthers(t *testing.T) {
	for name, message := range map[string]protocol.Message{
		"too many frames": pong(1),
		"too many bytes":  &protocol.GoingAway{Envelope: protocol.Envelope{ID: strings.Repeat("x", 64<<10)}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bundle) {
				slow, slowClient := b.arrive("slow", 10, store.PlayerState{})
				fast, fastClient := b.arrive("fast", 11, store.PlayerState{})
				slowClient.stuck = make(chan struct{})
				start := time.Now()
				for range outboxMaxFrames + 10 {
					slow.Send(message)
				}
				fast.Send(pong(2))
				b.sees(fastClient, "pong 2")
				b.sees(slowClient, "close 4002")
				if time.Since(start) != 0 || b.dropped != 1 {
					t.Errorf("took %v, %d dropped; want no time and one", time.Since(start), b.dropped)
				}
				pass(protocol.SlowTimeout)
				if !slowClient.isAborted() {
					t.Error("the connection is still there a second later")
				}
				slow.mu.Lock()
				defer slow.mu.Unlock()
				if len(slow.outbox.frames) > 0 || slow.outbox.bytes > 0 {
					t.Errorf("%d frames are still held", len(slow.outbox.frames))
				}
			})
		})
	}
}

func TestCloseSendsWhatIsQueuedThenTheCode(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		client.stuck = make(chan struct{})
		s.Send(pong(1), pong(2))
		s.Close(protocol.CloseReplaced)
		s.Close(protocol.CloseGoingAway)
		s.Send(pong(3))
		b.sees(client)
		close(client.stuck)
		b.sees(client, "pong 1", "pong 2", "close 4409")
	})
}

func TestCloseOfAClientThatDoesNotReadEndsInASecond(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		client.stuck = make(chan struct{})
		s.Send(pong(1))
		s.Close(protocol.CloseGoingAway)
		pass(protocol.SlowTimeout - time.Nanosecond)
		if client.isAborted() {
			t.Error("aborted before its second was over")
		}
		pass(time.Nanosecond)
		if !client.isAborted() {
			t.Error("not aborted after a second")
		}
		b.sees(client)
	})
}

func TestAfterOverNothingIsSent(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		client.stuck = make(chan struct{})
		s.Send(pong(1), pong(2), pong(3))
		synctest.Wait()
		finish := b.request(s, func() { s.Send(pong(4)) })
		b.hub.Deliver(formed(1, "m", 30, "p"))
		s.Over()
		b.hub.Leave(s)
		finish()
		b.hub.Deliver(formed(2, "n", 40, "p"))
		s.Close(protocol.CloseReplaced)
		close(client.stuck)
		b.sees(client, "pong 1", "pong 2", "pong 3") // they were on their way
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.held) > 0 || len(s.outbox.frames) > 0 {
			t.Errorf("%d events and %d frames are kept for nobody", len(s.held), len(s.outbox.frames))
		}
	})
}

func TestAFailedWriteEndsTheConnection(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		client.failure = errors.New("broken pipe")
		for range 2 * outboxMaxFrames {
			s.Send(pong(1))
			synctest.Wait()
		}
		if !client.isAborted() || b.dropped != 0 {
			t.Errorf("aborted: %v, counted as slow: %d; want it aborted and not counted", client.isAborted(), b.dropped)
		}
	})
}

func TestGoingAway_IsSpread(t *testing.T) {
	const sessions, over = 5, 10 * time.Second
	inBubble(t, func(b *bundle) {
		var clients []*fakeTransport
		for i := range ident.Place(sessions) {
			_, client := b.arrive(ident.Player("p"+i.String()), 10+i, store.PlayerState{})
			clients = append(clients, client)
		}
		start, closed := time.Now(), make(chan struct{})
		go func() {
			defer close(closed)
			b.hub.GoingAway(b.Context(), over)
		}()
		var sent []int // by each turn
		turns, ends := map[int64]bool{}, map[time.Duration]bool{}
		for range sessions + 1 {
			synctest.Wait()
			n := 0
			for _, c := range clients {
				for _, event := range c.take() {
					switch event {
					case "going_away":
						n++
						var m protocol.GoingAway
						if err := json.Unmarshal(c.frame("going_away"), &m); err != nil {
							t.Error(err)
						}
						turns[time.Since(start).Milliseconds()+m.ReconnectInMS] = true
					case "close 1001":
						ends[time.Since(start)] = true
					default:
						t.Errorf("a client got %s", event)
					}
				}
			}
			sent = append(sent, n)
			pass(over / sessions)
		}
		<-closed
		if want := []int{2, 2, 1, 0, 0, 0}; !slices.Equal(sent, want) {
			t.Errorf("going_away was sent to %v, want %v", sent, want)
		}
		if len(turns) != sessions || len(ends) != sessions {
			t.Errorf("clients reconnect at %v ms and are closed at %v, want each at its own time", turns, ends)
		}
	})
}

func TestGoingAway_EndsWhenNoSessionIsLeft(t *testing.T) {
	inBubble(t, func(b *bundle) {
		var all []*Session
		for i := range ident.Place(4) {
			s, _ := b.arrive(ident.Player("p"+i.String()), 10+i, store.PlayerState{})
			all = append(all, s)
		}
		time.AfterFunc(time.Second, func() {
			for _, s := range all {
				s.Over()
				b.hub.Leave(s)
			}
		})
		start := time.Now()
		b.hub.GoingAway(b.Context(), 40*time.Second)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("took %v, want the turn of the first", took)
		}
	})
}

func TestWhoGoesAwayHasTheReplyOfTheRequestThatIsInFlight(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		finish := b.request(s, func() { s.Send(pong(7)) })
		b.hub.GoingAway(b.Context(), time.Second)
		synctest.Wait()
		b.sees(client, "going_away")
		finish()
		b.sees(client, "pong 7", "close 1001")
	})
}

func TestTheRepliesToABurstAreNoSignOfASlowReader(t *testing.T) {
	const burst = 2000 // twice limits.messages_per_second of a generous setting, sent before anything is read
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		client.stuck = make(chan struct{})
		for range burst {
			s.Send(pong(1))
		}
		close(client.stuck)
		synctest.Wait()
		if b.dropped != 0 {
			t.Errorf("%d clients were dropped", b.dropped)
		}
	})
}
