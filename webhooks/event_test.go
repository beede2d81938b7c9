package webhooks

import (
	"net/http"
	"testing"
	"time"

	"muster/store"
)

const record = "complete|20|10|arena|1796000000123000|1796000060000|game=u1;chat=u2|a;b|b||||eyJob3N0IjoiaCJ9|||"

func TestEventsAreTold(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		event store.Event
		want  string
	}{
		"completed": {store.Event{Kind: store.MatchComplete, At: 7, Match: "m", Record: record},
			`{"id":"2d41fd3e-d0ff-5cf1-8c1b-dbef89592613","type":"match.completed","at":7,"realm":"main","match":{"id":"m","world":"arena","created_at":1796000000123,` +
				`"expires_at":1796000060000,"rooms":{"chat":"u2","game":"u1"},"players":[{"id":"a"},{"id":"b","left":true}],"endpoint":{"host":"h"}}}`},
		"cancelled": {store.Event{Kind: store.MatchCancelled, At: 8, Match: "m", Record: record, Reason: "declined"},
			`{"id":"d04436e9-063a-546b-95ba-a14186c05e47","type":"match.cancelled","at":8,"realm":"main","match":{"id":"m","world":"arena","reason":"declined","created_at":1796000000123,` +
				`"expires_at":1796000060000,"rooms":{"chat":"u2","game":"u1"},"players":[{"id":"a"},{"id":"b","left":true}],"endpoint":{"host":"h"}}}`},
		"ended, and nothing else known": {store.Event{Kind: store.MatchEnded, At: 9, Match: "m", Reason: "left"},
			`{"id":"c04a6b38-2016-5ce8-b5e8-00b9f1cc45b3","type":"match.ended","at":9,"realm":"main","match":{"id":"m","reason":"left","rooms":{},"players":[]}}`},
		"dequeued": {store.Event{Kind: store.PlayerDequeued, At: 10, Player: "a", World: "arena", Ticket: "arena.5", Reason: "expired", Notice: "n1"},
			`{"id":"e75587d3-6be5-5ebc-af29-bbd1143935c0","type":"player.dequeued","at":10,"realm":"main","ticket":{"id":"arena.5","world":"arena","player_id":"a","reason":"expired","notice_id":"n1"}}`},
	} {
		e, err := EventOf("main", r.event)
		if err != nil || string(e.Body) != r.want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, e.Body, r.want)
		}
	}
}

func TestNothingIsToldOfWhatIsOnTheWay(t *testing.T) {
	t.Parallel()
	for _, kind := range []store.EventKind{store.MatchProposed, store.MatchAllocating, store.MatchUpdate} {
		if e, err := EventOf("main", store.Event{Kind: kind, Match: "m", Record: record}); err != nil || e.Type != "" {
			t.Errorf("%s: %+v (%v)", kind, e, err)
		}
	}
	if e, err := EventOf("main", store.Event{Kind: store.MatchComplete, Match: "m", Record: "no match"}); err == nil {
		t.Errorf("%+v", e)
	}
}

// The id says which event it is, not when or how often the stream said so.
func TestAnEventsIDIsItsOwn(t *testing.T) {
	t.Parallel()
	base := store.Event{Kind: store.MatchEnded, At: 1, Match: "m", Record: record, Reason: "ended"}
	again := base
	again.At, again.Record = 2, ""
	other, completed := base, base
	other.Match, completed.Kind = "m2", store.MatchComplete
	ticket := store.Event{Kind: store.PlayerDequeued, At: 1, Player: "a", World: "w", Ticket: "w.1", Notice: "n"}
	later := ticket
	later.Ticket = "w.2"
	ids := map[string]string{}
	for name, r := range map[string]struct {
		realm string
		event store.Event
	}{
		"one": {"main", base}, "one again": {"main", again}, "another match's": {"main", other}, "another type's": {"main", completed},
		"another realm's": {"other", base}, "a ticket's": {"main", ticket}, "another ticket's": {"main", later},
	} {
		e, err := EventOf(r.realm, r.event)
		if err != nil || len(e.ID) != 36 {
			t.Fatalf("%s: %+v (%v)", name, e, err)
		}
		ids[name] = e.ID
	}
	seen := map[string]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	if ids["one"] != ids["one again"] || len(seen) != len(ids)-1 {
		t.Errorf("ids %v", ids)
	}
}

// The figure is of `printf '1796000000.{"a":1}' | openssl dgst -sha256 -hmac secret`.
func TestTheSignatureIsThatOfTheDocument(t *testing.T) {
	t.Parallel()
	header := http.Header{}
	sign(header, []byte("secret"), []byte(`{"a":1}`), time.Unix(1796000000, 999))
	if got := header.Get(HeaderTimestamp); got != "1796000000" {
		t.Errorf("timestamp %s", got)
	}
	if got := header.Get(HeaderSignature); got != "v1=e4c2bd0832e34a806934ead6e003220b15f175d0cb6c6cd8015acf5248be7409" {
		t.Errorf("signature %s", got)
	}
	header = http.Header{}
	sign(header, nil, []byte(`{}`), time.Unix(1, 0))
	if _, signed := header[HeaderSignature]; signed {
		t.Error("signed without a secret")
	}
}
