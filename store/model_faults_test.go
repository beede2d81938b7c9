package store

import (
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"muster/internal/ident"
)

// serve does what instances that lived through the last step would have done in it: renewed their leases,
// extended their sessions' presence, and called something, so that it is not calm.
func (m *model) serve() {
	realmNow := (m.now + m.ahead()) / 1000
	m.pipelined(func(pipe redis.Pipeliner) {
		served := false
		for i, s := range m.stores {
			if m.alive[i] {
				served = true
				pipe.ZAddXX(m.ctx, m.key("ins"), redis.Z{Score: float64(realmNow + 3000), Member: string(s.opts.Instance)})
			}
		}
		if served {
			pipe.HSet(m.ctx, m.key("meta"), "touched", realmNow)
		}
	})
	for _, p := range m.players {
		c := m.sessions[p]
		if c == nil || !m.alive[c.instance] {
			continue
		}
		// Its presence may have ended by the step, though it would have been extended all the time.
		text := strings.Join([]string{"L", m.stores[c.instance].Epoch().String(), string(m.stores[c.instance].opts.Instance), c.Generation.String()}, "|")
		now := m.view().presences[p]
		if now == nil && !slices.Contains(m.view().holders[string(m.stores[c.instance].opts.Instance)], string(p)) {
			continue
		}
		if now == nil || strings.Join(now, "|") == text {
			m.rdb.Set(m.ctx, m.key("pr", string(p)), text, testPresenceTTL)
		}
	}
	m.renewAll()
}

func (m *model) renewAll() {
	for i := range m.stores {
		if m.alive[i] {
			m.renewOne(i)
		}
	}
}

// renewOne renews an instance's lease; one that had lapsed has all its sessions arrive again.
func (m *model) renewOne(i int) {
	lease, err := m.stores[i].RenewLease(m.ctx)
	m.must(err)
	if lease.Lapsed {
		m.again(i)
	}
}

// doAway lets time pass in which Redis was away: nobody did anything.
func (m *model) doAway() {
	m.step(rapid.SampledFrom([]time.Duration{5 * time.Second, 8 * time.Minute, 15 * time.Minute}).Draw(m.rt, "time"))
	for i := range m.stores {
		if m.alive[i] && rapid.Bool().Draw(m.rt, "renews at once") {
			m.renewOne(i)
		}
	}
}

// doLapse lets an instance be silent for longer than its lease, while others work.
func (m *model) doLapse() {
	i := m.instance()
	m.renewAll()
	m.alive[i] = false
	m.step(4 * time.Second)
	m.serve()
	m.alive[i] = true
	for _, act := range []func(){m.doForm, m.doSweep} {
		if rapid.Bool().Draw(m.rt, "meanwhile") {
			act()
		}
	}
	m.renewOne(i)
}

func (m *model) doCrash() {
	i := m.instance()
	m.alive[i] = false
	for p, c := range m.sessions {
		if c.instance == i {
			delete(m.sessions, p)
		}
	}
}

func (m *model) doRestart() {
	i := slices.Index(m.alive, false)
	if i < 0 {
		m.rt.Skip("all instances are alive")
	}
	m.start(i)
	e, err := m.stores[i].OpenEpoch(m.ctx, 0)
	m.must(err)
	m.stores[i].SetEpoch(e.Number)
	m.renewOne(i)
	m.declareBy(i)
}

// doClock steps Redis' clock; keys end by another one.
func (m *model) doClock() {
	by := rapid.SampledFrom([]time.Duration{-time.Hour, -5 * time.Second, 5 * time.Second, time.Hour}).Draw(m.rt, "step")
	m.set(m.now + by.Microseconds())
	m.renewAll()
}

// doLose loses the history: with all data or with none. Instances that live assert, each in its time.
func (m *model) doLose() {
	i := m.instance()
	if rapid.Bool().Draw(m.rt, "emptied") {
		m.lose()
	} else {
		m.rdb.HSet(m.ctx, m.key("meta"), "history", "other")
	}
	_, err := m.stores[i].RenewLease(m.ctx)
	m.wantErr("a call on a lost history", err, ErrLostHistory)
	m.sameKeys(i)
	late := rapid.Bool().Draw(m.rt, "worlds are declared late")
	for i := range m.stores {
		if m.alive[i] {
			m.recover(i, late)
		}
	}
	m.declareBy(i)
	if rapid.Bool().Draw(m.rt, "there is a durable record") {
		m.restore(i)
	}
	m.step(rapid.SampledFrom([]time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond}).Draw(m.rt, "since"))
	m.believeRecords()
}

// sameKeys checks that calls of an epoch that is over write nothing.
func (m *model) sameKeys(i int) {
	before := m.dump()
	_, _, err := m.stores[i].JoinAndMatch(m.ctx, m.rules[0], 2, []Join{{Player: "p0", Key: "~x"}}, "", m.candidates(1))
	m.wantErr("a join on a lost history", err, ErrLostHistory)
	if after := m.dump(); !slices.Equal(before, after) {
		m.Errorf("a call on a lost history wrote:\n%v\n%v", before, after)
	}
}

