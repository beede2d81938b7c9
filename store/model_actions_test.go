package store

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"muster/internal/ident"
)

func (m *model) actions() map[string]func(*rapid.T) {
	actions := map[string]func(*rapid.T){}
	for name, act := range map[string]func(){
		"arrive": m.doArrive, "depart": m.doDepart, "beat": m.doBeat, "heartbeat": m.doHeartbeat,
		"join": m.doJoin, "join more": m.doJoin, "join at once": m.doJoinMany, "leave": m.doLeave,
		"form": m.doForm, "form more": m.doForm, "sweep": m.doSweep,
		"accept": m.doAccept, "accept more": m.doAccept, "accept again": m.doAccept, "decline": m.doDecline, "show": m.doShow,
		"allocate": m.doAllocate, "open seats": m.doOpenSeats,
		"leave match": m.doLeaveMatch, "ack": m.doAck, "end match": m.doEndMatch,
		"look": m.doLook, "old session": m.doOld,
		"serve": m.doServe, "away": m.doAway, "lapse": m.doLapse, "crash": m.doCrash, "restart": m.doRestart,
		"clock": m.doClock, "lose": m.doLose,
	} {
		actions[name] = func(rt *rapid.T) { m.rt, m.failer = rt, rt; act() }
	}
	actions["repeat"] = func(rt *rapid.T) { m.rt, m.failer = rt, rt; m.last() }
	actions[""] = func(rt *rapid.T) { m.rt, m.failer = rt, rt; m.check(rt) }
	return actions
}

// call runs a call and keeps it to be repeated.
func (m *model) call(c func()) {
	m.last = c
	c()
}

func (m *model) doArrive() {
	p, i := m.player(), m.instance()
	m.call(func() {
		if !m.alive[i] {
			return
		}
		states, err := m.stores[i].Arrive(m.ctx, []Session{{Player: p}})
		m.must(err)
		if before := m.sessions[p]; before != nil {
			m.old = append(m.old, before)
		}
		c := &client{Session: Session{p, states[0].Generation}, instance: i}
		m.see(c, states[0])
		m.sessions[p] = c
	})
}

// again has sessions of an instance arrive again with their generations.
func (m *model) again(i int) {
	for _, p := range m.players {
		c := m.sessions[p]
		if c == nil || c.instance != i {
			continue
		}
		states, err := m.stores[i].Arrive(m.ctx, []Session{c.Session})
		m.must(err)
		if errors.Is(states[0].Err, ErrReplaced) {
			m.old = append(m.old, c)
			delete(m.sessions, p)
			continue
		}
		m.must(states[0].Err)
		m.see(c, states[0])
	}
}

func (m *model) doDepart() {
	c := m.connected()
	m.call(func() {
		if !m.alive[c.instance] {
			return
		}
		errs, err := m.stores[c.instance].Depart(m.ctx, testGrace, []Session{c.Session})
		m.must(err)
		m.must(errs[0], ErrGone, ErrReplaced)
		if m.sessions[c.Player] == c {
			delete(m.sessions, c.Player)
		}
	})
}

func (m *model) doBeat() {
	i := m.instance()
	for _, p := range m.players {
		c := m.sessions[p]
		if c == nil || c.instance != i {
			continue
		}
		errs, err := m.stores[i].Refresh(m.ctx, []Session{c.Session})
		m.must(err)
		if errs[0] != nil {
			m.again(i)
		}
	}
}

func (m *model) doHeartbeat() {
	p, i := m.player(), m.instance()
	m.call(func() {
		if !m.alive[i] {
			return
		}
		st, err := m.stores[i].Heartbeat(m.ctx, p)
		m.must(err)
		if c := m.sessions[p]; c != nil && st.Generation > c.Generation {
			m.old = append(m.old, c)
			delete(m.sessions, p)
		}
	})
}

