package journal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"muster/internal/faultproxy"
	"muster/internal/ident"
	"muster/internal/pgtest"
	"muster/internal/redistest"
	"muster/store"
)

func TestAMatchIsWrittenWithAllThatHappenedToIt(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	b.start(nil)
	b.happen("event=match_proposed", "match=m", "at=1796000000001", "record="+matchText("proposed", 11, "a;b", "", "1796000009000|||||x|"))
	b.happen("event=match_allocating", "match=m", "at=1796000000002", "record="+matchText("allocating", 12, "a;b", "", "1796000009000|a;b|a|||x|"))
	b.happen("event=match_complete", "match=m", "at=1796000000003", "record="+matchText("complete", 13, "a;b", "", "1796000009000|a;b|a|eyJob3N0IjoiaCJ9|2|x|"))
	b.happen("event=match_update", "match=m", "at=1796000000004", "record="+matchText("complete", 14, "a;c", "a", "1796000009000|a;b|a|eyJob3N0IjoiaCJ9|1|x|1"))
	b.happen("event=match_ended", "match=m", "at=1796000000005", "reason=ended", "record="+matchText("complete", 14, "a;c", "a", "|||||x|"))
	got := b.written("m", "ended")
	at := func(ms int64) *time.Time { return timeOf(1796000000000 + ms) }
	want := Match{
		ID: "m", World: "arena", State: "ended", Reason: "ended", Version: 14, CreatedAt: *at(0),
		ProposedAt: at(1), AllocatingAt: at(2), CompletedAt: at(3), EndedAt: at(5), AcceptBy: at(9000),
		Rooms:     map[string]string{"game": "u-game", "chat": "u-chat"},
		Players:   []Player{{ID: "a", Accepted: true, Shown: true, Left: true}, {ID: "b", Accepted: true, Shown: true, Left: true}, {ID: "c"}},
		Endpoint:  []byte(`{"host":"h"}`),
		OpenSeats: 1, TakenSeats: 1,
	}
	want.Players[1].Shown = false
	got.EndsAt, got.Record = nil, ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	b.drained()
}

func TestTheStreamIsKeptForTheJournal(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	b.start(nil)
	b.eventually(func() error {
		if kept, err := b.redis.Do(b.ctx, "HGET", "mm:{"+b.realm+"}:meta", "journal"); err != nil || kept != "1" {
			return fmt.Errorf("meta.journal is %v (%w)", kept, err)
		}
		return nil
	})
}

func TestAnOutageOfPostgresLosesNothing(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	b := setup(t, redistest.Shared(t), server.URL())
	var failed atomic.Int64
	var log bytes.Buffer
	first := b.start(func(o *Options) {
		o.Observer.Failed, o.Log = func() { failed.Add(1) }, zerolog.New(zerolog.SyncWriter(&log)).Level(zerolog.InfoLevel)
	})
	b.complete("m0")
	b.written("m0", "complete")
	server.Kill()
	const matches = 1200 // more than two batches
	for i := 1; i <= matches; i++ {
		b.complete(fmt.Sprintf("m%d", i))
	}
	b.eventually(func() error {
		if failed.Load() < 3 {
			return fmt.Errorf("tried %d times", failed.Load())
		}
		return nil
	})
	late := b.start(nil) // one that never saw PostgreSQL
	server.Restart()
	b.eventually(func() error {
		all, err := late.Matches(b.ctx, Filter{World: "arena"})
		if err == nil && len(all) != matches+1 {
			err = fmt.Errorf("%d matches are written", len(all))
		}
		return err
	})
	b.drained()
	first.Stop()
	waits := strings.Index(log.String(), "journal waits for postgres")
	if reached := strings.Index(log.String(), "journal reached postgres"); reached < 0 || waits < reached {
		t.Errorf("the log does not say that PostgreSQL was reached, and then away: %s", log.String())
	}
}

func TestAPostgresBehindABlackHoleLosesNothing(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	proxy := faultproxy.Start(t, server.Addr())
	b := setup(t, redistest.Shared(t), server.URL())
	failed := make(chan struct{}, 100)
	b.start(func(o *Options) {
		o.URL = strings.Replace(server.URL(), server.Addr(), proxy.Addr(), 1)
		o.Observer.Failed = func() { failed <- struct{}{} }
	})
	b.complete("m1")
	b.written("m1", "complete")
	proxy.BlackHole(faultproxy.Both)
	b.complete("m2")
	<-failed // nothing answered, and the writer noticed
	b.complete("m3")
	proxy.BlackHole(faultproxy.Neither)
	b.written("m2", "complete")
	b.written("m3", "complete")
	b.drained()
}

