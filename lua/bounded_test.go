package lua

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/musterhq/muster/internal/ident"
	"github.com/musterhq/muster/internal/redistest"
)

// commands counts what Redis executes while act runs, commands of scripts and the calls themselves; by
// command as well.
func (b *bundle) commands(act func()) (total int, by map[string]int) {
	b.Helper()
	if err := b.rdb.ConfigResetStat(b.ctx).Err(); err != nil {
		b.Fatal(err)
	}
	act()
	info, err := b.rdb.Info(b.ctx, "commandstats").Result()
	if err != nil {
		b.Fatal(err)
	}
	by = map[string]int{}
	for line := range strings.Lines(info) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		if !ok || name == "config|resetstat" {
			continue
		}
		calls, _, _ := strings.Cut(rest, ",")
		n, err := strconv.Atoi(calls)
		if err != nil {
			b.Fatal(err)
		}
		by[name] = n
		total += n
	}
	return total, by
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
			total, by := b.commands(func() {
				for _, batch := range sessions {
					list := make([]Join, len(batch))
					for i, who := range batch {
						list[i] = Join{Player: who.Player, Generation: who.Generation, Key: "~k"}
					}
					_, f, err := b.stores[0].JoinAndMatch(b.ctx, w, 8, list, 0, b.candidates(matches))
					if err != nil {
						t.Fatal(err)
					}
					formed += f.Matches
				}
			})
			if formed < calls*joins/c.world.Size-1 {
				t.Fatalf("%d matches of %d players", formed, calls*joins)
			}
			if per := float64(total) / float64(formed); per > c.limit {
				t.Errorf("%.2f commands a match, at most %.1f: %s", per, c.limit, counted(by))
			} else {
				t.Logf("%.2f commands a match: %s", per, counted(by))
			}
		})
	}
}

// TestDeadInstanceIsBounded has 10,000 players wait whose instance has died: no call does much, and the live
// ones behind them are matched.
func TestDeadInstanceIsBounded(t *testing.T) {
	t.Parallel()
	const dead = 10_000
	w := duel("pairs", 0)
	b := setup(t, only(redistest.Start(t)), 2, w)
	for i := range dead / 100 {
		b.waiting(0, w, players(fmt.Sprintf("dead%d-", i), 100)...)
	}
	b.step(4 * time.Second)
	b.touch()
	if _, err := b.stores[1].RenewLease(b.ctx); err != nil {
		t.Fatal(err)
	}
	b.waiting(1, w, "x", "y")
	calls, formed := 0, Formed{More: true}
	for ; formed.More && formed.Matches == 0 && calls < dead/100+2; calls++ {
		total, by := b.commands(func() { formed = b.formWith(1, w, formed.After, b.candidates(25)) })
		if total > 200 {
			t.Fatalf("call %d needs %d commands: %s", calls, total, counted(by))
		}
	}
	if formed.Matches != 1 || calls > dead/100+1 {
		t.Errorf("formed %+v after %d calls", formed, calls)
	}
	sweeps := 0
	for swept := (Swept{More: true}); swept.More && sweeps < 2*dead/100; sweeps++ {
		total, by := b.commands(func() {
			var err error
			if swept, err = b.stores[1].Sweep(b.ctx, time.Second, []WorldRules{w}); err != nil {
				t.Fatal(err)
			}
		})
		if total > 400 {
			t.Fatalf("a sweep needs %d commands: %s", total, counted(by))
		}
	}
	if held := b.view().holders["a"]; len(held) > 0 {
		t.Errorf("the dead instance still holds %d players", len(held))
	}
}
