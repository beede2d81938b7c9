package store

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"muster/internal/ident"
	"muster/internal/redistest"
)

// cost is what Redis did: commands, of scripts and the calls themselves, also by name; and lookups, how often a
// key was looked up to be read, each key of a variadic command by itself.
type cost struct {
	commands, lookups int
	by                map[string]int
}

func (c cost) String() string {
	return fmt.Sprintf("%d commands and %d lookups (%s)", c.commands, c.lookups, counted(c.by))
}

// cost counts what Redis does while act runs.
func (b *bundle) cost(act func()) cost {
	b.Helper()
	if err := b.rdb.ConfigResetStat(b.ctx).Err(); err != nil {
		b.Fatal(err)
	}
	act()
	info, err := b.rdb.Info(b.ctx, "commandstats", "stats").Result()
	if err != nil {
		b.Fatal(err)
	}
	c := cost{by: map[string]int{}}
	number := func(text string) int {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	for line := range strings.Lines(info) {
		if name, value, _ := strings.Cut(line, ":"); name == "keyspace_hits" || name == "keyspace_misses" {
			c.lookups += number(value)
		}
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		if !ok || name == "config|resetstat" {
			continue
		}
		calls, _, _ := strings.Cut(rest, ",")
		c.by[name] = number(calls)
		c.commands += c.by[name]
	}
	return c
}

func counted(by map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, by[name]))
	}
	return strings.Join(parts, ", ")
}

func players(prefix string, n int) []ident.Player {
	list := make([]ident.Player, n)
	for i := range list {
		list[i] = ident.Player(fmt.Sprintf("%s%04d", prefix, i))
	}
	return list
}

// TestCommandsOfAMatch bounds what a match costs Redis on a busy server: 50 joins and at most 25 matches a call.
func TestCommandsOfAMatch(t *testing.T) {
	t.Parallel()
	const calls, joins, matches = 8, 50, 25
	for _, c := range []struct {
		world WorldRules
		limit float64
	}{
		{duel("pairs", 0), 2.5},
		{group("threes", 3), 3},
		{group("fives", 5), 4},
	} {
		t.Run(string(c.world.Name), func(t *testing.T) {
			t.Parallel()
			b := setup(t, only(redistest.Start(t)), 1, c.world)
			w := b.rules(c.world)
			var sessions [][]Session
			for i := range calls {
				sessions = append(sessions, b.arrive(0, players(fmt.Sprintf("p%d-", i), joins)...))
			}
			formed := 0
			spent := b.cost(func() {
				for _, batch := range sessions {
					list := make([]Join, len(batch))
					for i, who := range batch {
						list[i] = Join{Player: who.Player, Generation: who.Generation, Key: "~k"}
					}
					_, f, err := b.stores[0].JoinAndMatch(b.ctx, w, 8, list, "", b.candidates(matches))
					if err != nil {
						t.Fatal(err)
					}
					formed += f.Matches
				}
			})
			if formed < calls*joins/c.world.Size-1 {
				t.Fatalf("%d matches of %d players", formed, calls*joins)
			}
			if per := float64(spent.commands) / float64(formed); per > c.limit {
				t.Errorf("%.2f commands a match, at most %.1f: %v", per, c.limit, spent)
			} else {
				t.Logf("%.2f commands a match: %v", per, spent)
			}
		})
	}
}

// TestTenThousandAtTheHead has 10,000 players wait who are not there any more: no call does much, and the live
// ones who join behind them are matched at once, by the calls that follow each other without a pause.
func TestTenThousandAtTheHead(t *testing.T) {
	t.Parallel()
	const gone = 10_000
	for name, c := range map[string]struct {
		silence time.Duration
		alive   []int // the instances that live
	}{
		"their instance died":           {4 * time.Second, []int{1}},
		"their presence ended together": {testPresenceTTL + time.Second, []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := duel("pairs", 0)
			b := setup(t, only(redistest.Start(t)), 2, w)
			for i := range gone / 100 {
				b.waiting(0, w, players(fmt.Sprintf("gone%d-", i), 100)...)
			}
			b.live(c.silence, c.alive)
			b.waiting(1, w, "x", "y")
			began := time.Now()
			calls, formed := 0, Formed{More: true}
			var worst cost
			for ; formed.More && formed.Matches == 0 && calls < gone/100+2; calls++ {
				worst = costlier(worst, b.cost(func() { formed = b.formWith(1, w, formed.After, b.candidates(25)) }))
			}
			if formed.Matches != 1 || calls > gone/100+1 {
				t.Errorf("formed %+v after %d calls", formed, calls)
			}
			bounded(t, "a call that forms", worst, 200, 300)
			t.Logf("matched after %d calls, %v", calls, time.Since(began))
			b.sweptInSteps(w) // parks whom the dead instance holds
			b.live(testPresenceTTL+testDrain+time.Second, c.alive)
			if n := b.sweptInSteps(w); n != gone {
				t.Errorf("%d are gone", n)
			}
			if v := b.view(); len(v.away) > 0 || len(v.holders["a"]) > 0 != (len(c.alive) == 2) {
				t.Errorf("%d are away, and their instance holds %d", len(v.away), len(v.holders["a"]))
			}
		})
	}
}

