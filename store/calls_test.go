package store

import (
	"fmt"
	"time"

	"muster/internal/ident"
)

// group and duel are worlds with the tests' times.
func group(name ident.World, size int) WorldRules {
	return WorldRules{Name: name, Size: size, Scan: 32, MatchHold: testHold, TicketTTL: 2 * time.Hour, Tick: time.Second}
}

func duel(name ident.World, cooldown time.Duration) WorldRules {
	w := group(name, 2)
	w.Pairs, w.Scan, w.RematchCooldown = true, 10, cooldown
	return w
}

// asked is a world of pairs that are asked whether they are there, and wait for a server if it allocates.
func asked(name ident.World, allocate bool) WorldRules {
	w := group(name, 2)
	w.ReadyCheck, w.DeclineCooldown, w.Allocate = time.Minute, 10*time.Minute, allocate
	return w
}

// room is a world of mode fill.
func room(name ident.World, seats int) WorldRules {
	w := group(name, 1)
	w.Seats, w.SeatHold = seats, time.Minute
	return w
}

// declare makes worlds the realm's own, all open, and puts their revision in.
func (b *bundle) declare(worlds ...WorldRules) {
	b.Helper()
	declared := make([]DeclaredWorld, len(worlds))
	for i, w := range worlds {
		declared[i] = DeclaredWorld{Name: w.Name, State: "open", Hash: "h", Settings: "{}"}
	}
	if _, err := b.stores[0].DeclareWorlds(b.ctx, declared); err != nil {
		b.Fatal(err)
	}
}

// rules reads the revision of a world into its rules, unless they have one.
func (b *bundle) rules(w WorldRules) WorldRules {
	b.Helper()
	if w.Revision != 0 {
		return w
	}
	worlds, _, err := b.stores[0].ReadWorlds(b.ctx)
	if err != nil {
		b.Fatal(err)
	}
	for _, declared := range worlds {
		if declared.Name == w.Name {
			w.Revision = declared.Revision
		}
	}
	return w
}

// renew renews the leases of all instances.
func (b *bundle) renew() {
	b.Helper()
	for _, s := range b.stores {
		if _, err := s.RenewLease(b.ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// sweep sweeps until there is no more to do, and returns what was done in all.
func (b *bundle) sweep(worlds ...WorldRules) Swept {
	b.Helper()
	var all Swept
	for range 1000 {
		swept, err := b.stores[0].Sweep(b.ctx, 0, worlds)
		if err != nil {
			b.Fatal(err)
		}
		all.Parked += swept.Parked
		all.Gone += swept.Gone
		all.MatchesExpired += swept.MatchesExpired
		all.TicketsExpired += swept.TicketsExpired
		all.SeatsReleased += swept.SeatsReleased
		all.Due = append(all.Due, swept.Due...)
		if !swept.More {
			return all
		}
	}
	b.Fatal("the sweep does not end")
	return all
}

// arrive brings new sessions to an instance and returns them.
func (b *bundle) arrive(instance int, players ...ident.Player) []Session {
	b.Helper()
	sessions := make([]Session, len(players))
	for i, p := range players {
		sessions[i].Player = p
	}
	states, err := b.stores[instance].Arrive(b.ctx, sessions)
	if err != nil {
		b.Fatal(err)
	}
	for i, st := range states {
		if st.Err != nil {
			b.Fatalf("arrive %s: %v", st.Player, st.Err)
		}
		sessions[i].Generation = st.Generation
		b.who[st.Player] = sessions[i]
	}
	return sessions
}

// join puts sessions into a world and forms no match.
func (b *bundle) join(instance int, w WorldRules, sessions ...Session) []Joined {
	b.Helper()
	joins := make([]Join, len(sessions))
	for i, who := range sessions {
		joins[i] = Join{Player: who.Player, Generation: who.Generation, Key: "~k", Fingerprint: "f"}
	}
	replies, err := b.stores[instance].runAll(b.ctx, b.stores[instance].matchCall(b.rules(w), 8, joins, "", nil))
	if err == nil {
		err = replies[0].err()
	}
	if err != nil {
		b.Fatal(err)
	}
	return parseJoined(w.Name, replies[0], len(joins)).Joined
}

// waiting has players arrive at an instance and join a world.
func (b *bundle) waiting(instance int, w WorldRules, players ...ident.Player) []Session {
	b.Helper()
	sessions := b.arrive(instance, players...)
	for i, j := range b.join(instance, w, sessions...) {
		if j.Err != nil {
			b.Fatalf("join %s: %v", players[i], j.Err)
		}
	}
	return sessions
}

// form forms at most n matches of a world in one call.
func (b *bundle) form(instance int, w WorldRules, n int) Formed {
	b.Helper()
	return b.formWith(instance, w, "", b.candidates(n))
}

func (b *bundle) formWith(instance int, w WorldRules, after Cursor, candidates []Candidate) Formed {
	b.Helper()
	_, formed, err := b.stores[instance].JoinAndMatch(b.ctx, b.rules(w), 8, nil, after, candidates)
	if err != nil {
		b.Fatal(err)
	}
	return formed
}

// candidates makes up ids of matches: m1, m2…
func (b *bundle) candidates(n int) []Candidate {
	list := make([]Candidate, n)
	for i := range list {
		b.ids++
		id := fmt.Sprintf("m%d", b.ids)
		list[i] = Candidate{Match: ident.Match(id), Rooms: []Room{{"play", "r" + id}}}
	}
	return list
}

// state reads a player's state; its record and match are parsed.
func (b *bundle) state(p ident.Player) (Record, PlayerState) {
	b.Helper()
	states, err := b.stores[0].States(b.ctx, []ident.Player{p})
	if err != nil {
		b.Fatal(err)
	}
	r, err := ParseRecord(states[0].Record)
	if err != nil {
		b.Fatal(err)
	}
	return r, states[0]
}
