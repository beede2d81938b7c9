package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"muster/internal/ident"
	"muster/internal/redistest"
)

// openRooms has n matches of a world stand, each of which has one open seat.
func (b *bundle) openRooms(w WorldRules, n int) {
	b.Helper()
	for i := range n {
		b.waiting(0, w, players(fmt.Sprintf("room%d-", i), w.Size)...)
		b.form(0, w, 1)
	}
	for id := range b.view().matches {
		if _, err := b.stores[0].OpenSeats(b.ctx, id, 1, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// TestOpenSeats_FillBeforeNewMatches has as many players come at once as there are open seats, more than one call reads.
func TestOpenSeats_FillBeforeNewMatches(t *testing.T) {
	const seats = 45
	for _, w := range []WorldRules{group("group", 3), duel("duel", 0), duel("apart", time.Hour)} {
		t.Run(string(w.Name), func(t *testing.T) {
			onBackends(t, func(t *testing.T, be backend) {
				b := setup(t, be, 1, w)
				b.openRooms(w, seats)
				var joins []Join
				for _, who := range b.arrive(0, players("p", seats)...) {
					joins = append(joins, Join{Player: who.Player, Generation: who.Generation, Key: "~k", Fingerprint: "f"})
				}
				_, formed, err := b.stores[0].JoinAndMatch(b.ctx, b.rules(w), 8, joins, "", b.candidates(25))
				if err != nil {
					t.Fatal(err)
				}
				for formed.More {
					formed = b.formWith(0, w, formed.After, b.candidates(25))
				}
				v := b.view()
				if len(v.matches) != seats || len(v.rooms[string(w.Name)]) > 0 || len(v.queues[w.Name]) > 0 {
					t.Errorf("%d matches, %d with open seats, and %d players wait", len(v.matches), len(v.rooms[string(w.Name)]), len(v.queues[w.Name]))
				}
			})
		})
	}
}

// TestOpenSeats_EveryRoomIsOffered has a player wait who may enter only one of many rooms, the one that is looked at last,
// and another who may enter none: no match of the two is formed before all rooms were offered to both.
func TestOpenSeats_EveryRoomIsOffered(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 40} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := duel("duel", time.Hour)
			b := setup(t, only(redistest.Shared(t)), 1, w)
			b.openRooms(w, n)
			b.arrive(0, "x", "y")
			var last ident.Match
			for id, m := range b.view().matches {
				last = max(last, id)
				b.keepApart(w, [2]ident.Player{"y", m.Players[0]})
			}
			for id, m := range b.view().matches {
				if id != last {
					b.keepApart(w, [2]ident.Player{"x", m.Players[1]})
				}
			}
			b.join(0, w, b.who["y"], b.who["x"])
			b.walk(0, w, 2, func(Formed) {})
			v := b.view()
			if m := v.matches[v.records["x"].Match]; m.ID != last || !slices.Contains(m.Players, "x") || v.records["y"].Match != "" {
				t.Errorf("x is in %+v, want it in %s; y is in %q", m, last, v.records["y"].Match)
			}
		})
	}
}

// TestOpenSeats_SingleTicketIsTriedAgain: a single player waits beside a room that it may not enter yet.
func TestOpenSeats_SingleTicketIsTriedAgain(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w := duel("duel", time.Minute)
		b := setup(t, be, 1, w)
		b.openRooms(w, 1)
		b.waiting(0, w, "x")
		for p := range b.view().records {
			if p != "x" {
				b.keepApart(w, [2]ident.Player{p, "x"})
			}
		}
		b.walk(0, w, 1, func(Formed) {})
		if due := b.pass(time.Second, w).Due; !slices.Contains(due, w.Name) || b.view().records["x"].Match != "" {
			t.Errorf("due are %v, want %s", due, w.Name)
		}
		b.pass(time.Minute, w)
		b.walk(0, w, 1, func(Formed) {})
		if b.view().records["x"].Match == "" {
			t.Error("x still waits")
		}
		b.waiting(0, w, "y")
		if due := b.pass(time.Second, w).Due; len(due) > 0 {
			t.Errorf("due are %v, though a single player waits and no seat is open", due)
		}
	})
}

