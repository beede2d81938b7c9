package store

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/internal/ident"
)

func TestAMatchTextOfAnyVersionIsRead(t *testing.T) {
	t.Parallel()
	const old = "complete|20|10|w|15|99|game=u1;chat=u2|a;b|b"
	endpoint := base64.RawURLEncoding.EncodeToString([]byte(`{"host":"h"}`))
	match, err := ParseMatch("m", old)
	if err != nil {
		t.Fatal(err)
	}
	full := match
	full.AcceptBy, full.Accepted, full.Shown = 77, []ident.Player{"a", "b"}, []ident.Player{"a"}
	full.Endpoint, full.Seats, full.Open, full.Taken = []byte(`{"host":"h"}`), true, 2, 1
	for text, want := range map[string]Match{
		old:                                      match,
		old + "|||||||":                          match,
		old + "|77|a;b|a|" + endpoint + "|2|x|1": full,
		old + "|77|a;b|a|" + endpoint + "|2|x|1|later|more": full,
	} {
		got, err := ParseMatch("m", text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", text, err, diff)
		}
	}
}

func TestATextThatIsNoMatchIsAnError(t *testing.T) {
	t.Parallel()
	const old = "complete|20|10|w|15|99|game=u1|a;b|"
	for _, text := range []string{"", "complete|20", strings.Replace(old, "20", "x", 1), old + "|x", old + "|||||x|x", old + "||||!", old + "||||e30x"} {
		if m, err := ParseMatch("m", text); err == nil {
			t.Errorf("%q is %+v", text, m)
		}
	}
}

func TestEventsAreReadOrRefused(t *testing.T) {
	t.Parallel()
	entry := func(fields ...string) StreamEntry {
		e := StreamEntry{ID: "1796000000123-4", Fields: map[string]string{}}
		for _, f := range fields {
			name, value, _ := strings.Cut(f, "=")
			e.Fields[name] = value
		}
		return e
	}
	for _, r := range []struct {
		entry StreamEntry
		want  Event
	}{
		{entry("event=match_complete", "match=m", "record=r", "at=7"), Event{Kind: MatchComplete, Match: "m", Record: "r", At: 7}},
		{entry("event=match_ended", "match=m", "reason=left"), Event{Kind: MatchEnded, Match: "m", Reason: "left", At: 1796000000123}},
		{entry("event=player_dequeued", "player=p", "world=w", "ticket=w.1", "reason=expired", "notice=n", "at=8"),
			Event{Kind: PlayerDequeued, Player: "p", World: "w", Ticket: "w.1", Reason: "expired", Notice: "n", At: 8}},
	} {
		got, err := ParseEvent(r.entry)
		if diff := cmp.Diff(r.want, got); diff != "" || err != nil {
			t.Errorf("%v: %v (-want +got)\n%s", r.entry, err, diff)
		}
	}
	for _, e := range []StreamEntry{
		entry(), entry("event=match_begun", "match=m", "record=r"), entry("event=match_complete", "record=r"),
		entry("event=match_complete", "match=m"), entry("event=match_ended", "match=a b"),
		entry("event=player_dequeued", "player=p"), entry("event=match_ended", "match=m", "at=x"),
	} {
		if got, err := ParseEvent(e); err == nil {
			t.Errorf("%v is %+v", e, got)
		}
	}
}
