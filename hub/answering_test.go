package hub

import (
	"testing"

	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
)

// fellThrough is that a match of p fell through, by another's call, and that p is back at its place.
func fellThrough(number int64, match ident.Match, version ident.Place) store.Notification {
	end := fell((version + 1).String(), match)
	return store.Notification{
		Number: number, Changes: []store.Change{change("p", 10, record(version, "", "duel.5"), end)},
		Requeued: []store.Requeued{{
			Session: store.Session{Player: "p", Generation: 10}, Match: match,
			Ranks: map[ident.World]store.Rank{"duel": {Position: 1, Size: 1}},
		}},
	}
}

func TestWhatWasSoBeforeAReplyIsToldBeforeIt(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.asked()
		finish := b.request(s, func() {
			s.Answering(39)
			s.Send(&protocol.Left{})
		})
		b.hub.Deliver(fellThrough(2, "m", 30))
		b.hub.Deliver(store.Notification{
			Number: 3, Matches: map[ident.Match]string{"n": heldMatch(35, "p", "q")},
			Changes: []store.Change{change("p", 10, heldRecord(36, "n", "duel.5"), "")},
		})
		b.hub.Deliver(store.Notification{Number: 4, Changes: []store.Change{change("p", 10, record(40, ""), fell("41", "n"))}}) // by the leave itself
		b.sees(client)
		finish()
		b.sees(client, "match_cancelled m declined", "requeued duel.5 m 1", "match_proposed n", "left", "match_cancelled n declined")
	})
}

func TestWhatComesBetweenTheAnswerAndTheReplyIsInOrderToo(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.asked()
		s.Submit(func() {})
		s.Answering(39)
		b.hub.Deliver(fellThrough(2, "m", 30))
		b.sees(client)
		s.Finish(pong(1))
		b.sees(client, "match_cancelled m declined", "requeued duel.5 m 1", "pong 1")
	})
}

func TestNoStateFollowsThatIsOlderThanAReply(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{})
		finish := b.request(s, func() {
			s.Answering(39) // a join that was matched at once, and tells nothing more than its place
			s.Send(pong(1))
		})
		finish()
		b.sees(client, "pong 1")
		b.hub.bring(asked{session: s, doubt: uncertain}, store.PlayerState{Player: "p", Generation: 10, AsOf: 38})
		b.sees(client)
		b.store.states["p"] = store.PlayerState{Generation: 10, AsOf: 45, Record: record(40, "", "duel.40")}
		b.heal()
		b.sees(client, "state duel.40")
	})
}

func TestNoStateFollowsThatIsOlderThanAnAnswerOfAnother(t *testing.T) {
	inBubble(t, func(b *bundle) {
		_, client := b.asked()
		accepted := "proposed|25|1|duel|19|99|red=r1|p;q||99|q|||||"
		b.hub.Deliver(store.Notification{Number: 1, Matches: map[ident.Match]string{"m": accepted}})
		b.sees(client, "match_proposed m")
		before := store.PlayerState{Player: "p", Generation: 10, AsOf: 24, Record: heldRecord(20, "m", "duel.5"), Match: heldMatch(19, "p", "q")}
		b.hub.Apply([]store.PlayerState{before})
		b.sees(client)
	})
}
