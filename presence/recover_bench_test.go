package presence

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/faultproxy"
	"muster/internal/ident"
	"muster/internal/redistest"
	"muster/store"
)

// BenchmarkRecover asserts 50,000 players in matches of 100 in an emptied Redis to which a round trip takes 3 ms.
func BenchmarkRecover(b *testing.B) {
	const matches, size = 500, 100
	server := redistest.Start(b)
	proxy := faultproxy.Start(b, server.Addr())
	proxy.Delay(1500 * time.Microsecond)
	st, err := store.Open(store.Options{
		URL: "redis://" + proxy.Addr(), Realm: "bench", Instance: "here", PresenceTTL: testTTL, Drain: time.Second,
		Recovery: time.Millisecond,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	j := &journal{}
	sessions := newSessions(j, testHeartbeat)
	sessions.play(matches, size)
	keeper := New(Options{
		Store: st, Sessions: sessions, Log: zerolog.Nop(), Heartbeat: testHeartbeat, Grace: testGrace,
		Worlds: &fakeWorlds{journal: j, declare: func(ctx context.Context, epoch ident.Place) error {
			return st.DeclareWorldsIn(ctx, epoch, []store.DeclaredWorld{{Name: duel.Name, State: "open", Hash: "h"}})
		}},
	})
	for b.Loop() {
		b.StopTimer()
		if _, err := server.Do(b.Context(), "FLUSHALL"); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := keeper.Recover(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/recovery")
	if n, err := server.Do(b.Context(), "HLEN", "mm:{bench}:pl"); err != nil || n != int64(matches*size) {
		b.Errorf("Redis has %v players, %v", n, err)
	}
}