func (m *model) doJoin() {
	w, p := m.world(), m.player()
	i, generation := m.instance(), ident.Place(0)
	if c := m.sessions[p]; c != nil && m.alive[c.instance] {
		i, generation = c.instance, c.Generation
	}
	m.serial++
	key := rapid.SampledFrom([]string{"k1", "k2", "~" + string(rune('a'+m.serial%26))}).Draw(m.rt, "key")
	m.call(func() { m.join(i, w, Join{Player: p, Generation: generation, Key: key, Fingerprint: "f"}) })
}

// doJoinMany has all connected players of an instance join a world in one call that also forms matches.
func (m *model) doJoinMany() {
	w, i := m.world(), m.instance()
	var joins []Join
	for _, p := range m.players {
		if c := m.sessions[p]; c != nil && c.instance == i {
			joins = append(joins, Join{Player: p, Generation: c.Generation, Key: "~m", Fingerprint: "f"})
		}
	}
	candidates := m.candidates(2)
	m.call(func() { m.join(i, w, joins...); m.form(i, w, candidates) })
}

func (m *model) join(i int, w WorldRules, joins ...Join) {
	if !m.alive[i] || len(joins) == 0 {
		return
	}
	w = m.current(w)
	replies, err := m.stores[i].runAll(m.ctx, m.stores[i].matchCall(w, 2, joins, "", nil))
	m.must(err)
	m.must(replies[0].err())
	for n, j := range parseJoined(w.Name, replies[0], len(joins)).Joined {
		p := joins[n].Player
		var queued *AlreadyQueuedError
		var matched *InMatchError
		if errors.As(j.Err, &queued) || errors.As(j.Err, &matched) {
			continue
		}
		var cooled *CooledDownError
		if errors.As(j.Err, &cooled) {
			continue
		}
		m.must(j.Err, ErrGone, ErrReplaced, ErrTooManyWorlds)
		if j.Err != nil {
			continue
		}
		r, err := ParseRecord(j.Record)
		m.must(err)
		at := slices.IndexFunc(r.Tickets, func(t Ticket) bool { return t.World == w.Name && t.Place == j.Place })
		if at < 0 {
			m.Fatalf("joined %+v, which is not in its record %+v", j, r)
		}
		if r.Tickets[at].Waiting() {
			m.believe(p, w.Name, j.Place)
		}
		if c := m.sessions[p]; c != nil && c.Generation == joins[n].Generation {
			c.record, c.asOf = j.Record, max(c.asOf, r.Version)
		}
	}
}

func (m *model) believe(p ident.Player, w ident.World, place ident.Place) {
	if m.tickets[p] == nil {
		m.tickets[p] = map[ident.World]ident.Place{}
	}
	m.tickets[p][w] = place
}

// current is a world's rules with the revision that it has now.
func (m *model) current(w WorldRules) WorldRules {
	for _, known := range m.rules {
		if known.Name == w.Name {
			w = known
		}
	}
	return w
}

func (m *model) doLeave() {
	c := m.connected()
	var worlds []ident.World
	if rapid.Bool().Draw(m.rt, "one world") {
		worlds = append(worlds, m.world().Name)
	}
	m.call(func() {
		if !m.alive[c.instance] {
			return
		}
		left, err := m.stores[c.instance].RemoveFromQueue(m.ctx, c.Session, worlds...)
		m.must(err, ErrReplaced)
		if err != nil {
			return
		}
		for _, w := range left.Worlds {
			delete(m.tickets[c.Player], w)
		}
		if m.sessions[c.Player] == c && len(left.Worlds) > 0 {
			m.learn(c, left.Record, nil)
		}
	})
}

func (m *model) doForm() {
	i, w := m.instance(), m.world()
	candidates := m.candidates(rapid.IntRange(1, 3).Draw(m.rt, "candidates"))
	m.call(func() { m.form(i, w, candidates) })
}