// TestRoom_SmallerSizeBoundsOpenRooms lowers the size of a fill world while rooms are open: nobody enters those that have
// as many players, also when one of them leaves.
func TestRoom_SmallerSizeBoundsOpenRooms(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w := room("room", 5)
		b := setup(t, be, 1, w)
		b.waiting(0, w, "a1", "a2", "a3")
		b.form(0, w, 1)
		w.Seats = 2
		b.waiting(0, w, "b1")
		b.form(0, w, 1)
		b.leaveMatch("a3")
		b.leaveMatch("a2")
		b.waiting(0, w, "c1", "c2")
		b.form(0, w, 2)
		b.waiting(0, w, "d1")
		b.form(0, w, 2)
		got := map[string]int{}
		for _, m := range b.view().matches {
			slices.Sort(m.Players)
			got[fmt.Sprint(m.Players)] = m.Open
		}
		if want := map[string]int{"[a1 c1]": 0, "[b1 c2]": 0, "[d1]": 1}; !maps.Equal(got, want) {
			t.Errorf("rooms and their open seats are %v, want %v", got, want)
		}
		for _, fault := range b.view().broken(map[ident.World]int{"room": 2}) {
			t.Error(fault)
		}
	})
}

// TestRoom_RefusedJoinSaysWhenItsEndIsDue has a player join again whose record has an end that is over, while its room goes on.
func TestRoom_RefusedJoinSaysWhenItsEndIsDue(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w := room("room", 3)
		b := setup(t, be, 1, w)
		refusal := func() (in *InMatchError) {
			t.Helper()
			b.arrive(0, "x")
			result, _, err := b.stores[0].JoinAndMatch(b.ctx, b.rules(w), 8, []Join{b.joinOf("x", "~k", "f")}, "", nil)
			if err != nil || !errors.As(result.Joined[0].Err, &in) {
				t.Fatalf("joined: %+v, %v", result, err)
			}
			return in
		}
		b.waiting(0, w, "x")
		b.form(0, w, 1)
		b.live(testHold-time.Minute, []int{0})
		b.waiting(0, w, "y")
		b.form(0, w, 1)
		b.live(2*time.Minute, []int{0})
		if in := refusal(); in.Overdue || in.EndsAt != b.view().matches["m1"].EndsAt {
			t.Errorf("x is refused with %+v, but its room goes on until %d", in, b.view().matches["m1"].EndsAt)
		}
		b.live(testHold, []int{0})
		if in := refusal(); !in.Overdue {
			t.Errorf("x is refused with %+v, though its room is over", in)
		}
		b.step(3 * time.Second)
		if in := refusal(); in.Overdue {
			t.Errorf("x is refused with %+v, though nothing ends while it is calm", in)
		}
	})
}

// TestBackfilledMatch_IsKeptByThoseWhoAreGone has players of a match whose seats a back end opened vanish in each way.
func TestBackfilledMatch_IsKeptByThoseWhoAreGone(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w := duel("duel", 0)
		b := setup(t, be, 2, w)
		b.waiting(0, w, "drops")
		b.waiting(1, w, "killed")
		b.form(0, w, 1)
		if _, err := b.stores[0].OpenSeats(b.ctx, "m1", 2, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := b.stores[0].Heartbeat(b.ctx, "http"); err != nil {
			t.Fatal(err)
		}
		b.joinAs(w, Join{Player: "http", Key: "~k", Fingerprint: "f"})
		b.waiting(1, w, "seated")
		b.form(0, w, 1)
		b.depart("drops")
		b.live(4*time.Second, []int{0})
		swept := b.sweep(w)
		for range 2 {
			b.live(testPresenceTTL+testDrain+time.Minute, []int{0})
			all := b.sweep(w)
			swept.Gone, swept.SeatsReleased = swept.Gone+all.Gone, swept.SeatsReleased+all.SeatsReleased
		}
		v := b.view()
		for _, p := range []ident.Player{"drops", "killed", "http", "seated"} {
			if v.records[p].Match != "m1" || len(v.notices[p]) > 0 {
				t.Errorf("%s is in %q and was told %v", p, v.records[p].Match, v.notices[p])
			}
		}
		if m := v.matches["m1"]; len(m.Players) != 4 || len(v.away) > 0 || len(v.holders) > 0 {
			t.Errorf("the match has %v, away are %v, held are %v, swept %+v", m.Players, v.away, v.holders, swept)
		}
	})
}
