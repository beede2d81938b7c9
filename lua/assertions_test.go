package lua

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/musterhq/muster/internal/ident"
)

// loss is a realm of two instances just before a loss of history, with what both know.
type loss struct {
	*bundle
	w     WorldRules
	known map[ident.Player]Assertion
	epoch ident.Place
}

func newLoss(t *testing.T, be backend) *loss {
	t.Helper()
	w := duel("duel", 0)
	return &loss{bundle: setup(t, be, 2, w, group("trio", 3)), w: w, known: map[ident.Player]Assertion{}}
}

// learn has sessions know their state as of now.
func (l *loss) learn(sessions ...Session) {
	l.Helper()
	for _, who := range sessions {
		_, st := l.state(who.Player)
		l.known[who.Player] = Assertion{Session: who, AsOf: st.AsOf, Record: st.Record, Match: st.Match}
	}
}

// emptied loses everything and opens the new epoch.
func (l *loss) emptied() {
	l.Helper()
	l.lose()
	l.step(time.Second)
	l.open()
}

func (l *loss) open() {
	l.Helper()
	l.epoch = l.openEpoch().Number
	l.declare(l.w, group("trio", 3))
}

func (l *loss) assert(instance int, players ...ident.Player) []Asserted {
	l.Helper()
	var list []Assertion
	for _, p := range players {
		list = append(list, l.known[p])
	}
	outcomes, err := l.stores[instance].AssertState(l.ctx, l.epoch, list)
	if err != nil {
		l.Fatal(err)
	}
	return outcomes
}

