package hub

import (
	"reflect"
	"testing"
	"time"

	"muster/internal/ident"
	"muster/store"
)

func TestQueueUpdatesComeWhenSomethingChangedOnly(t *testing.T) {
	inBubble(t, func(b *bundle) {
		update := func(position, size int, mean store.MeanWait) {
			b.hub.UpdateQueue("p", "duel", QueueView{Position: position, Size: size, MeanWait: mean}, WorldFacts{Size: 2}, 1000)
		}
		s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5"), Ranks: map[ident.World]store.Rank{"duel": {Position: 4, Size: 4}}})
		update(4, 4, testMean) // as welcome had it
		b.sees(client)
		update(3, 4, testMean)
		update(3, 4, testMean)
		b.sees(client, "queue_update duel.5 3")
		confirmed := testMean
		confirmed.At = 99
		update(3, 4, confirmed)
		b.sees(client)
		update(3, 4, store.MeanWait{Wait: time.Hour})
		update(3, 5, store.MeanWait{Wait: time.Hour})
		b.sees(client, "queue_update duel.5 3", "queue_update duel.5 3")
		s.Notification("duel", QueueView{Position: 2, Size: 5})
		update(2, 5, store.MeanWait{})
		b.sees(client)
		b.hub.UpdateQueue("p", "other", QueueView{Position: 1, Size: 1}, WorldFacts{}, 1000)
		b.sees(client)
	})
}

func TestWhatWasToldOfAQueueIsForgottenWithTheTicket(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5", "trio.6")})
		view := QueueView{Position: 1, Size: 1}
		s.Notification("duel", view)
		s.Saw(0, record(20, "", "trio.6"))
		s.Saw(0, record(30, "", "trio.6", "duel.30"))
		b.hub.UpdateQueue("p", "duel", view, WorldFacts{}, 1000)
		b.sees(client, "queue_update duel.30 1")
		s.Saw(0, record(40, ""))
		if s.told != nil {
			t.Errorf("%v is remembered for a player that waits nowhere", s.told)
		}
	})
}

func TestAStateTellsOfQueuesToo(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5")})
		s.Uncertain()
		b.store.states["p"] = store.PlayerState{Record: record(5, "", "duel.5"), Ranks: map[ident.World]store.Rank{"duel": {Position: 2, Size: 2}}}
		b.heal()
		b.hub.UpdateQueue("p", "duel", QueueView{Position: 2, Size: 2, MeanWait: testMean}, WorldFacts{}, 1000)
		b.sees(client, "state duel.5")
	})
}

func TestWaiting_FollowsTheRecord(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, _ := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5", "trio.6")})
		b.arrive("idle", 11, store.PlayerState{})
		wants := func(when string, want map[ident.World][]ident.Player) {
			b.Helper()
			if got := b.hub.Waiting(); !reflect.DeepEqual(got, want) {
				b.Errorf("%s: waiting %v, want %v", when, got, want)
			}
			if got := len(b.hub.waiting.list()); got != min(len(want), 1) {
				b.Errorf("%s: %d sessions are looked at every second, want those that wait", when, got)
			}
		}
		both := map[ident.World][]ident.Player{"duel": {"p"}, "trio": {"p"}}
		none := map[ident.World][]ident.Player{}
		wants("arrived with two tickets", both)
		s.Saw(0, record(20, ""))
		wants("left by a reply", none)
		s.Saw(0, record(30, "", "duel.30", "trio.30"))
		wants("joined by a reply", both)
		b.hub.Deliver(formed(1, "m", 40, "p"))
		wants("matched", none)
		s.Showing(store.PlayerState{AsOf: 60, Record: record(50, "", "duel.50", "trio.50")})
		wants("waits in a state that was read", both)
		s.Over()
		b.hub.Leave(s)
		wants("gone", none)
		s.Saw(0, record(70, "", "duel.70"))
		wants("gone, and a reply comes late", none)
	})
}
