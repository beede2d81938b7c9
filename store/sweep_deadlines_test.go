package store

import (
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"muster/internal/ident"
)

// worldsNamed makes n worlds of pairs, w00 and so on.
func worldsNamed(n int) []WorldRules {
	worlds := make([]WorldRules, n)
	for i := range worlds {
		worlds[i] = duel(ident.World(fmt.Sprintf("w%02d", i)), 0)
	}
	return worlds
}

// enqueue writes n tickets of a world past the scripts. Their players are live on instance a; they joined at the test's
// start. It returns the players.
func (b *bundle) enqueue(pipe redis.Pipeliner, world ident.World, n int) []ident.Player {
	list := players(string(world)+"-", n)
	for i, p := range list {
		place := testStart + int64(i)
		pipe.HSet(b.ctx, b.key("pl"), string(p), fmt.Sprintf("%d||||%s=%d,1,~k,f,,", place, world, place))
		pipe.ZAdd(b.ctx, b.key("q", string(world), "1"), redis.Z{Score: float64(place), Member: string(p)})
		b.placeOn(pipe, p, "a")
	}
	return list
}

// placeOn writes a live presence on an instance past the scripts.
func (b *bundle) placeOn(pipe redis.Pipeliner, p ident.Player, instance string) {
	pipe.Set(b.ctx, b.key("pr", string(p)), fmt.Sprintf("L|%s|%s|%d", b.stores[0].Epoch(), instance, testStart), 10*time.Hour)
	pipe.SAdd(b.ctx, b.key("ip", instance), string(p))
}

// deadlines is a realm in which deadlines of every kind have passed: 25 open worlds with tickets that are too old, 25 closed
// ones in which players wait, a silent instance, players who are away too long, matches in every state, seats that were
// not taken up and records that are to be forgotten; n of each.
func deadlines(b *bundle, n int) (worlds []WorldRules, want Swept) {
	b.Helper()
	worlds = worldsNamed(50)
	var declared []DeclaredWorld
	for i, w := range worlds {
		state := []string{"open", "closed"}[i%2]
		declared = append(declared, DeclaredWorld{Name: w.Name, State: state, Hash: "h", Settings: "{}"})
	}
	if _, err := b.stores[0].DeclareWorlds(b.ctx, declared); err != nil {
		b.Fatal(err)
	}
	b.pipelined(func(pipe redis.Pipeliner) {
		for _, w := range worlds {
			b.enqueue(pipe, w.Name, n)
		}
	})
	now, epoch := testStart/1000, b.stores[0].Epoch()
	b.pipelined(func(pipe redis.Pipeliner) {
		past := func(key, member string) { pipe.ZAdd(b.ctx, b.key(key), redis.Z{Score: float64(now), Member: member}) }
		record := func(p ident.Player, match, stage string) {
			pipe.HSet(b.ctx, b.key("pl"), string(p), fmt.Sprintf("%d|%s|%d|%s|", testStart, match, now, stage))
			b.placeOn(pipe, p, "a")
		}
		for i, p := range players("away-", n) {
			pipe.HSet(b.ctx, b.key("pl"), string(p), fmt.Sprintf("%d||||w00=%d,1,~k,f,,", testStart, testStart+500+i))
			past("aw", string(p))
		}
		for i, p := range players("silent-", n) {
			pipe.HSet(b.ctx, b.key("pl"), string(p), fmt.Sprintf("%d||||w00=%d,1,~k,f,,", testStart, testStart+5000+i))
			b.placeOn(pipe, p, "b")
		}
		past("ins", "b")
		for i := range n {
			id := fmt.Sprintf("m%03d", i)
			x, y := ident.Player(id+"x"), ident.Player(id+"y")
			state, more, stage := "complete", "", ""
			switch i % 3 {
			case 1:
				state, stage, more = "proposed", "h", fmt.Sprintf("|%d|||||1000,1000,0,0,0,0,0,0|", now)
			case 2:
				state, stage, more = "allocating", "h", "||||||1000,0,0,1,0,0,0,0|"
				past("al", id)
			}
			pipe.HSet(b.ctx, b.key("m"), id, fmt.Sprintf("%s|%d|%s|w00|%d|%d|play=r|%s;%s|%s", state, testStart, epoch, testStart, now, x, y, more))
			past("mx", id)
			record(x, id, stage)
			record(y, id, stage)
		}
		for i := range n {
			id, p := fmt.Sprintf("r%03d", i), ident.Player(fmt.Sprintf("r%03dx", i))
			pipe.HSet(b.ctx, b.key("m"), id, fmt.Sprintf("complete|%d|%s|w02|%d|%d|play=r|%s;%sy||||||1|36000000,0,0,0,3,1000,0,0|1",
				testStart, epoch, testStart, now+36_000_000, p, id))
			pipe.ZAdd(b.ctx, b.key("mx"), redis.Z{Score: float64(now + 36_000_000), Member: id})
			record(p, id, "s")
			record(ident.Player(id+"y"), id, "t")
			past("sh", string(p))
		}
		for i, p := range players("kept-", n) {
			pipe.HSet(b.ctx, b.key("pl"), string(p), fmt.Sprintf("%d||||w00=%d,1,k%d,f:1,%d,", testStart, testStart, i, now-keptMS))
			past("kp", string(p))
		}
	})
	return worlds, Swept{Parked: n, Gone: n, MatchesExpired: n, SeatsReleased: n, TicketsExpired: 25 * n}
}

// keptMS is how long an ended ticket is remembered.
const keptMS = 300_000
