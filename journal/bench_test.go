package journal

import (
	"fmt"
	"testing"

	"muster/internal/ident"
	"muster/internal/pgtest"
	"muster/store"
)

// BenchmarkWrite writes matches of two, each formed and ended, in batches as the writer does. One op is a match.
func BenchmarkWrite(b *testing.B) {
	d, err := OpenDatabase(b.Context(), pgtest.Database(b), "bench")
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	if err := d.migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	var events []store.Event
	for i := range b.N {
		id := ident.Match(fmt.Sprintf("m%d", i))
		record := matchText("complete", i+1, fmt.Sprintf("a%d;b%d", i, i), "", "||||||")
		events = append(events, store.Event{Kind: store.MatchComplete, At: int64(i), Match: id, Record: record},
			store.Event{Kind: store.MatchEnded, At: int64(i), Match: id, Record: record, Reason: "left"})
	}
	b.ResetTimer()
	for len(events) > 0 {
		n := min(batch, len(events))
		if err := d.write(b.Context(), events[:n], nil); err != nil {
			b.Fatal(err)
		}
		events = events[n:]
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "matches/s")
}