func (m *model) doSweep() {
	i := m.instance()
	swept, err := m.stores[i].Sweep(m.ctx, 0, m.rules)
	m.must(err)
	if rapid.Bool().Draw(m.rt, "to the end") {
		for range 100 {
			if !swept.More {
				return
			}
			swept, err = m.stores[i].Sweep(m.ctx, 0, m.rules)
			m.must(err)
		}
		m.Fatalf("the sweep does not end")
	}
}

func (m *model) doLeaveMatch() {
	c := m.connected()
	r := m.view().records[c.Player]
	m.call(func() {
		if !m.alive[c.instance] {
			return
		}
		out, err := m.stores[c.instance].LeaveMatch(m.ctx, c.Session, r.Match)
		m.must(err, ErrNoSuchMatch, ErrReplaced)
		if err == nil && out.Record != "" && m.sessions[c.Player] == c {
			m.learn(c, out.Record, nil)
		}
	})
}

func (m *model) doAck() {
	c := m.connected()
	r := m.view().records[c.Player]
	_, err := m.stores[c.instance].AckMatch(m.ctx, c.Session, r.Match)
	m.must(err, ErrNoSuchMatch, ErrReplaced)
}

func (m *model) doEndMatch() {
	i, r := m.instance(), m.view().records[m.player()]
	reason := rapid.SampledFrom([]EndReason{Ended, Expired}).Draw(m.rt, "reason")
	m.call(func() {
		if m.alive[i] {
			m.must(m.stores[i].EndMatch(m.ctx, r.Match, reason), ErrNoSuchMatch)
		}
	})
}

// doLook has an instance read the states of its sessions.
func (m *model) doLook() {
	i := m.instance()
	for _, p := range m.players {
		c := m.sessions[p]
		if c == nil || c.instance != i {
			continue
		}
		states, err := m.stores[i].States(m.ctx, []ident.Player{p})
		m.must(err)
		m.see(c, states[0])
	}
}

// doOld has a session that was taken over act: it must change nothing for its player.
func (m *model) doOld() {
	m.old = slices.DeleteFunc(m.old, func(c *client) bool {
		now := m.view().presences[c.Player]
		return !m.alive[c.instance] || now == nil || now[3] <= c.Generation.String()
	})
	if len(m.old) == 0 {
		m.rt.Skip("no old session")
	}
	c := rapid.SampledFrom(m.old).Draw(m.rt, "old session")
	s, before := m.stores[c.instance], m.dump()
	errs, err := s.Refresh(m.ctx, []Session{c.Session})
	m.must(err)
	m.wantErr("old refresh", errs[0], ErrReplaced)
	errs, err = s.Depart(m.ctx, testGrace, []Session{c.Session})
	m.must(err)
	m.wantErr("old depart", errs[0], ErrReplaced)
	_, err = s.RemoveFromQueue(m.ctx, c.Session)
	m.wantErr("old leave", err, ErrReplaced)
	_, err = s.LeaveMatch(m.ctx, c.Session, "m1")
	m.wantErr("old leave of a match", err, ErrReplaced)
	states, err := s.Arrive(m.ctx, []Session{c.Session})
	m.must(err)
	m.wantErr("old arrival", states[0].Err, ErrReplaced)
	// Only that its instance does not hold it, and that time has passed.
	its := func(line string) bool {
		return unimportant.MatchString(line) || strings.HasPrefix(line, "meta calm_until") || strings.HasPrefix(line, "meta ahead") || strings.HasPrefix(line, "ip:")
	}
	before, after := slices.DeleteFunc(before, its), slices.DeleteFunc(m.dump(), its)
	if diff := cmp.Diff(before, after); diff != "" {
		m.Errorf("an old session changed something:\n%s", diff)
	}
}

// doServe lets time pass in which instances did their work.
func (m *model) doServe() {
	m.renewAll()
	m.step(rapid.SampledFrom([]time.Duration{time.Second, time.Minute, 4 * time.Minute, 7 * time.Minute, 20 * time.Minute, time.Hour}).Draw(m.rt, "time"))
	m.serve()
}
