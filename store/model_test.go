package store

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/internal/ident"
)

// TestModel lets three instances do random things to eight players in three worlds, with crashes, lost
// replies, lost histories and clocks that step, and looks at the whole realm after each. The default run
// is short; a long one is
//
//	go test ./store -run TestModel -rapid.checks 5000 -rapid.steps 200 -timeout 0
func TestModel(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := newRealm(t, be, 3)
		realm := b.realm
		checks := 0
		rapid.Check(t, func(rt *rapid.T) {
			checks++
			m := newModel(b, rt, fmt.Sprintf("%s-%d", realm, checks))
			defer m.lose()
			rt.Repeat(m.actions())
		})
		b.failer = t
	})
}

// client is a session as the instance that holds it knows it.
type client struct {
	Session
	instance int
	asOf     ident.Place
	record   string
	match    string
}

// model is what the world outside Redis knows: instances, sessions, and the tickets that players believe in.
type model struct {
	*bundle
	rt       *rapid.T
	rules    []WorldRules
	sizes    map[ident.World]int
	players  []ident.Player
	alive    []bool
	sessions map[ident.Player]*client
	old      []*client // taken over, and still believing
	tickets  map[ident.Player]map[ident.World]ident.Place
	durable  map[ident.Match]string // matches that stood, as a durable record has them
	last     func()                 // the last call, as its sender repeats it when the reply was lost
	serial   int
}

func newModel(b *bundle, rt *rapid.T, realm string) *model {
	b.failer, b.realm, b.ids = rt, realm, 0
	b.set(testStart)
	m := &model{
		bundle: b, rt: rt, alive: make([]bool, len(b.stores)), sessions: map[ident.Player]*client{},
		tickets: map[ident.Player]map[ident.World]ident.Place{}, sizes: map[ident.World]int{}, last: func() {},
		durable: map[ident.Match]string{},
		rules: []WorldRules{
			{Name: "trio", Size: 3, Scan: 32},
			{Name: "duel", Size: 2, Scan: 10, Pairs: true},
			{Name: "apart", Size: 2, Scan: 10, Pairs: true, RematchCooldown: 30 * time.Minute},
			{Name: "check", Size: 2, Scan: 10, ReadyCheck: 3 * time.Minute, DeclineCooldown: 20 * time.Minute},
			{Name: "server", Size: 2, Scan: 10, Pairs: true, RematchCooldown: 30 * time.Minute, ReadyCheck: 3 * time.Minute, Allocate: true},
			{Name: "room", Size: 1, Scan: 10, Seats: 3, SeatHold: 4 * time.Minute},
		},
	}
	for i := range m.rules {
		w := &m.rules[i]
		w.MatchHold, w.TicketTTL, w.Tick = testHold, 2*time.Hour, time.Second
		m.sizes[w.Name] = max(w.Size, w.Seats)
	}
	for i := range 8 {
		m.players = append(m.players, ident.Player(fmt.Sprintf("p%d", i)))
	}
	for i, s := range b.stores {
		s.opts.Realm, s.keys = realm, []string{keyMeta(realm)}
		s.SetEpoch(0)
		m.start(i)
		s.OnNotification(func(told Notification) bool {
			m.hear(i, told)
			return true
		})
	}
	m.openEpoch()
	m.renew()
	m.declareBy(0)
	m.step(2 * time.Second)
	m.serve()
	return m
}

// revisions reads those of the worlds, as instances do that learn of a change.
func (m *model) revisions() {
	for world, text := range m.view().worlds {
		i := slices.IndexFunc(m.rules, func(w WorldRules) bool { return w.Name == ident.World(world) })
		revision, _, _ := strings.Cut(text, "|")
		n := numbers{text: text}
		m.rules[i].Revision = n.place(revision)
		m.must(n.err)
	}
}

// start makes an instance a new process.
func (m *model) start(i int) {
	m.serial++
	m.alive[i] = true
	m.stores[i].opts.Instance = ident.Instance(fmt.Sprintf("%c%d", 'a'+i, m.serial))
}

// hear takes in what a call told its own instance. What is published to others is lost in this model
// until they look.
func (m *model) hear(i int, told Notification) {
	for _, c := range m.sessions {
		if r, err := ParseRecord(c.record); err == nil && c.instance == i && told.Matches[r.Match] != "" {
			c.match = told.Matches[r.Match]
		}
	}
	for _, c := range told.Changes {
		if known := m.sessions[c.Player]; known != nil && known.instance == i && known.Generation == c.Generation {
			m.learn(known, c.Record, told.Matches)
		}
	}
}

func (m *model) learn(c *client, record string, matches map[ident.Match]string) {
	r, err := ParseRecord(record)
	if err != nil {
		m.Fatal(err)
	}
	before, err := ParseRecord(c.record)
	if err != nil {
		m.Fatal(err)
	}
	c.record, c.asOf = record, max(c.asOf, r.Version)
	switch text, told := matches[r.Match]; {
	case told:
		c.match = text
	case r.Match != before.Match:
		c.match = ""
	}
}

func (m *model) see(c *client, st PlayerState) {
	c.record, c.match, c.asOf = st.Record, st.Match, st.AsOf
}

// Draws.

func (m *model) player() ident.Player { return rapid.SampledFrom(m.players).Draw(m.rt, "player") }

func (m *model) world() WorldRules { return rapid.SampledFrom(m.rules).Draw(m.rt, "world") }

func (m *model) instance() int {
	var alive []int
	for i, ok := range m.alive {
		if ok {
			alive = append(alive, i)
		}
	}
	if len(alive) == 0 {
		m.rt.Skip("no instance is alive")
	}
	return rapid.SampledFrom(alive).Draw(m.rt, "instance")
}

// connected is a player with a session on an instance that lives.
func (m *model) connected() *client {
	var list []*client
	for _, p := range m.players {
		if c := m.sessions[p]; c != nil && m.alive[c.instance] {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		m.rt.Skip("nobody is connected")
	}
	return rapid.SampledFrom(list).Draw(m.rt, "session")
}

func (m *model) must(err error, allowed ...error) {
	for _, a := range allowed {
		if errors.Is(err, a) {
			return
		}
	}
	if err != nil {
		m.Fatalf("unexpected error: %v", err)
	}
}

// check looks at the whole realm: what must always hold, and that nobody's ticket has vanished.
func (m *model) check(*rapid.T) {
	v := m.view()
	m.keepRecord()
	for _, fault := range v.broken(m.sizes) {
		m.Errorf("%s", fault)
	}
	for p, tickets := range m.tickets {
		for world, place := range tickets {
			stands := slices.ContainsFunc(v.records[p].Tickets, func(t Ticket) bool {
				return t.World == world && t.Place == place && t.Waiting()
			})
			told := slices.ContainsFunc(v.notices[p], func(text string) bool {
				n, err := ParseNotice(text)
				return err == nil && n.Ticket == ident.TicketOf(world, place)
			})
			switch {
			case stands:
			case told || v.records[p].Match != "":
				delete(tickets, world)
			default:
				m.Errorf("%s lost its ticket %s and was told nothing; its record is %+v", p, ident.TicketOf(world, place), v.records[p])
			}
		}
	}
}

func init() {
	// rapid's own default is 30 steps a check; this suite wants longer stories, and no files in the repository.
	for name, value := range map[string]string{"rapid.checks": "100", "rapid.steps": "60", "rapid.shrinktime": "10s", "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
}
