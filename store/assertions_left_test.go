package store

import (
	"errors"
	"slices"
	"testing"

	"muster/internal/ident"
)

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

// TestAssertionsOfWhoLeft: what one instance knows of a match is older than that somebody left it, or took a seat in it.
func TestAssertionsOfWhoLeft(t *testing.T) {
	losses(t, map[string]func(l *loss){
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
		"what the durable record has is told and recorded without those who wait anew": func(l *loss) {
			x, y := l.waiting(0, l.w, "x")[0], l.waiting(1, l.w, "y")[0]
			l.form(0, l.w, 1)
			kept := ArchivedMatch{"m1", l.raw("m", "m1")}
			l.emptied()
			l.rdb.HSet(l.ctx, l.key("meta"), "journal", "1")
			l.join(1, group("trio", 3), l.arrive(1, y.Player)...)
			if n, err := l.stores[1].RestoreMatches(l.ctx, []ArchivedMatch{kept}); err != nil || n != 1 {
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
	})
}
