package hub

import (
	"testing"
	"time"

	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/lua"
)

func TestQueueUpdatesComeWhenSomethingChangedOnly(t *testing.T) {
	inBubble(t, func(b *bundle) {
		update := func(position, size int, mean lua.MeanWait) {
			b.hub.UpdateQueue("p", "duel", QueueView{Position: position, Size: size, MeanWait: mean}, WorldFacts{Size: 2}, 1000)
		}
		s, client := b.arrive("p", 10, lua.PlayerState{Record: record(5, "", "duel.5"), Ranks: map[ident.World]lua.Rank{"duel": {Position: 4, Size: 4}}})
		update(4, 4, testMean) // as welcome had it
		b.sees(client)
		update(3, 4, testMean)
		update(3, 4, testMean)
		b.sees(client, "queue_update duel.5 3")
		confirmed := testMean
		confirmed.At = 99
		update(3, 4, confirmed)
		b.sees(client)
		update(3, 4, lua.MeanWait{Wait: time.Hour})
		update(3, 5, lua.MeanWait{Wait: time.Hour})
		b.sees(client, "queue_update duel.5 3", "queue_update duel.5 3")
		s.Told("duel", QueueView{Position: 2, Size: 5})
		update(2, 5, lua.MeanWait{})
		b.sees(client)
		b.hub.UpdateQueue("p", "other", QueueView{Position: 1, Size: 1}, WorldFacts{}, 1000)
		b.sees(client)
	})
}

func TestWhatWasToldOfAQueueIsForgottenWithTheTicket(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, lua.PlayerState{Record: record(5, "", "duel.5", "trio.6")})
		view := QueueView{Position: 1, Size: 1}
		s.Told("duel", view)
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
		s, client := b.arrive("p", 10, lua.PlayerState{Record: record(5, "", "duel.5")})
		s.Uncertain()
		b.store.states["p"] = lua.PlayerState{Record: record(5, "", "duel.5"), Ranks: map[ident.World]lua.Rank{"duel": {Position: 2, Size: 2}}}
		b.heal()
		b.hub.UpdateQueue("p", "duel", QueueView{Position: 2, Size: 2, MeanWait: testMean}, WorldFacts{}, 1000)
		b.sees(client, "state duel.5")
	})
}

func TestWaiting(t *testing.T) {
	inBubble(t, func(b *bundle) {
		b.arrive("p", 10, lua.PlayerState{Record: record(5, "", "duel.5", "trio.6")})
		b.arrive("idle", 11, lua.PlayerState{})
		got := b.hub.Waiting()
		if len(got) != 2 || len(got["duel"]) != 1 || got["duel"][0] != "p" || len(got["trio"]) != 1 {
			t.Errorf("waiting: %v", got)
		}
	})
}
