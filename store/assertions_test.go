package store

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"muster/internal/ident"
)

func TestAssertions(t *testing.T) {
	losses(t, map[string]func(l *loss){
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
	})
}