// recover is what an instance does that met another history.
func (m *model) recover(i int, late bool) {
	s, floor := m.stores[i], ident.Place(0)
	var mine []*client
	for _, p := range m.players {
		if c := m.sessions[p]; c != nil && c.instance == i {
			mine = append(mine, c)
			floor = max(floor, c.asOf, c.Generation)
		}
	}
	e, err := s.OpenEpoch(m.ctx, floor)
	m.must(err)
	if !late {
		s.SetEpoch(e.Number)
		m.declareBy(i)
	}
	all := make([]Assertion, len(mine))
	for n, c := range mine {
		all[n] = Assertion{Session: c.Session, AsOf: c.asOf, Record: c.record, Match: c.match}
	}
	for _, batch := range AssertionBatches(all) {
		outcomes, err := s.AssertState(m.ctx, e.Number, batch)
		m.must(err)
		again, err := s.AssertState(m.ctx, e.Number, batch)
		m.must(err)
		for j, outcome := range outcomes {
			m.settled(m.sessions[batch[j].Player], batch[j], outcome, again[j])
		}
	}
	s.SetEpoch(e.Number)
	m.renewOne(i)
	m.again(i)
}

// settled checks what became of an assertion.
func (m *model) settled(c *client, a Assertion, outcome, again Asserted) {
	if outcome != again && (outcome == Replaced || again == Replaced) {
		m.Errorf("%s asserted twice: %v, then %v", a.Player, outcome, again)
	}
	switch outcome {
	case Replaced:
		m.old = append(m.old, c)
		delete(m.sessions, c.Player)
	case Stands:
		seen, err := ParseRecord(a.Record)
		m.must(err)
		now := m.view().records[a.Player]
		for _, t := range seen.Waiting() {
			stands := slices.ContainsFunc(now.Tickets, func(other Ticket) bool { return other.World == t.World && other.Place == t.Place })
			if !stands && now.Match == "" {
				m.Errorf("%s asserted ticket %s, which stands and is not in its record %+v", a.Player, t.ID(), now)
			}
		}
	case Adopt:
	}
}

func (m *model) declareBy(i int) {
	declared := make([]DeclaredWorld, len(m.rules))
	for n, w := range m.rules {
		declared[n] = DeclaredWorld{Name: w.Name, State: "open", Hash: "h", Settings: "{}"}
	}
	_, err := m.stores[i].DeclareWorlds(m.ctx, declared)
	m.must(err)
	m.revisions()
}

// believeRecords has players believe what Redis says: a loss of history may have cost what no living
// instance knew, and brought back what was known last.
func (m *model) believeRecords() {
	m.tickets = map[ident.Player]map[ident.World]ident.Place{}
	for p, r := range m.view().records {
		for _, t := range r.Waiting() {
			m.believe(p, t.World, t.Place)
		}
	}
}

// form forms matches and checks each against the queue as it stood: whole, of live players, oldest first.
func (m *model) form(i int, w WorldRules, candidates []Candidate) {
	if !m.alive[i] {
		return
	}
	w = m.current(w)
	before := m.view()
	ids := []ident.Match{}
	for _, c := range candidates {
		if _, ok := before.matches[c.Match]; !ok {
			ids = append(ids, c.Match)
		}
	}
	formed := m.formWith(i, w, "", candidates)
	after := m.view()
	if w.Seats > 0 || len(before.rooms[string(w.Name)]) > 0 {
		m.checkSeated(before, after, w, formed)
		return
	}
	expected := expectedMatches(before, w, len(ids))
	if formed.OpensIn > 0 {
		expected = nil
	}
	if formed.Matches != len(expected) {
		m.Errorf("%s formed %d matches, want %v", w.Name, formed.Matches, expected)
	}
	for n, players := range expected {
		if got := after.matches[ids[n]].Players; !slices.Equal(got, players) {
			m.Errorf("match %s of %s has %v, want %v", ids[n], w.Name, got, players)
		}
	}
	if len(after.matches) != len(before.matches)+len(expected) {
		m.Errorf("%d matches became %d by forming %d", len(before.matches), len(after.matches), len(expected))
	}
}

// expectedMatches are those that the oldest live tickets make.
func expectedMatches(v *view, w WorldRules, ids int) [][]ident.Player {
	live := v.live(w.Name)
	var matches [][]ident.Player
	if !w.Pairs {
		for ; len(live) >= w.Size && len(matches) < ids; live = live[w.Size:] {
			matches = append(matches, live[:w.Size])
		}
		return matches
	}
	for len(live) > 1 && len(matches) < ids {
		first := live[0]
		live = live[1:]
		at := slices.IndexFunc(live, func(p ident.Player) bool {
			return !v.apart["rc:"+string(w.Name)+","+string(min(first, p))+","+string(max(first, p))]
		})
		if at >= 0 {
			matches = append(matches, []ident.Player{first, live[at]})
			live = slices.Delete(slices.Clone(live), at, at+1)
		}
	}
	return matches
}
