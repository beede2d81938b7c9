package hub

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/internal/ident"
	"muster/store"
)

const (
	heartbeat   = 10 * time.Second
	presenceTTL = 25 * time.Second
)

// beats has the hub beat for a while, as often as it wants to, and returns the sessions that were to be refreshed by each beat.
func (b *bundle) beats(d time.Duration, between func()) [][]store.Session {
	var heard [][]store.Session
	for range d / b.hub.BeatInterval() {
		pass(b.hub.BeatInterval())
		heard = append(heard, b.hub.Beat())
		synctest.Wait()
		between()
	}
	return heard
}

func TestBeat_SpreadsPingsAndRefreshes(t *testing.T) {
	const sessions, heartbeats = 1000, 3
	inBubble(t, func(b *bundle) {
		pings := map[store.Session]int{}
		for i := range ident.Place(sessions) { // all at once
			s, client := b.arrive(ident.Player("p"+i.String()), 100+i, store.PlayerState{})
			id := s.ID()
			client.pong = func() {
				pings[id]++
				s.Heard()
			}
		}
		counts, beats := map[store.Session]int{}, int(heartbeat/b.hub.BeatInterval())
		for n, heard := range b.beats(heartbeats*heartbeat, func() {}) {
			if len(heard) != sessions/beats {
				t.Fatalf("beat %d: %d sessions, want %d: an even load", n, len(heard), sessions/beats)
			}
			for _, id := range heard {
				counts[id]++
			}
		}
		for id, n := range counts {
			if n != heartbeats || pings[id] != heartbeats {
				t.Fatalf("%v was refreshed %d times and pinged %d times in %d heartbeats", id, n, pings[id], heartbeats)
			}
		}
		if len(counts) != sessions {
			t.Errorf("%d sessions were refreshed, want %d", len(counts), sessions)
		}
	})
}

func TestBeat_CatchesUpWithoutABurst(t *testing.T) {
	const sessions = 1000
	inBubble(t, func(b *bundle) {
		for i := range ident.Place(sessions) {
			b.arrive(ident.Player("p"+i.String()), 100+i, store.PlayerState{})
		}
		even := sessions * int(b.hub.BeatInterval()) / int(heartbeat)
		b.beats(heartbeat, func() {})
		pass(heartbeat / 2) // no beat for so long
		heard := b.beats(heartbeat/2, func() {})
		total := 0
		for n, list := range heard {
			total += len(list)
			if len(list) > slotsABeat*even {
				t.Fatalf("beat %d after a pause: %d sessions, want at most %d", n, len(list), slotsABeat*even)
			}
		}
		if total != sessions {
			t.Errorf("%d refreshes in the half heartbeat after a pause of as long, want one of each of %d sessions", total, sessions)
		}
	})
}