func TestAnInstanceThatDiesBetweenWriteAndAckIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	f := &faulty{reached: make(chan struct{})}
	outgoing := func(e store.Event) ([]Outgoing, error) {
		return []Outgoing{{Event: "e-" + string(e.Match), Type: "match.completed", URL: "http://h", Body: []byte("{}")}}, nil
	}
	first := b.start(func(o *Options) { f.Stream, o.Stream, o.Outgoing = o.Stream, f, outgoing })
	b.complete("m")
	<-f.reached
	first.Stop()
	b.written("m", "complete")
	b.start(func(o *Options) { o.Outgoing = outgoing })
	b.drained()
	b.written("m", "complete")
	if pending, err := b.database.ClaimPending(b.ctx, "http://h", 10, time.Minute); err != nil || len(pending) != 1 {
		t.Errorf("the outbox has %v (%v), want it once", pending, err)
	}
}

func TestWhatPostgresRefusesBecomesADeadLetterAndCanBePutBack(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	execute := func(sql string) {
		t.Helper()
		_, err := b.database.pool.Exec(b.ctx, sql)
		b.must(err)
	}
	execute("ALTER TABLE muster_match_players ADD CONSTRAINT test CHECK (player <> 'poison')")
	// A trigger of the operator's own may refuse a row with an error of its language.
	execute(`CREATE FUNCTION test() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF NEW.player = 'raised' THEN RAISE 'no'; END IF; RETURN NEW; END $$`)
	execute("CREATE TRIGGER test BEFORE INSERT ON muster_match_players FOR EACH ROW EXECUTE FUNCTION test()")
	s := b.store()
	b.must(b.stream(s, time.Second).Begin(b.ctx, true))
	// All in one batch, as they are there before the journal is.
	b.complete("m1")
	b.happen("event=match_complete", "match=m2", "record="+matchText("complete", 10, "a;poison", "", "||||||"))
	b.happen("event=match_begun", "match=m3")
	b.happen("event=match_complete", "match=m5", "record="+matchText("complete", 10, "a;raised", "", "||||||"))
	b.complete("m4")
	var dead, refused atomic.Int64
	b.start(func(o *Options) {
		o.Observer.Dead = func(n int) { dead.Add(int64(n)) }
		o.Observer.Refused = func() { refused.Add(1) }
	})
	b.written("m1", "complete")
	b.written("m4", "complete")
	var letters []store.DeadLetter
	b.eventually(func() (err error) {
		if letters, err = s.DeadLetters(b.ctx, "", 10); err == nil && len(letters) != 3 {
			err = fmt.Errorf("%d dead letters", len(letters))
		}
		return err
	})
	b.drained()
	b.eventually(func() error {
		if dead.Load() != 3 || refused.Load() != 9 {
			return fmt.Errorf("%d dead after %d refusals, want 3 after 3 each", dead.Load(), refused.Load())
		}
		return nil
	})
	if _, err := b.database.Match(b.ctx, "m2"); !errors.Is(err, ErrNoSuchMatch) {
		t.Errorf("the refused match: %v", err)
	}
	execute("ALTER TABLE muster_match_players DROP CONSTRAINT test")
	for _, letter := range letters {
		if letter.Entry.Fields["match"] == "m2" {
			b.must(s.PutBack(b.ctx, letter.ID))
		}
	}
	b.written("m2", "complete")
}

func TestARedisThatLostItsDataIsReadFromItsBeginning(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	b := setup(t, server, pgtest.Database(t))
	b.start(nil)
	b.complete("m1")
	b.written("m1", "complete")
	server.FlushAll()
	b.complete("m2")
	b.written("m2", "complete")
	b.drained()
	b.written("m1", "complete")
	kept, err := server.Do(b.ctx, "HGET", "mm:{"+b.realm+"}:meta", "journal")
	if err != nil || kept != "1" {
		t.Errorf("meta.journal is %v (%v)", kept, err)
	}
	server.Kill()
	server.Restart()
	b.complete("m3")
	b.written("m3", "complete")
}

func TestStopEndsInTheMiddleOfAnOutageAndTwice(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	b := setup(t, server, pgtest.Database(t))
	j := b.start(func(o *Options) { o.URL = "postgres://postgres@127.0.0.1:1/none" })
	b.complete("m")
	j.Stop()
	j.Stop()
	never, err := New(b.ctx, Options{URL: b.url, Realm: b.realm})
	b.must(err)
	never.Stop()
}

