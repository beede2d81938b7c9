package hub

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/lua"
)

const (
	heartbeat   = 10 * time.Second
	presenceTTL = 25 * time.Second
	slots       = 4
)

// beats runs the hub's heartbeat for a while and returns who was to be refreshed, by slot.
func (b *bundle) beats(count int, between func()) [][]lua.Session {
	var heard [][]lua.Session
	for i := range count {
		pass(heartbeat / slots)
		heard = append(heard, b.hub.Beat(i%slots, slots, presenceTTL))
		synctest.Wait()
		between()
	}
	return heard
}

func TestEachIsRefreshedOnceAHeartbeatIfItWasHeard(t *testing.T) {
	inBubble(t, func(b *bundle) {
		for i := range ident.Place(8) {
			b.arrive(ident.Player("p"+i.String()), 100+i, lua.PlayerState{})
		}
		counts := map[lua.Session]int{}
		for slot, heard := range b.beats(3*slots, func() {}) {
			if len(heard) != 2 {
				t.Errorf("slot %d: %v, want the load spread", slot, heard)
			}
			for _, id := range heard {
				counts[id]++
			}
		}
		if len(counts) != 8 {
			t.Errorf("%d sessions were refreshed, want 8", len(counts))
		}
		for id, n := range counts {
			if n != 3 {
				t.Errorf("%v was refreshed %d times in 3 heartbeats", id, n)
			}
		}
	})
}

func TestWhoIsSilentIsNotRefreshedAndThenEnded(t *testing.T) {
	inBubble(t, func(b *bundle) {
		_, silent := b.arrive("silent", 100, lua.PlayerState{})
		silent.silent = true
		talker, talkerClient := b.arrive("talker", 104, lua.PlayerState{})
		talkerClient.silent = true
		refreshed, start := map[ident.Player]int{}, time.Now()
		var endedAfter time.Duration
		heard := b.beats(4*slots, func() {
			talker.Heard()
			if endedAfter == 0 && slices.Contains(silent.take(), "close 4003") {
				endedAfter = time.Since(start)
			}
		})
		for _, id := range slices.Concat(heard...) {
			refreshed[id.Player]++
		}
		if refreshed["silent"] != 1 || refreshed["talker"] != 4 {
			t.Errorf("refreshed %v, want the silent one for its hello only", refreshed)
		}
		if endedAfter < presenceTTL || endedAfter > presenceTTL+2*heartbeat/slots {
			t.Errorf("the silent one was ended after %v, want soon after %v", endedAfter, presenceTTL)
		}
		b.sees(talkerClient)
	})
}

func TestNobodyWasSilentWhileTheProcessStoodStill(t *testing.T) {
	inBubble(t, func(b *bundle) {
		_, client := b.arrive("p", 100, lua.PlayerState{})
		b.beats(slots, func() {})
		pass(time.Hour)
		b.beats(2*slots, func() {})
		b.sees(client)
	})
}

func TestWhoHasNotArrivedOrIsEndingIsNotRefreshed(t *testing.T) {
	inBubble(t, func(b *bundle) {
		b.hub.Enter(b.hub.Connect(newTransport()), "coming")
		leaving, _ := b.arrive("leaving", 100, lua.PlayerState{Record: record(5, "", "duel.5")})
		leaving.Close(4409)
		if heard := slices.Concat(b.beats(slots, func() {})...); len(heard) != 0 {
			t.Errorf("refreshed %v", heard)
		}
		if got := b.hub.Sessions(); len(got) != 0 {
			t.Errorf("sessions %v", got)
		}
		want := []lua.Assertion{{Session: lua.Session{Player: "leaving", Generation: 100}, AsOf: 100, Record: record(5, "", "duel.5")}}
		if got := b.hub.Assertions(); !slices.Equal(got, want) {
			t.Errorf("asserted %+v, want %+v: its player will depart, not be forgotten", got, want)
		}
		id := lua.Session{Player: "leaving", Generation: 100}
		if !b.hub.Has(id) {
			t.Error("a connection that is there is denied")
		}
		b.hub.Leave(leaving)
		if b.hub.Has(id) || b.hub.Count() != 1 {
			t.Error("a session that has left is still there")
		}
		if got := b.hub.Assertions(); !slices.Equal(got, want) {
			t.Errorf("asserted %+v, want %+v: redis does not know yet that it is away", got, want)
		}
		b.hub.Departed([]lua.Session{{Player: "leaving", Generation: 99}})
		if len(b.hub.Assertions()) != 1 {
			t.Error("a session was forgotten when an older one had departed")
		}
		b.hub.Departed([]lua.Session{id})
		if got := b.hub.Assertions(); len(got) != 0 {
			t.Errorf("asserted %+v, whose departure is known", got)
		}
	})
}

func TestThePlayersNewestSessionIsAsserted(t *testing.T) {
	inBubble(t, func(b *bundle) {
		b.arrive("p", 10, lua.PlayerState{Record: record(5, "", "duel.5")})
		b.arrive("p", 12, lua.PlayerState{Record: record(11, "m"), Match: match(9, "p")})
		b.arrive("p", 11, lua.PlayerState{})
		want := []lua.Assertion{{
			Session: lua.Session{Player: "p", Generation: 12}, AsOf: 12, Record: record(11, "m"), Match: match(9, "p"),
		}}
		if got := b.hub.Assertions(); !slices.Equal(got, want) {
			t.Errorf("asserted %+v, want %+v", got, want)
		}
	})
}

// Everything at once, for the race detector; what each method does alone is tested elsewhere.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	store := &fakeStore{states: map[ident.Player]lua.PlayerState{}, asOf: 1 << 40}
	h := New(Options{Store: store, Facts: func(ident.World) WorldFacts { return WorldFacts{} }})
	var wg sync.WaitGroup
	run := func(f func(i ident.Place)) {
		wg.Go(func() {
			for i := range ident.Place(300) {
				f(i)
			}
		})
	}
	players := []ident.Player{"a", "b", "c"}
	for n, p := range players {
		run(func(i ident.Place) {
			s := h.Connect(newTransport())
			h.Enter(s, p)
			answered := make(chan struct{})
			s.Submit(func() {
				s.Arrived(h.currentEpoch(), lua.PlayerState{Player: p, Generation: 10 + i, AsOf: 10 + i})
				h.Replaced(s.ID())
				go s.Finish()
			})
			s.Submit(func() {
				s.Saw(h.currentEpoch(), record(20+i, "", "duel.20"))
				s.Uncertain()
				s.Finish()
				close(answered)
			})
			if n != 0 {
				<-answered
			}
			s.Over()
			h.Leave(s)
		})
	}
	run(func(i ident.Place) { h.Deliver(formed(int64(i), "m", 30+i, "a", "b", "c")) })
	run(func(i ident.Place) { h.BeginEpoch(i / 100) })
	run(func(ident.Place) { _ = h.LookAgain(t.Context(), 5) })
	run(func(ident.Place) { _ = h.Heal(t.Context()) })
	run(func(i ident.Place) { h.Beat(int(i)%slots, slots, time.Hour) })
	run(func(ident.Place) { h.Assertions(); h.Sessions(); h.Waiting() })
	run(func(i ident.Place) { h.UpdateQueue("a", "duel", QueueView{Position: int(i)}, WorldFacts{}, 1) })
	wg.Wait()
	if h.Count() != 0 {
		t.Errorf("%d sessions are left", h.Count())
	}
}
