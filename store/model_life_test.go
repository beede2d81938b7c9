package store

import (
	"encoding/json"
	"time"

	"pgregory.net/rapid"

	"muster/internal/ident"
)

// held is a session whose player is in a match, if anybody's is.
func (m *model) held() (*client, Record) {
	records := m.view().records
	for range m.players {
		if c := m.connected(); records[c.Player].Match != "" {
			return c, records[c.Player]
		}
	}
	m.rt.Skip("nobody is in a match")
	return nil, Record{}
}

func (m *model) doAccept() {
	c, r := m.held()
	m.call(func() {
		if m.alive[c.instance] {
			_, err := m.stores[c.instance].AcceptMatch(m.ctx, c.Session, r.Match)
			m.must(err, ErrNoSuchMatch, ErrReplaced)
		}
	})
}

func (m *model) doDecline() {
	c, r := m.held()
	m.call(func() {
		if !m.alive[c.instance] {
			return
		}
		_, err := m.stores[c.instance].DeclineMatch(m.ctx, c.Session, r.Match)
		m.must(err, ErrNoSuchMatch, ErrReplaced)
	})
}

func (m *model) doShow() {
	c, r := m.held()
	m.call(func() {
		if m.alive[c.instance] {
			m.must(m.stores[c.instance].ShowMatches(m.ctx, []Shown{{Player: c.Player, Match: r.Match}}))
		}
	})
}

// doAllocate claims what waits for a server, and settles it, or dies.
func (m *model) doAllocate() {
	i := m.instance()
	claimed, err := m.stores[i].ClaimAllocations(m.ctx, 2, time.Minute)
	m.must(err)
	for _, a := range claimed {
		switch rapid.SampledFrom([]string{"complete", "complete", "retry", "fail", "die"}).Draw(m.rt, "outcome") {
		case "complete":
			m.call(func() {
				if m.alive[i] {
					m.must(m.stores[i].CompleteAllocation(m.ctx, a.Match.ID, a.Attempt, json.RawMessage(`"s"`)), ErrNoSuchMatch)
				}
			})
		case "retry":
			m.must(m.stores[i].RetryAllocation(m.ctx, a.Match.ID, a.Attempt, time.Second), ErrNoSuchMatch)
		case "fail":
			m.call(func() {
				if m.alive[i] {
					m.must(m.stores[i].FailAllocation(m.ctx, a.Match.ID, a.Attempt), ErrNoSuchMatch)
				}
			})
		}
	}
}

func (m *model) doOpenSeats() {
	i, r := m.instance(), m.view().records[m.player()]
	open := rapid.IntRange(0, 2).Draw(m.rt, "open")
	m.call(func() {
		if m.alive[i] {
			_, err := m.stores[i].OpenSeats(m.ctx, r.Match, open, nil)
			m.must(err, ErrNoSuchMatch)
		}
	})
}

// keepRecord writes down the matches that stand, as a durable record does.
func (m *model) keepRecord() {
	texts, err := m.rdb.HGetAll(m.ctx, m.key("m")).Result()
	m.must(err)
	for id := range m.durable {
		if _, open := texts[string(id)]; !open {
			delete(m.durable, id)
		}
	}
	for id, text := range texts {
		if match, err := ParseMatch(ident.Match(id), text); err == nil && !match.Held() {
			m.durable[match.ID] = text
		}
	}
}

// restore brings back what stood, after a loss of history in which nobody asserted it.
func (m *model) restore(i int) {
	var list []ArchivedMatch
	for id, text := range m.durable {
		list = append(list, ArchivedMatch{id, text})
	}
	if len(list) > 0 {
		_, err := m.stores[i].RestoreMatches(m.ctx, list)
		m.must(err)
	}
}

// checkSeated looks at a call that may have given seats away: the oldest live tickets are matched, nobody else.
func (m *model) checkSeated(before, after *view, w WorldRules, formed Formed) {
	live := before.live(w.Name)
	seated := 0
	for n, p := range live {
		if after.records[p].Match == "" {
			continue
		}
		seated++
		if w.Seats > 0 && n >= seated {
			m.Errorf("%s was seated before %v", p, live[:n])
		}
	}
	if formed.OpensIn == 0 && formed.Players != seated {
		m.Errorf("%s seated %d players, says %d", w.Name, seated, formed.Players)
	}
}
