package store

import (
	"testing"
	"time"

	"muster/internal/ident"
)

// TestAssertionsOfHeldMatches: the match that is asserted does not stand yet, or did not.
func TestAssertionsOfHeldMatches(t *testing.T) {
	losses(t, map[string]func(l *loss){
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
		"a player leaves a match whose ticket was lost":                 leavesWithoutTicket("served"),
		"a player leaves all worlds, and a match whose ticket was lost": leavesWithoutTicket(),
		"what the stream said last before the loss, it says again": func(l *loss) {
			served := asked("served", true)
			served.ReadyCheck = 0
			l.declare(l.w, served)
			x, y := l.waiting(0, served, "x")[0], l.waiting(1, served, "y")[0]
			l.form(0, served, 1)
			if _, err := l.stores[0].ClaimAllocations(l.ctx, 1, time.Minute); err != nil {
				l.Fatal(err)
			}
			if err := l.stores[0].CompleteAllocation(l.ctx, "m1", 1, []byte(`"server"`)); err != nil {
				l.Fatal(err)
			}
			l.learn(x, y)
			l.emptied()
			l.declare(l.w, served)
			l.assert(1, "y")
			l.assert(0, "x")
			said, err := l.rdb.XRange(l.ctx, l.key("st"), "-", "+").Result()
			if err != nil || len(said) != 1 {
				l.Fatalf("the stream has %v (%v), want the match once", said, err)
			}
			e, err := ParseEvent(entriesOf(said)[0])
			l.must(err)
			m, err := ParseMatch(e.Match, e.Record)
			if e.Kind != MatchComplete || string(m.Endpoint) != `"server"` || err != nil {
				l.Errorf("the stream says %+v (%v)", e, err)
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
	})
}

// leavesWithoutTicket: x comes back to a proposed match that y's instance asserted, while nothing asserts the ticket of x.
func leavesWithoutTicket(worlds ...ident.World) func(l *loss) {
	return func(l *loss) {
		checked := asked("served", false)
		l.declare(l.w, checked)
		l.waiting(0, checked, "x")
		y := l.waiting(1, checked, "y")[0]
		l.form(0, checked, 1)
		l.learn(y)
		l.emptied()
		l.declare(l.w, checked)
		l.assert(1, "y")
		x := l.arrive(1, "x")[0]
		l.want(map[ident.Player]string{"x": "m1", "y": "m1served"})
		left, err := l.stores[1].RemoveFromQueue(l.ctx, x, worlds...)
		if err != nil || len(left.Worlds) != 1 || left.Worlds[0] != "served" {
			l.Fatalf("left %+v, %v", left, err)
		}
		l.want(map[ident.Player]string{"x": "", "y": "served"})
		if again, err := l.stores[1].RemoveFromQueue(l.ctx, x, worlds...); err != nil || len(again.Worlds) != 0 {
			l.Errorf("again left %+v, %v", again, err)
		}
	}
}
