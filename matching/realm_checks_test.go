package matching

import (
	"slices"
	"time"

	"muster/internal/ident"
	"muster/store"
)

// records are the players' records, in their order.
func (r *realm) records(players []player) []store.Record {
	r.Helper()
	var records []store.Record
	for batch := range slices.Chunk(players, 100) {
		var ids []ident.Player
		for _, p := range batch {
			ids = append(ids, p.Player)
		}
		states, err := r.stores[0].States(r.ctx, ids)
		if err != nil {
			r.Fatal(err)
		}
		for _, st := range states {
			record, err := store.ParseRecord(st.Record)
			if err != nil {
				r.Fatal(err)
			}
			records = append(records, record)
		}
	}
	return records
}

// matched counts the players who are in a match.
func (r *realm) matched(players []player) int {
	r.Helper()
	n := 0
	for _, record := range r.records(players) {
		if record.Match != "" {
			n++
		}
	}
	return n
}

// awaitMatched waits until all players, but at most so many, are in a match.
func (r *realm) awaitMatched(players []player, allBut int) {
	r.Helper()
	deadline := time.Now().Add(patience)
	for {
		n := r.matched(players)
		if n >= len(players)-allBut {
			return
		}
		if time.Now().After(deadline) {
			r.Fatalf("%d of %d players are matched, want all but %d", n, len(players), allBut)
		}
		pause(r.ctx, 5*time.Millisecond)
	}
}

// checkMatches checks that each match has exactly its world's size of distinct players, each of whose records
// names it, and that nobody who is in one waits anywhere.
func (r *realm) checkMatches(players []player) {
	r.Helper()
	of := map[ident.Match][]ident.Player{}
	for i, record := range r.records(players) {
		if record.Match == "" {
			continue
		}
		of[record.Match] = append(of[record.Match], players[i].Player)
		if waiting := record.Waiting(); len(waiting) > 0 {
			r.Errorf("%s is in match %s and waits as %v", players[i].Player, record.Match, waiting)
		}
	}
	for id, members := range of {
		m, err := r.stores[0].ReadMatch(r.ctx, id)
		if err != nil {
			r.Fatal(err)
		}
		w, _ := r.instances[0].World(m.World)
		slices.Sort(members)
		slices.Sort(m.Players)
		if len(m.Players) != w.Size || !slices.Equal(members, m.Players) {
			r.Errorf("match %s in %s has %v, the records say %v", id, m.World, m.Players, members)
		}
		if len(m.Rooms) != len(w.Rooms) || m.Rooms[0].ID == "" || m.Rooms[0].ID == m.Rooms[1].ID {
			r.Errorf("match %s has the rooms %v", id, m.Rooms)
		}
	}
}