// What stands in the end does not depend on the order, on repetitions, or on what was written together.
func TestTheOrderOfEventsDoesNotMatter(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	ends := fmt.Sprint(time.Now().Add(time.Hour).UnixMilli())
	record := func(state string, version int, players, accepted string) string {
		return fmt.Sprintf("%s|%d|7|arena|1796000000000000|%s|game=u|%s||9|%s||||x|", state, version, ends, players, accepted)
	}
	events := []store.Event{
		{Kind: store.MatchProposed, At: 1, Record: record("proposed", 1, "a;b", "")},
		{Kind: store.MatchAllocating, At: 2, Record: record("allocating", 2, "a;b", "a;b")},
		{Kind: store.MatchComplete, At: 3, Record: record("complete", 3, "a;b", "a;b")},
		{Kind: store.MatchUpdate, At: 4, Record: record("complete", 4, "b;c", "a;b")},
		{Kind: store.MatchEnded, At: 5, Record: record("complete", 4, "b;c", "a;b"), Reason: "expired"},
	}
	var want Match
	number := 0
	permutations(len(events), func(order []int) {
		number++
		id := ident.Match(fmt.Sprintf("m%d", number))
		var list []store.Event
		for _, i := range append(order, order[number%len(order)]) { // one of them twice
			e := events[i]
			e.Match = id
			list = append(list, e)
		}
		for size := number%3 + 1; len(list) > 0; list = list[min(size, len(list)):] {
			b.must(b.database.write(b.ctx, list[:min(size, len(list))], nil))
		}
		got, err := b.database.Match(b.ctx, id)
		b.must(err)
		got.ID = ""
		if number == 1 { // in their order
			want = got
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("order %v (-want +got)\n%s", order, diff)
		}
	})
	if number != 120 || want.State != "ended" || want.Version != 4 || len(want.Players) != 3 {
		t.Errorf("%d orders; %+v", number, want)
	}
}

// permutations calls visit with every order of n numbers, the sorted one first.
func permutations(n int, visit func([]int)) {
	order := make([]int, 0, n)
	used := make([]bool, n)
	var next func()
	next = func() {
		if len(order) == n {
			visit(append([]int(nil), order...))
			return
		}
		for i := range n {
			if !used[i] {
				used[i], order = true, append(order, i)
				next()
				used[i], order = false, order[:len(order)-1]
			}
		}
	}
	next()
}

// Whatever stands in an entry, it is refused and not waited for: what looked like an outage would hold up the rest.
// What JSON allows PostgreSQL need not: an endpoint is kept as it was given.
func TestAnyEndpointIsRecordedAsItWasGiven(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	for i, endpoint := range []string{`"a\u0000b"`, `"\ud800"`, `{"\u0000":1}`, `1e999999`, `{"a":1,"a":2}`, `null`} {
		id := ident.Match(fmt.Sprint("m", i))
		text := matchText("complete", 1, "a", "", "|||"+base64.RawURLEncoding.EncodeToString([]byte(endpoint))+"|||")
		if err := b.database.write(b.ctx, []store.Event{{Kind: store.MatchComplete, Match: id, Record: text}}, nil); err != nil {
			t.Errorf("%s: %v", endpoint, err)
			continue
		}
		m, err := b.database.Match(b.ctx, id)
		if err != nil || string(m.Endpoint) != endpoint {
			t.Errorf("%s is recorded as %s, %v", endpoint, m.Endpoint, err)
		}
	}
}

func TestAnEntryThatCannotBeWrittenIsNoOutage(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	const huge = "9223372036854775807"
	for name, e := range map[string]store.Event{
		"NUL":           {Record: matchText("complete", 1, "a;\x00", "", "||||||")},
		"not UTF-8":     {Record: matchText("complete\xff", 1, "a", "", "||||||")},
		"text":          {Record: "nonsense"},
		"version":       {Record: strings.Replace(matchText("complete", 1, "a", "", ""), "|1|", "|"+huge+"0|", 1)},
		"time":          {Record: "complete|1|7|arena|" + huge + "|" + huge + "|game=u|a|"},
		"seats":         {Record: matchText("complete", 1, "a", "", "||||"+huge+"||")},
		"taken":         {Record: matchText("complete", 1, "a", "", "||||||"+huge)},
		"seats below":   {Record: matchText("complete", 1, "a", "", "||||-"+huge+"||")},
		"time below":    {Record: "complete|1|7|arena|-" + huge + "|-" + huge + "|game=u|a|"},
		"event below":   {At: math.MinInt64, Record: matchText("complete", 1, "a", "", "||||||")},
		"time of event": {At: math.MaxInt64, Record: matchText("complete", 1, "a", "", "||||||")},
		"time of end":   {Kind: store.MatchEnded, At: math.MaxInt64},
		"reason":        {Kind: store.MatchEnded, Reason: "\x00"},
		"long player":   {Record: matchText("complete", 1, noise(8000), "", "||||||")},
	} {
		e.Match = "m"
		if e.Kind == "" {
			e.Kind = store.MatchComplete
		}
		if err := b.database.write(b.ctx, []store.Event{e}, nil); !isRefused(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// noise is a text that does not shrink, so that no index takes it.
func noise(n int) string {
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, n)
	for i := range text {
		text[i] = byte('A' + random.IntN(26))
	}
	return string(text)
}
