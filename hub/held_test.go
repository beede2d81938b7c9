package hub

import (
	"fmt"
	"strings"
	"testing"

	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
)

// heldRecord is the record of a player whose tickets a match holds.
func heldRecord(version ident.Place, match ident.Match, tickets ...string) string {
	return strings.Replace(record(version, match, tickets...), "|0|", "|h|", 1)
}

// heldMatch is the text of a match that its players are asked about.
func heldMatch(version ident.Place, players ...string) string {
	return fmt.Sprintf("proposed|%d|1|duel|%d|99|red=r1|%s||99||||||", version, version, strings.Join(players, ";"))
}

// fell is the notice that a match fell through.
func fell(id string, match ident.Match) string {
	return fmt.Sprintf("%s|%s|duel|%s|%s|1", id, protocol.TypeMatchCancelled, match, protocol.ReasonDeclined)
}

// asked connects a player who is asked about a match.
func (b *bundle) asked() (*Session, *fakeTransport) {
	b.Helper()
	return b.arrive("p", 10, store.PlayerState{Record: heldRecord(20, "m", "duel.5"), Match: heldMatch(19, "p", "q")})
}

// A reply shows the record that the match's end left, before what was told with the end is here.
func TestAReplyThatShowsThatAMatchStandsDoesNotSwallowItsEvent(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.asked()
		finish := b.request(s, func() {
			s.Saw(0, record(31, "m")) // a leave, which had nothing to leave any more
			s.Send(&protocol.Left{})
		})
		b.hub.Deliver(formed(1, "m", 30, "p"))
		finish()
		b.sees(client, "left", "match_complete m")
	})
}

func TestAReplyThatShowsThatAMatchIsGoneDoesNotSwallowWhy(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.asked()
		told := store.Notification{Number: 1, Changes: []store.Change{change("p", 10, record(30, "", "duel.5"), fell("31", "m"))}}
		finish := b.request(s, func() {
			s.Saw(0, record(30, "", "duel.5"))
			s.Send(&protocol.Left{})
		})
		b.hub.Deliver(told)
		finish()
		b.sees(client, "left", "match_cancelled m declined")
		b.hub.Deliver(told)
		b.sees(client)
	})
}

func TestAnEndThatAStateToldIsNotToldByTheChangeToo(t *testing.T) {
	inBubble(t, func(b *bundle) {
		_, client := b.asked()
		b.store.states["p"] = store.PlayerState{AsOf: 30, Record: record(30, "", "duel.5"), Notices: []store.Notice{notice(b, fell("29", "m"))}}
		b.lookAgain(1)
		client.take()
		b.hub.Deliver(store.Notification{Number: 1, Changes: []store.Change{change("p", 10, record(30, "", "duel.5"), fell("29", "m"))}})
		b.sees(client)
	})
}

func TestAReplyThatShowsAHeldMatchIsMadeUpForByTheState(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.arrive("p", 10, store.PlayerState{Record: record(5, "", "duel.5", "trio.6")})
		s.Saw(0, heldRecord(22, "m", "duel.5")) // it left the trio while it was taken
		b.hub.Deliver(store.Notification{
			Number: 1, Matches: map[ident.Match]string{"m": heldMatch(20, "p", "q")},
			Changes: []store.Change{change("p", 10, heldRecord(21, "m", "duel.5", "trio.6"), "")},
		})
		b.sees(client, "match_proposed m")
		b.store.states["p"] = store.PlayerState{AsOf: 22, Record: heldRecord(22, "m", "duel.5"), Match: heldMatch(20, "p", "q")}
		b.heal()
		if got := s.Waiting(); len(got) != 1 || got[0] != "duel" {
			t.Errorf("waits in %v, which it left in part", got)
		}
	})
}

// What was told last is not the first to be forgotten.
func TestEndsAreToldOnceHoweverManyCameBefore(t *testing.T) {
	inBubble(t, func(b *bundle) {
		var kept []store.Notice // the newest first
		for n := protocol.MaxNotices; n > 0; n-- {
			kept = append(kept, notice(b, ended(fmt.Sprint(n), fmt.Sprintf("duel.%d", n))))
		}
		_, client := b.arrive("p", 10, store.PlayerState{Record: record(9, "", "trio.9"), Notices: kept})
		b.hub.Deliver(store.Notification{Number: 1, Changes: []store.Change{change("p", 10, record(20, ""), ended("21", "trio.9"))}})
		b.sees(client, "dequeued trio.9 expired")
		newest := append([]store.Notice{notice(b, ended("21", "trio.9"))}, kept[:protocol.MaxNotices-1]...)
		b.store.states["p"] = store.PlayerState{Notices: newest}
		b.lookAgain(1)
		b.sees(client)
	})
}

// Another's answer was on its way when the client declined: it is asked about that match no more.
func TestWhoDeclinedIsNotAskedAgain(t *testing.T) {
	inBubble(t, func(b *bundle) {
		s, client := b.asked()
		accepted := fmt.Sprintf("proposed|%d|1|duel|19|99|red=r1|p;q||99|q|||||", 25)
		finish := b.request(s, func() {
			s.Declined("m")
			s.Send(&protocol.Declined{MatchID: "m"})
		})
		b.hub.Deliver(store.Notification{Number: 1, Matches: map[ident.Match]string{"m": accepted}})
		finish()
		b.sees(client, "declined m")
	})
}
