package server

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"muster/client"
	"muster/configs"
	"muster/internal/redistest"
	"muster/protocol"
)

// player is a connected client and where its matches come.
type player struct {
	*client.Client
	matches chan *protocol.Match
}

func connect(tb testing.TB, url, id string) *player {
	tb.Helper()
	p := &player{matches: make(chan *protocol.Match, 4)}
	var err error
	p.Client, err = client.Dial(tb.Context(), url, client.Options{PlayerID: id, OnEvent: func(e protocol.Event) {
		if complete, ok := e.(*protocol.MatchCompleted); ok {
			p.matches <- complete.Match
		}
	}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { p.Close(protocol.CloseNormal) })
	return p
}

func (p *player) leave(tb testing.TB, m *protocol.Match) {
	tb.Helper()
	if _, err := p.Do(tb.Context(), &protocol.LeaveMatch{MatchID: m.ID}); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkLastJoin measures, on an idle server, from the last needed player's join to the moment at which
// everybody in the match has been told, beside a PING of the same Redis by the same library in the same run.
func BenchmarkLastJoin(b *testing.B) {
	for _, size := range []int{2, 5} {
		b.Run(fmt.Sprintf("players=%d", size), func(b *testing.B) {
			redis := redistest.Start(b)
			url := start(b, func(c *configs.Config) {
				c.Redis.URL = configs.Secret(redis.URL())
				world := c.Worlds[0]
				world.Size, world.Scan = size, 32
				c.Worlds = []configs.World{world}
			})
			players := make([]*player, size)
			for i := range players {
				players[i] = connect(b, url, fmt.Sprintf("p%d", i))
			}
			awaitOpen(b, players)
			var told, pings []time.Duration
			for b.Loop() {
				for _, p := range players[1:] {
					join(b, p)
				}
				begin := time.Now()
				join(b, players[0])
				matches := make([]*protocol.Match, size)
				for i, p := range players {
					matches[i] = <-p.matches
				}
				told = append(told, time.Since(begin))
				for i, p := range players {
					p.leave(b, matches[i])
				}
				begin = time.Now()
				if _, err := redis.Do(b.Context(), "PING"); err != nil {
					b.Fatal(err)
				}
				pings = append(pings, time.Since(begin))
			}
			report(b, told, pings)
		})
	}
}

func join(tb testing.TB, p *player) {
	tb.Helper()
	if _, err := p.Do(tb.Context(), &protocol.Join{World: "world1"}); err != nil {
		tb.Fatal(err)
	}
}

// awaitOpen has a first match formed, which waits for the new epoch to open.
func awaitOpen(tb testing.TB, players []*player) {
	tb.Helper()
	for _, p := range players {
		join(tb, p)
	}
	for _, p := range players {
		p.leave(tb, <-p.matches)
	}
}

func report(b *testing.B, told, pings []time.Duration) {
	b.Helper()
	slices.Sort(told)
	slices.Sort(pings)
	median := func(d []time.Duration) float64 { return float64(d[len(d)/2].Nanoseconds()) / 1e3 }
	b.ReportMetric(median(told), "told-p50-µs")
	b.ReportMetric(float64(told[len(told)*99/100].Nanoseconds())/1e3, "told-p99-µs")
	b.ReportMetric(median(pings), "ping-p50-µs")
	b.ReportMetric(median(told)/median(pings), "told/ping")
}
