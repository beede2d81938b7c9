package journal

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"muster/internal/ident"
	"muster/internal/pgtest"
	"muster/internal/redistest"
	"muster/store"
)

// formed writes matches m1, m2 and so on, a minute apart; each says its state, world, players and how long it
// still lasts.
func (b *bundle) formed(start time.Time, matches ...formed) {
	b.Helper()
	for i, m := range matches {
		id, at := ident.Match(fmt.Sprintf("m%d", i+1)), start.Add(time.Duration(i)*time.Minute)
		record := fmt.Sprintf("%s|%d|7|%s|%d|%d|game=u|%s|", m.state, i+1, m.world, at.UnixMicro(), time.Now().Add(m.lasts).UnixMilli(), m.players)
		events := []store.Event{{Kind: store.MatchComplete, At: at.UnixMilli(), Match: id, Record: record}}
		if m.state == stateEnded {
			events = append(events, store.Event{Kind: store.MatchEnded, At: at.UnixMilli(), Match: id, Reason: "left"})
		}
		b.must(b.database.write(b.ctx, events, nil))
	}
}

type formed struct {
	state, world, players string
	lasts                 time.Duration
}

func TestMatchesAreChosen(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	start := time.UnixMilli(1796000000000)
	b.formed(start, formed{"complete", "w1", "a;b", time.Hour}, formed{"ended", "w1", "b;c", time.Hour},
		formed{"proposed", "w2", "a;c", time.Hour}, formed{"complete", "w2", "d;e", time.Hour})
	for _, r := range []struct {
		filter Filter
		want   []ident.Match
	}{
		{Filter{}, []ident.Match{"m4", "m3", "m2", "m1"}},
		{Filter{Limit: 2}, []ident.Match{"m4", "m3"}},
		{Filter{Player: "a"}, []ident.Match{"m3", "m1"}},
		{Filter{Player: "a", World: "w1"}, []ident.Match{"m1"}},
		{Filter{State: "complete"}, []ident.Match{"m4", "m1"}},
		{Filter{State: "ended"}, []ident.Match{"m2"}},
		{Filter{Since: start.Add(2 * time.Minute)}, []ident.Match{"m4", "m3"}},
		{Filter{Player: "nobody"}, nil},
	} {
		matches, err := b.database.Matches(b.ctx, r.filter)
		b.must(err)
		var got []ident.Match
		for _, m := range matches {
			got = append(got, m.ID)
		}
		if !slices.Equal(got, r.want) {
			t.Errorf("%+v: %v, want %v", r.filter, got, r.want)
		}
	}
	if _, err := b.database.Match(b.ctx, "m9"); !errors.Is(err, ErrNoSuchMatch) {
		t.Errorf("a match that never was: %v", err)
	}
}

func TestARealmHasMatchesOfItsOwn(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	b, other := setup(t, redistest.Shared(t), url), setup(t, redistest.Shared(t), url)
	b.formed(time.Now(), formed{"complete", "w1", "a;b", time.Hour})
	other.formed(time.Now(), formed{"ended", "w2", "a;b", time.Hour})
	for _, r := range []struct {
		b    *bundle
		want ident.World
	}{{b, "w1"}, {other, "w2"}} {
		if m, err := r.b.database.Match(b.ctx, "m1"); err != nil || m.World != r.want {
			t.Errorf("%+v (%v), want one of %s", m, err, r.want)
		}
		if all, err := r.b.database.Matches(b.ctx, Filter{Player: "a"}); err != nil || len(all) != 1 {
			t.Errorf("%+v (%v), want one", all, err)
		}
	}
}

func TestOpenMatchesAreReadInPages(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	b.formed(time.Now(), formed{"complete", "w", "a", time.Hour}, formed{"complete", "w", "b", -time.Second},
		formed{"ended", "w", "c", time.Hour}, formed{"proposed", "w", "d", time.Hour}, formed{"complete", "w", "e", time.Hour},
		formed{"complete", "w", "f", time.Hour})
	var got []ident.Match
	for after := ident.Match(""); ; {
		page, err := b.database.Open(b.ctx, after, 2)
		b.must(err)
		for _, m := range page {
			parsed, err := store.ParseMatch(m.ID, m.Record)
			if err != nil || parsed.State != "complete" {
				t.Errorf("%+v (%v)", m, err)
			}
			got = append(got, m.ID)
		}
		if len(page) < 2 {
			break
		}
		after = page[1].ID
	}
	if want := []ident.Match{"m1", "m5", "m6"}; !slices.Equal(got, want) {
		t.Errorf("open are %v, want %v", got, want)
	}
}

func TestAnEndOfWhichNothingElseIsKnownIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	b.must(b.database.write(b.ctx, []store.Event{{Kind: store.MatchCancelled, At: 1796000000001, Match: "m", Reason: "lost"}}, nil))
	m, err := b.database.Match(b.ctx, "m")
	if err != nil || m.State != stateCancelled || m.Reason != "lost" || m.World != "" || !m.CreatedAt.Equal(time.UnixMilli(1796000000001)) {
		t.Errorf("%+v (%v)", m, err)
	}
	record := "complete|5|7|w|1796000000000000|1796000060000|game=u|a;b|"
	b.must(b.database.write(b.ctx, []store.Event{{Kind: store.MatchComplete, At: 1796000000000, Match: "m", Record: record}}, nil))
	m, err = b.database.Match(b.ctx, "m")
	if err != nil || m.State != stateCancelled || m.World != "w" || len(m.Players) != 2 || !m.CreatedAt.Equal(time.UnixMilli(1796000000000)) {
		t.Errorf("%+v (%v)", m, err)
	}
}