func TestBeat_EndsTheSilent(t *testing.T) {
	inBubble(t, func(b *bundle) {
		_, silent := b.arrive("silent", 100, store.PlayerState{})
		silent.silent = true
		talker, talkerClient := b.arrive("talker", 104, store.PlayerState{})
		talkerClient.silent = true
		refreshed, start := map[ident.Player]int{}, time.Now()
		var endedAfter time.Duration
		heard := b.beats(4*heartbeat, func() {
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
		if endedAfter < presenceTTL || endedAfter > presenceTTL+2*b.hub.BeatInterval() {
			t.Errorf("the silent one was ended after %v, want soon after %v", endedAfter, presenceTTL)
		}
		b.sees(talkerClient)
	})
}

func TestBeat_HoldsOnlyOpenSessions(t *testing.T) {
	inBubble(t, func(b *bundle) {
		var all []*Session
		for i := range ident.Place(100) {
			s, _ := b.arrive(ident.Player("p"+i.String()), 100+i, store.PlayerState{})
			all = append(all, s)
		}
		b.beats(heartbeat/2, func() {})
		for _, s := range all[:50] {
			s.Over()
			b.hub.Leave(s)
		}
		if got := b.inWheel(); got != 50 {
			t.Errorf("%d sessions in the wheel after half of 100 left", got)
		}
		all[50].Close(4409)
		for _, heard := range b.beats(heartbeat, func() {}) {
			if slices.Contains(heard, all[50].ID()) || slices.Contains(heard, all[0].ID()) {
				t.Errorf("refreshed %v", heard)
			}
		}
		if got := b.inWheel(); got != 49 {
			t.Errorf("%d sessions in the wheel, want those that are open, 49", got)
		}
	})
}

// inWheel counts the sessions in the wheel, and fails the test if one of them has another place noted than it has.
func (b *bundle) inWheel() (count int) {
	w := b.hub.wheel
	for i, slot := range w.slots {
		for k, s := range slot {
			if want := (duePlace{slot: int32(i + 1), index: int32(k)}); s.due != want {
				b.Errorf("%v is at %+v and has %+v noted", s.ID(), want, s.due)
			}
		}
		count += len(slot)
	}
	return count
}

func TestWheel_HasBoundedSlots(t *testing.T) {
	t.Parallel()
	for heartbeat, want := range map[time.Duration]time.Duration{
		10 * time.Millisecond: 2500 * time.Microsecond, 10 * time.Second: slotInterval, 10 * time.Minute: 600 * time.Millisecond,
	} {
		if got := newWheel(heartbeat).interval; got != want {
			t.Errorf("a heartbeat of %v has slots of %v, want %v", heartbeat, got, want)
		}
	}
}

func TestNobodyWasSilentWhileTheProcessStoodStill(t *testing.T) {
	inBubble(t, func(b *bundle) {
		_, client := b.arrive("p", 100, store.PlayerState{})
		b.beats(heartbeat, func() {})
		pass(time.Hour)
		b.beats(2*heartbeat, func() {})
		b.sees(client)
	})
}

func TestWhoHasNotArrivedOrIsEndingIsNotRefreshed(t *testing.T) {
	inBubble(t, func(b *bundle) {
		b.hub.Enter(b.hub.Connect(newTransport()), "coming")
		leaving, _ := b.arrive("leaving", 100, store.PlayerState{Record: record(5, "", "duel.5")})
		leaving.Close(4409)
		if heard := slices.Concat(b.beats(heartbeat, func() {})...); len(heard) != 0 {
			t.Errorf("refreshed %v", heard)
		}
		if got := b.hub.Sessions(); len(got) != 0 {
			t.Errorf("sessions %v", got)
		}
		want := []store.Assertion{{Session: store.Session{Player: "leaving", Generation: 100}, AsOf: 100, Record: record(5, "", "duel.5")}}
		if got := b.hub.Assertions(); !slices.Equal(got, want) {
			t.Errorf("asserted %+v, want %+v: its player will depart, not be forgotten", got, want)
		}
		id := store.Session{Player: "leaving", Generation: 100}
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
		b.hub.Departed([]store.Session{{Player: "leaving", Generation: 99}})
		if len(b.hub.Assertions()) != 1 {
			t.Error("a session was forgotten when an older one had departed")
		}
		b.hub.Departed([]store.Session{id})
		if got := b.hub.Assertions(); len(got) != 0 {
			t.Errorf("asserted %+v, whose departure is known", got)
		}
	})
}

func TestThePlayersNewestSessionIsAsserted(t *testing.T) {
	inBubble(t, func(b *bundle) {
		b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5")})
		b.arrive("p", 12, store.PlayerState{Record: record(11, "m"), Match: match(9, "p")})
		b.arrive("p", 11, store.PlayerState{})
		want := []store.Assertion{{
			Session: store.Session{Player: "p", Generation: 12}, AsOf: 12, Record: record(11, "m"), Match: match(9, "p"),
		}}
		if got := b.hub.Assertions(); !slices.Equal(got, want) {
			t.Errorf("asserted %+v, want %+v", got, want)
		}
	})
}

// Everything at once, for the race detector; what each method does alone is tested elsewhere.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	fake := &fakeStore{states: map[ident.Player]store.PlayerState{}, asOf: 1 << 40}
	h := New(Options{Store: fake, Facts: func(ident.World) WorldFacts { return WorldFacts{} }})
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
				s.Arrived(h.currentEpoch(), store.PlayerState{Player: p, Generation: 10 + i, AsOf: 10 + i})
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
	run(func(ident.Place) { _ = h.ResyncAll(t.Context(), 5) })
	run(func(ident.Place) { _ = h.ResyncStale(t.Context()) })
	run(func(ident.Place) { h.Beat() })
	run(func(ident.Place) { h.Assertions(); h.Sessions(); h.Waiting() })
	run(func(i ident.Place) { h.UpdateQueue("a", "duel", QueueView{Position: int(i)}, WorldFacts{}, 1) })
	wg.Wait()
	if h.Count() != 0 {
		t.Errorf("%d sessions are left", h.Count())
	}
}