// want compares what players are in or wait for: the match, or the worlds.
func (l *loss) want(want map[ident.Player]string) {
	l.Helper()
	got := map[ident.Player]string{}
	for p := range want {
		r := l.view().records[p]
		got[p] = string(r.Match)
		for _, ticket := range r.Waiting() {
			got[p] += string(ticket.World)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.Errorf("%s", diff)
	}
}

func (l *loss) wantOutcomes(got []Asserted, want ...Asserted) {
	l.Helper()
	if !slices.Equal(got, want) {
		l.Errorf("outcomes %v, want %v", got, want)
	}
}

// leftBehind has x leave a match of three and not hear of it: its own instance asserts it in the match, those of the others
// without it. It must come out of it, and they must not be put out by its leaving again.
func (l *loss) leftBehind(first, second ident.Player) {
	l.Helper()
	trio := group("trio", 3)
	l.declare(l.w, trio)
	x := l.waiting(0, trio, "x")[0]
	others := append(l.waiting(1, trio, "y"), l.waiting(1, trio, "z")...)
	l.form(0, trio, 1)
	l.learn(x)
	l.mustLeave(0, x)
	l.learn(others...)
	l.emptied()
	l.assert(1, first)
	l.assert(0, "x")
	l.assert(1, second)
	l.want(map[ident.Player]string{"x": "", "y": "m1", "z": "m1"})
	if n := l.view().notices["x"]; len(n) > 1 {
		l.Errorf("x is told %q", n)
	}
	if _, err := l.stores[0].LeaveMatch(l.ctx, x, "m1"); !errors.Is(err, ErrNoSuchMatch) {
		l.Errorf("left again: %v", err)
	}
	l.mustLeave(1, others[0])
	l.want(map[ident.Player]string{"x": "", "y": "", "z": "m1"})
	l.mustLeave(1, others[1])
	if v := l.view(); len(v.matches) != 0 {
		l.Errorf("matches %v after all have left", v.matches)
	}
}

// room compares who is in a match with seats, and how many it has open.
func (l *loss) room(id ident.Match, open int, want ...ident.Player) {
	l.Helper()
	m, err := ParseMatch(id, l.raw("m", string(id)))
	if err != nil || !slices.Equal(m.Players, want) || m.Open != open {
		l.Errorf("the room has %v and %d open seats, want %v and %d, %v", m.Players, m.Open, want, open, err)
	}
}

func (l *loss) remove(instance int, who Session) {
	l.Helper()
	if _, err := l.stores[instance].RemoveFromQueue(l.ctx, who); err != nil {
		l.Fatal(err)
	}
}

func (l *loss) mustLeave(instance int, who Session) {
	l.Helper()
	if _, err := l.stores[instance].LeaveMatch(l.ctx, who, "m1"); err != nil {
		l.Fatal(err)
	}
}

func TestAssertions(t *testing.T) {
	for name, test := range map[string]func(l *loss){
		"what was lost is back at its place, and asserting again changes nothing": func(l *loss) {
			sessions := l.waiting(0, l.w, "x")
			l.learn(sessions...)
			place := l.view().records["x"].Tickets[0].Place
			l.emptied()
			l.wantOutcomes(l.assert(0, "x"), Stands)
			if v := l.view(); v.queues["duel"]["x"] != place || v.presences["x"][3] != sessions[0].Generation.String() {
				l.Errorf("back as %v with presence %v", v.queues, v.presences)
			}
			if change := l.change(func() string { l.wantOutcomes(l.assert(0, "x"), Stands); return "" }); change != "" {
				l.Errorf("asserted again:\n%s", change)
			}
		},
		"tickets are back although the worlds are declared later": func(l *loss) {
			l.learn(l.waiting(0, l.w, "x")...)
			l.lose()
			l.epoch = l.openEpoch().Number
			l.wantOutcomes(l.assert(0, "x"), Stands)
			l.declare(l.w)
			l.want(map[ident.Player]string{"x": "duel"})
		},
		"a match that one participant's instance saw is back for all": func(l *loss) {
			x, y := l.waiting(0, l.w, "x")[0], l.waiting(1, l.w, "y")[0]
			l.learn(y) // waits
			l.form(0, l.w, 1)
			l.learn(x)
			l.emptied()
			l.wantOutcomes(l.assert(1, "y"), Stands)
			l.wantOutcomes(l.assert(0, "x"), Stands)
			l.want(map[ident.Player]string{"x": "m1", "y": "m1"})
			if v := l.view(); len(v.queues["duel"]) != 0 || len(v.deadlines) != 1 {
				l.Errorf("queue %v, deadlines %v", v.queues, v.deadlines)
			}
			l.wantOutcomes(l.assert(1, "y"), Adopt)
			l.want(map[ident.Player]string{"y": "m1"})
		},
		"who had left a match is not brought back into it": func(l *loss) {
			x, y := l.waiting(0, l.w, "x")[0], l.waiting(1, l.w, "y")[0]
			l.form(0, l.w, 1)
			l.learn(x)
			if _, err := l.stores[1].LeaveMatch(l.ctx, y, "m1"); err != nil {
				l.Fatal(err)
			}
			l.learn(y) // idle, since later than the match
			l.emptied()
			l.wantOutcomes(l.assert(1, "y"), Stands)
			l.wantOutcomes(l.assert(0, "x"), Stands)
			l.want(map[ident.Player]string{"x": "m1", "y": ""})
		},
		"not even if only the match says so": func(l *loss) {
			x, y := l.waiting(0, l.w, "x")[0], l.waiting(1, l.w, "y")[0]
			l.form(0, l.w, 1)
			if _, err := l.stores[1].LeaveMatch(l.ctx, y, "m1"); err != nil {
				l.Fatal(err)
			}
			l.learn(x)
			l.emptied()
			l.assert(0, "x")
			l.want(map[ident.Player]string{"x": "m1", "y": ""})
		},
		"not even after it joined and left again in the new epoch": func(l *loss) {
			x, y := l.waiting(0, l.w, "x")[0], l.waiting(1, l.w, "y")[0]
			l.form(0, l.w, 1)
			l.learn(x)
			if _, err := l.stores[1].LeaveMatch(l.ctx, y, "m1"); err != nil {
				l.Fatal(err)
			}
			l.learn(y)
			l.emptied()
			l.assert(1, "y")
			l.join(1, l.w, y)
			if _, err := l.stores[1].RemoveFromQueue(l.ctx, y); err != nil {
				l.Fatal(err)
			}
			l.assert(0, "x")
			l.want(map[ident.Player]string{"x": "m1", "y": ""})
		},
		"who waits anew is out of a match that is asserted later": func(l *loss) {
			x, y := l.waiting(0, l.w, "x")[0], l.waiting(1, l.w, "y")[0]
			l.learn(y) // waits: the match's publish and the reply to it are lost
			l.form(0, l.w, 1)
			l.learn(x)
			l.emptied()
			l.assert(1, "y")
			if _, err := l.stores[1].RemoveFromQueue(l.ctx, y); err != nil {
				l.Fatal(err)
			}
			l.join(1, group("trio", 3), y)
			l.assert(0, "x")
			l.want(map[ident.Player]string{"x": "m1", "y": "trio"})
			m, err := ParseMatch("m1", l.raw("m", "m1"))
			if err != nil || !slices.Equal(m.Left, []ident.Player{"y"}) || m.Version < l.epoch {
				l.Errorf("the match is %+v, %v", m, err)
			}
			if change := l.change(func() string { l.wantOutcomes(l.assert(0, "x"), Stands); return "" }); change != "" {
				l.Errorf("asserted again:\n%s", change)
			}
		},
		"who waits anew takes a match with it that waits for its server": func(l *loss) {
			served := asked("served", true)
			served.ReadyCheck = 0
			l.declare(l.w, group("trio", 3), served)
			x, y := l.waiting(0, served, "x")[0], l.waiting(1, served, "y")[0]
			l.learn(y)
			l.form(0, served, 1)
			l.learn(x)
			l.emptied()
			l.declare(l.w, group("trio", 3), served)
			l.assert(1, "y")
			if _, err := l.stores[1].RemoveFromQueue(l.ctx, y); err != nil {
				l.Fatal(err)
			}
			l.join(1, group("trio", 3), y)
			l.assert(0, "x")
			l.want(map[ident.Player]string{"x": "served", "y": "trio"})
			if v := l.view(); len(v.matches) != 0 || len(v.notices["x"]) != 1 {
				l.Errorf("matches %v, x is told %q", v.matches, v.notices["x"])
			}
		},
		"what the durable record has is told and recorded without those who wait anew": func(l *loss) {
			x, y := l.waiting(0, l.w, "x")[0], l.waiting(1, l.w, "y")[0]
			l.form(0, l.w, 1)
			kept := KeptMatch{"m1", l.raw("m", "m1")}
			l.emptied()
			l.rdb.HSet(l.ctx, l.key("meta"), "journal", "1")
			l.join(1, group("trio", 3), l.arrive(1, y.Player)...)
			if n, err := l.stores[1].RestoreMatches(l.ctx, []KeptMatch{kept}); err != nil || n != 1 {
				l.Fatalf("%d restored, %v", n, err)
			}
			l.want(map[ident.Player]string{x.Player: "m1", "y": "trio"})
			list, err := l.rdb.XRange(l.ctx, l.key("st"), "-", "+").Result()
			if err != nil || len(list) != 1 || list[0].Values["event"] != "match_update" || list[0].Values["record"] != l.raw("m", "m1") {
				l.Errorf("recorded %v, %v; it is %q", list, err, l.raw("m", "m1"))
			}
		},
		"who left is out of it, whichever of both is asserted first": func(l *loss) { l.leftBehind("z", "y") },
		"who left is out of it, if that is asserted last":            func(l *loss) { l.leftBehind("y", "z") },
		"a seat that was given up unheard is taken again, and not sold twice": func(l *loss) {
			w := room("room", 4)
			l.declare(l.w, w)
			x, y := l.waiting(0, w, "x")[0], l.waiting(1, w, "y")[0]
			l.form(0, w, 1)
			l.learn(x)
			l.mustLeave(0, x)
			l.learn(y)
			l.emptied()
			l.declare(l.w, w)
			l.assert(0, "x")
			l.assert(1, "y")
			l.assert(0, "x")
			l.room("m1", 2, "y", "x")
			l.mustLeave(0, x)
			l.room("m1", 3, "y")
			l.step(2 * testRecovery)
			l.touch()
			l.renew()
			l.join(0, w, x)
			l.form(0, w, 1)
			l.room("m1", 2, "y", "x")
		},
		"who has a seat that a stale book does not know keeps it": func(l *loss) {
			w := room("room", 4)
			l.declare(l.w, w)
			x, z := l.waiting(0, w, "x")[0], l.waiting(0, w, "z")[0]
			l.form(0, w, 1)
			l.learn(x, z)
			y := l.waiting(1, w, "y")[0]
			l.form(1, w, 1)
			l.learn(y)
			l.emptied()
			l.declare(l.w, w)
			l.assert(0, "x", "z")
			l.mustLeave(0, z) // the stale book is of this epoch now
			l.assert(1, "y")
			l.want(map[ident.Player]string{"x": "m1", "y": "m1", "z": ""})
			l.room("m1", 2, "x", "y")
		},
		"who was given back a match for a while asserts its ticket all the same": func(l *loss) {
			trio := group("trio", 3)
			l.declare(l.w, trio)
			x, y := l.waiting(0, trio, "x")[0], l.waiting(1, trio, "y")[0]
			z := l.waiting(1, trio, "z")[0]
			l.form(0, trio, 1)
			l.learn(x)
			l.mustLeave(1, y)
			l.learn(z)
			l.join(1, l.w, y)
			l.learn(y)
			l.emptied()
			l.declare(l.w, trio)
			l.assert(0, "x")
			l.want(map[ident.Player]string{"y": "m1"})
			l.assert(1, "z")
			l.wantOutcomes(l.assert(1, "y"), Stands)
			l.want(map[ident.Player]string{"x": "m1", "y": "duel", "z": "m1"})
			if n := l.view().notices["y"]; len(n) != 0 {
				l.Errorf("y is told %q of a match that it left", n)
			}
		},
		"who left a match that waits for its server takes it with it, asserted last too": func(l *loss) {
			served := asked("served", true)
			served.ReadyCheck = 0
			l.declare(l.w, served)
			x, y := l.waiting(0, served, "x")[0], l.waiting(1, served, "y")[0]
			l.form(0, served, 1)
			l.learn(x)
			l.mustLeave(1, y)
			l.learn(y)
			l.emptied()
			l.declare(l.w, served)
			l.assert(0, "x")
			l.assert(1, "y")
			if v := l.view(); len(v.matches) != 0 || v.records["x"].Match != "" {
				l.Errorf("matches %v, x is in %q", v.matches, v.records["x"].Match)
			}
			l.want(map[ident.Player]string{"x": "served", "y": ""})
		},
		"what falls through for others first is asserted all the same by who knows more": func(l *loss) {
			served := asked("served", true)
			served.ReadyCheck, served.Size = 0, 3
			l.declare(l.w, served)
			x, y := l.waiting(1, served, "x")[0], l.waiting(1, served, "y")[0]
			z := l.waiting(0, served, "z")[0]
			l.form(0, served, 1)
			l.learn(z)
			l.mustLeave(1, y) // it falls through
			l.learn(y)
			l.remove(1, x)
			l.join(1, l.w, x)
			l.learn(x)
			l.emptied()
			l.declare(l.w, served)
			l.assert(0, "z")
			l.assert(1, "y")
			l.wantOutcomes(l.assert(1, "x"), Stands)
			l.want(map[ident.Player]string{"x": "duel", "y": "", "z": "served"})
			if n := l.view().notices["x"]; len(n) != 0 {
				l.Errorf("x is told %q", n)
			}
		},
		"who is not asserted is told that what fell through is lost": func(l *loss) {
			served := asked("served", true)
			served.ReadyCheck, served.Size = 0, 3
			l.declare(l.w, served)
			l.waiting(0, served, "x") // on an instance that dies
			y, z := l.waiting(1, served, "y")[0], l.waiting(1, served, "z")[0]
			l.form(0, served, 1)
			l.learn(z)
			l.mustLeave(1, y) // it falls through
			l.learn(y)
			l.emptied()
			l.declare(l.w, served)
			l.assert(1, "z")
			l.assert(1, "y")
			l.want(map[ident.Player]string{"x": "m1", "y": "", "z": "served"})
			l.pass(testPresenceTTL + time.Second)
			l.want(map[ident.Player]string{"x": ""})
			if n := l.view().notices["x"]; len(n) != 1 {
				l.Errorf("x is told %q", n)
			}
		},
		"who last heard that a match was held is in it as it stands, with no ticket left": func(l *loss) {
			checked := asked("checked", false)
			l.declare(l.w, checked)
			x, y := l.waiting(0, checked, "x")[0], l.waiting(1, checked, "y")[0]
			l.form(0, checked, 1)
			l.learn(x)
			for i, who := range []Session{x, y} {
				if _, err := l.stores[i].AcceptMatch(l.ctx, who, "m1"); err != nil {
					l.Fatal(err)
				}
			}
			l.learn(y)
			for _, order := range [][2]ident.Player{{"x", "y"}, {"y", "x"}} {
				l.emptied()
				l.declare(l.w, checked)
				for _, p := range order {
					l.assert(map[ident.Player]int{"x": 0, "y": 1}[p], p)
				}
				l.want(map[ident.Player]string{"x": "m1", "y": "m1"})
				if v := l.view(); v.records["x"].Held || v.open["checked"] != "1" {
					l.Errorf("%v: x is %+v, open %v", order, v.records["x"], v.open)
				}
			}
		},
		"a match that lost a member to one of the new epoch is cancelled": func(l *loss) {
			x := l.waiting(0, l.w, "x")[0]
			l.waiting(1, l.w, "y")
			l.form(0, l.w, 1)
			l.learn(x)
			l.emptied()
			l.step(2 * testRecovery)
			l.touch()
			l.renew()
			l.waiting(1, l.w, "y", "z")
			if f := l.form(1, l.w, 1); f.Matches != 1 {
				l.Fatalf("formed %+v", f)
			}
			l.assert(0, "x")
			l.want(map[ident.Player]string{"x": "", "y": "m2", "z": "m2"})
			if n := l.view().notices["x"]; len(n) != 1 || readable(n[0])[len("#3001009|"):] != "match_cancelled|duel|m1|lost|@4001" {
				l.Errorf("x is told %q", n)
			}
			if v := l.view(); len(v.matches) != 1 || v.open["duel"] != "1" {
				l.Errorf("matches %v, open %v", v.matches, v.open)
			}
		},
		"what is newer in Redis stands, and is adopted": func(l *loss) {
			x := l.waiting(0, l.w, "x")
			l.learn(x...)
			if _, err := l.stores[0].RemoveFromQueue(l.ctx, x[0]); err != nil {
				l.Fatal(err)
			}
			l.join(0, group("trio", 3), x...)
			l.rdb.HSet(l.ctx, l.key("meta"), "history", "other")
			l.open()
			l.wantOutcomes(l.assert(0, "x"), Adopt)
			l.want(map[ident.Player]string{"x": "trio"})
		},
		"knowledge of being idle beats an older record": func(l *loss) {
			x := l.waiting(0, l.w, "x")
			old := l.rdb.HGet(l.ctx, l.key("pl"), "x").Val()
			place := l.view().queues["duel"]["x"]
			if _, err := l.stores[0].RemoveFromQueue(l.ctx, x[0]); err != nil {
				l.Fatal(err)
			}
			l.learn(x...)
			// A snapshot from before: the record and its entry are there again.
			l.rdb.HSet(l.ctx, l.key("pl"), "x", old)
			l.rdb.ZAdd(l.ctx, l.key("q", "duel", "1"), redis.Z{Score: float64(place), Member: "x"})
			l.rdb.HSet(l.ctx, l.key("meta"), "history", "other")
			l.open()
			l.wantOutcomes(l.assert(0, "x"), Stands)
			l.want(map[ident.Player]string{"x": ""})
			if queue := l.view().queues["duel"]; len(queue) != 0 {
				l.Errorf("still queued: %v", queue)
			}
		},
		"a session that was taken over is told so, and its knowledge is used": func(l *loss) {
			l.learn(l.waiting(0, l.w, "x")...)
			l.emptied()
			l.arrive(1, "x")
			l.wantOutcomes(l.assert(0, "x"), Replaced)
			l.want(map[ident.Player]string{"x": "duel"})
			if v := l.view(); v.presences["x"][2] != "b" || len(v.queues["duel"]) != 1 {
				l.Errorf("presence %v, queue %v", v.presences, v.queues)
			}
		},
		"of two sessions that both assert the newer one stays": func(l *loss) {
			old := l.waiting(0, l.w, "x")
			l.learn(old...)
			first := l.known["x"]
			l.learn(l.arrive(1, "x")...)
			second := l.known["x"]
			l.emptied()
			l.known["x"] = first
			l.wantOutcomes(l.assert(0, "x"), Stands)
			l.known["x"] = second
			l.wantOutcomes(l.assert(1, "x"), Stands)
			if v := l.view(); v.presences["x"][2] != "b" || len(v.holders["a"]) != 0 || v.published["a"] != "1" {
				l.Errorf("presence %v, holders %v, published %v: a was to hear of it", v.presences, v.holders, v.published)
			}
			l.known["x"] = first
			l.wantOutcomes(l.assert(0, "x"), Replaced)
		},
		"a match that nobody brings back is cancelled by and by": func(l *loss) {
			x := l.waiting(0, l.w, "x", "y")
			l.form(0, l.w, 1)
			l.learn(x[0])
			known := l.known["x"]
			known.Match = "" // it knew that it was in it, but not yet of what it consists
			l.known["x"] = known
			l.emptied()
			l.assert(0, "x")
			l.want(map[ident.Player]string{"x": "m1"})
			l.pass(testPresenceTTL + time.Second)
			l.want(map[ident.Player]string{"x": ""})
			if n := l.view().notices["x"]; len(n) != 1 {
				l.Errorf("x is told %q", n)
			}
		},
		"places go on above all that was asserted": func(l *loss) {
			x := l.waiting(0, l.w, "x")
			l.learn(x...)
			l.lose()
			l.set(l.now - time.Hour.Microseconds())
			l.open() // by an instance that knew nothing
			l.assert(0, "x")
			if y := l.waiting(1, l.w, "y"); y[0].Generation <= l.known["x"].AsOf {
				l.Errorf("generation %d after %d", y[0].Generation, l.known["x"].AsOf)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBackends(t, func(t *testing.T, be backend) {
				l := newLoss(t, be)
				test(l)
				for _, fault := range l.view().broken(map[ident.World]int{"duel": 2, "trio": 3, "room": 4, "served": 2, "checked": 2}) {
					t.Error(fault)
				}
			})
		})
	}
}
