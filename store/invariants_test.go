package store

import (
	"fmt"
	"slices"
	"strconv"

	"muster/internal/ident"
)

// broken names what does not hold in a realm that a script has just left. sizes are those of its worlds.
func (v *view) broken(sizes map[ident.World]int) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	v.checkRecords(fault)
	v.checkMatches(sizes, fault)
	v.checkQueues(fault)
	v.checkIndexes(fault)
	return faults
}

func (v *view) checkRecords(fault func(string, ...any)) {
	for p, r := range v.records {
		if r.Match != "" {
			m, ok := v.matches[r.Match]
			if len(r.Waiting()) > 0 && !r.Held {
				fault("%s waits while it is in match %s", p, r.Match)
			}
			if ok && r.Held != m.Held() {
				fault("%s is held %v by match %s, which is %s", p, r.Held, r.Match, m.State)
			}
			_, looked := v.kept[string(p)]
			switch {
			case !ok && (r.Version >= v.epoch || !looked):
				fault("%s is in match %s, which does not exist", p, r.Match)
			case ok && (!slices.Contains(m.Players, p) || slices.Contains(m.Left, p)):
				fault("%s is in match %s, which does not have it", p, r.Match)
			}
		}
		ended := len(r.Tickets) > len(r.Waiting())
		if _, ok := v.kept[string(p)]; !ok && (ended || r.Idle()) {
			fault("%s has a record that nobody will look at: %+v", p, r)
		}
		for _, t := range r.Waiting() {
			_, queued := v.queues[t.World][p]
			if r.Held {
				if queued {
					fault("%s is in the queue of %s, and held by match %s", p, t.World, r.Match)
				}
				continue
			}
			if _, away := v.away[string(p)]; !queued && !away {
				fault("%s has ticket %s in no queue, and nobody will end it", p, t.ID())
			}
		}
	}
}

func (v *view) checkMatches(sizes map[ident.World]int, fault func(string, ...any)) {
	open := map[ident.World]int{}
	for id, m := range v.matches {
		if !m.Held() {
			open[m.World]++
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(m.Players)))
		if !m.Seats && len(m.Players) != sizes[m.World] || len(distinct) != len(m.Players) {
			fault("match %s of %s has players %v", id, m.World, m.Players)
		}
		v.checkLife(m, sizes, fault)
		if len(m.Left) >= len(m.Players) {
			fault("match %s has been left by all", id)
		}
		for _, p := range m.Players {
			if !slices.Contains(m.Left, p) && v.records[p].Match != id && m.Epoch >= v.epoch {
				fault("match %s has %s, whose record says %q", id, p, v.records[p].Match)
			}
		}
		if at, ok := v.deadlines[string(id)]; !ok || int64(at) != m.EndsAt {
			fault("match %s ends at %d, its index says %.0f", id, m.EndsAt, at)
		}
	}
	for world, rooms := range v.rooms {
		for id := range rooms {
			if m := v.matches[ident.Match(id)]; string(m.World) != world || m.Open == 0 {
				fault("%s has seats in %s, which has none: %+v", world, id, m)
			}
		}
	}
	for id := range v.asking {
		if v.matches[ident.Match(id)].State != Allocating {
			fault("a server is asked for %s, which is %q", id, v.matches[ident.Match(id)].State)
		}
	}
	if len(v.deadlines) != len(v.matches) {
		fault("%d deadlines of %d matches", len(v.deadlines), len(v.matches))
	}
	for world, text := range v.open {
		if text == "" {
			text = "0"
		}
		if text != strconv.Itoa(open[world]) {
			fault("%s counts %s open matches of %d", world, text, open[world])
		}
	}
}

// checkLife looks at what a match waits for, and at its book of seats.
func (v *view) checkLife(m Match, sizes map[ident.World]int, fault func(string, ...any)) {
	_, asks := v.asking[string(m.ID)]
	if asks != (m.State == Allocating) {
		fault("match %s is %s, asks for a server: %v", m.ID, m.State, asks)
	}
	if m.State == Proposed && m.AcceptBy != m.EndsAt {
		fault("match %s is to be accepted by %d and ends at %d", m.ID, m.AcceptBy, m.EndsAt)
	}
	if !m.Seats {
		return
	}
	open := v.rooms[string(m.World)][string(m.ID)]
	if int(open) != m.Open || m.Open < 0 {
		fault("match %s has %d open seats, its index says %.0f", m.ID, m.Open, open)
	}
	if m.World == "room" && len(m.Players)+m.Open > sizes[m.World] {
		fault("match %s has %d open seats beside %v", m.ID, m.Open, m.Players)
	}
	for _, p := range m.Players {
		r := v.records[p]
		_, held := v.seats[string(p)]
		if r.Match == m.ID && r.Seat && held != !r.Acked {
			fault("%s has a seat that is held %v, acknowledged %v", p, held, r.Acked)
		}
		if _, away := v.away[string(p)]; r.Match == m.ID && r.Seat && !away && v.presences[p] == nil && !v.isHeld(p) {
			fault("%s has a seat in %s and is nowhere", p, m.ID)
		}
	}
}

// isHeld tells whether an instance's index has a player, so that it is parked when the instance is found silent.
func (v *view) isHeld(p ident.Player) bool {
	for _, players := range v.holders {
		if slices.Contains(players, string(p)) {
			return true
		}
	}
	return false
}

func (v *view) checkQueues(fault func(string, ...any)) {
	for world, queue := range v.queues {
		for p, place := range queue {
			i := slices.IndexFunc(v.records[p].Tickets, func(t Ticket) bool { return t.World == world })
			if i < 0 || !v.records[p].Tickets[i].Waiting() || v.records[p].Tickets[i].Place != place {
				fault("%s has %s at %d, whose record says %+v", world, p, place, v.records[p])
			}
			_, away := v.away[string(p)]
			if presence := v.presences[p]; away && (presence == nil || presence[0] == "A") && !v.isLive(p) && presence != nil {
				fault("%s has %s, who is away", world, p)
			}
		}
	}
}

func (v *view) checkIndexes(fault func(string, ...any)) {
	for p, presence := range v.presences {
		if presence[0] == "L" && !slices.Contains(v.holders[presence[2]], string(p)) {
			fault("%s is held by %s, whose index does not have it", p, presence[2])
		}
		if _, away := v.away[string(p)]; presence[0] == "H" && !away {
			fault("%s waits by heartbeats, and nobody will end it", p)
		}
	}
	for instance := range v.holders {
		if _, ok := v.leases[instance]; !ok {
			fault("%s holds players and is in no index", instance)
		}
	}
	for instance := range v.published {
		if _, ok := v.leases[instance]; !ok {
			fault("publishes are counted for %s, which is in no index", instance)
		}
	}
}