// live lets time pass in which some instances renewed their leases.
func (b *bundle) live(d time.Duration, instances []int) {
	b.Helper()
	b.step(d)
	b.touch()
	for _, i := range instances {
		if _, err := b.stores[i].RenewLease(b.ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// sweptInSteps sweeps in bounded steps until nothing is left to do, and returns how many players are gone.
func (b *bundle) sweptInSteps(w WorldRules) (gone int) {
	b.Helper()
	var worst cost
	for swept := (Swept{More: true}); swept.More; gone += swept.Gone {
		worst = costlier(worst, b.cost(func() {
			var err error
			if swept, err = b.stores[1].Sweep(b.ctx, 0, []WorldRules{w}); err != nil {
				b.Fatal(err)
			}
		}))
	}
	bounded(b, "a sweep", worst, 700, 700)
	return gone
}

// TestAPlayerInEightWorlds: the match in one takes it out of all, and each of its calls costs what eight tickets
// cost.
func TestAPlayerInEightWorlds(t *testing.T) {
	t.Parallel()
	var worlds []WorldRules
	for i := range 8 {
		worlds = append(worlds, duel(ident.World(fmt.Sprintf("w%d", i)), 0))
	}
	b := setup(t, only(redistest.Start(t)), 1, worlds...)
	sessions := b.arrive(0, "x", "y")
	for i := range worlds {
		worlds[i] = b.rules(worlds[i])
	}
	for _, w := range worlds[1:] {
		b.join(0, w, sessions[0])
	}
	b.join(0, worlds[0], sessions...)
	bounded(t, "an arrival", b.cost(func() { b.arrive(0, "x") }), 50, 40)
	formed := Formed{}
	bounded(t, "a match", b.cost(func() { formed = b.form(0, worlds[0], 1) }), 30, 20)
	if v := b.view(); formed.Matches != 1 || len(v.records["x"].Waiting()) > 0 {
		t.Errorf("formed %+v, and x waits on: %+v", formed, v.records["x"])
	}
	for _, w := range worlds {
		if left := b.view().queues[w.Name]; len(left) > 0 {
			t.Errorf("%s still holds %v", w.Name, left)
		}
	}
}

// bounded fails where something costs more than it may.
func bounded(t failer, what string, spent cost, commands, lookups int) {
	t.Helper()
	if spent.commands > commands || spent.lookups > lookups {
		t.Errorf("%s needs %v, at most %d and %d", what, spent, commands, lookups)
	}
}

// costlier is the larger of both in each respect.
func costlier(a, b cost) cost {
	if a.commands > b.commands {
		b.by = a.by
	}
	return cost{max(a.commands, b.commands), max(a.lookups, b.lookups), b.by}
}

// TestTheEndOfASeatInEachOfManyRooms has players of as many rooms as a sweep looks at be gone at once, all of which others are to
// be told of: more than one command of a script may name.
func TestTheEndOfASeatInEachOfManyRooms(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		const rooms, seats = sweepLimit, 100
		w := room("room", seats)
		b := setup(t, be, 2, w)
		b.arrive(1, "observer")
		hold := testStart/1000 + 3600000
		b.pipelined(func(pipe redis.Pipeliner) {
			for i := range rooms {
				var names []string
				for _, p := range players(fmt.Sprintf("p%d-", i), seats) {
					names = append(names, string(p))
				}
				names[1] = "observer"
				pipe.HSet(b.ctx, b.key("m"), fmt.Sprint("r", i), fmt.Sprintf("complete|%d|%s|room|%d|%d|play=r|%s||||||0|%d,0,0,0,%d,60000,0,0|%d",
					testStart+9, b.stores[0].Epoch(), testStart+5, hold, strings.Join(names, ";"), hold, seats, seats))
				pipe.HSet(b.ctx, b.key("pl"), names[0], fmt.Sprintf("%d|r%d|%d|t|", testStart+5, i, hold))
				pipe.ZAdd(b.ctx, b.key("aw"), redis.Z{Score: float64(testStart/1000 + 1), Member: names[0]})
			}
		})
		b.pass(2 * time.Second)
		if left := b.rdb.ZCard(b.ctx, b.key("aw")).Val(); left != 0 {
			t.Errorf("%d are away still", left)
		}
		for i := range rooms {
			if m, err := ParseMatch("", b.raw("m", fmt.Sprint("r", i))); err != nil || len(m.Players) != seats-1 || m.Open != 1 {
				t.Fatalf("room %d has %d players and %d open seats, %v", i, len(m.Players), m.Open, err)
			}
		}
		if told := b.rdb.HGet(b.ctx, b.key("pub"), "b").Val(); told == "" {
			t.Error("the instance of those who are left was told nothing")
		}
	})
}
