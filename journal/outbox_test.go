package journal

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/internal/pgtest"
	"muster/internal/redistest"
)

// fill puts events e1 to en into the outbox for an address.
func (b *bundle) fill(n int, url string) {
	b.Helper()
	var outgoing []Outgoing
	for i := range n {
		outgoing = append(outgoing, Outgoing{Event: fmt.Sprintf("e%d", i+1), Type: "match.ended", URL: url, Body: []byte(`{"a":"ü"}`)})
	}
	b.must(b.database.write(b.ctx, nil, outgoing))
}

// claimed are the events that are due.
func (b *bundle) claimed(url string, n int, hold time.Duration) []string {
	b.Helper()
	pending, err := b.database.ClaimPending(b.ctx, url, n, hold)
	b.must(err)
	var events []string
	for _, p := range pending {
		if string(p.Body) != `{"a":"ü"}` || p.URL != url || p.Type != "match.ended" {
			b.Errorf("%+v", p)
		}
		events = append(events, fmt.Sprintf("%s(%d)", p.Event, p.Attempts))
	}
	slices.Sort(events)
	return events
}

func (b *bundle) want(got []string, want ...string) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Errorf("%v, want %v", got, want)
	}
}

func TestADeliveryIsOneClaimersAtATime(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	b.fill(3, "http://h")
	b.fill(1, "http://other")
	b.want(b.claimed("http://h", 2, time.Minute), "e1(1)", "e2(1)")
	b.want(b.claimed("http://h", 2, time.Minute), "e3(1)")
	b.want(b.claimed("http://h", 2, time.Minute))
	b.must(b.database.Postpone(b.ctx, "e2", "http://h", 0, "\x00no\xff"))
	b.want(b.claimed("http://h", 2, 0), "e2(2)")
	b.want(b.claimed("http://h", 2, time.Minute), "e2(3)") // its claimer died
	b.want(b.claimed("http://other", 2, time.Minute), "e1(1)")
}

func TestWhatWasDeliveredIsNotToldAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	b.fill(2, "http://h")
	b.claimed("http://h", 2, 0)
	b.must(b.database.Delivered(b.ctx, "e1", "http://h"))
	b.must(b.database.Postpone(b.ctx, "e1", "http://h", 0, "too late"))
	b.fill(2, "http://h") // the events come again
	b.want(b.claimed("http://h", 2, 0), "e2(2)")
}

func TestDeadDeliveriesAreShownAndReplayed(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	b.fill(3, "http://h")
	b.claimed("http://h", 3, time.Minute)
	for _, event := range []string{"e1", "e2", "e3"} {
		b.must(b.database.Bury(b.ctx, event, "http://h", "status 500"))
	}
	dead, err := b.database.DeadDeliveries(b.ctx, 2)
	if err != nil || len(dead) != 2 || dead[0].Event != "e3" || dead[0].Reason != "status 500" || dead[0].Attempts != 1 {
		t.Errorf("%+v (%v)", dead, err)
	}
	for _, r := range []struct {
		event string
		want  int
	}{{"e1", 1}, {"e1", 0}, {"", 2}} {
		if n, err := b.database.Replay(b.ctx, r.event); err != nil || n != r.want {
			t.Errorf("replay %q: %d (%v), want %d", r.event, n, err, r.want)
		}
	}
	b.want(b.claimed("http://h", 3, time.Minute), "e1(1)", "e2(1)", "e3(1)")
}

func TestDeliveriesAreForgottenInTime(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	b.fill(5, "http://h")
	for event, state := range map[string]string{
		"e1": "state = 'delivered', done_at = now() - interval '25 hours'", "e2": "state = 'delivered', done_at = now() - interval '23 hours'",
		"e3": "state = 'dead', done_at = now() - interval '31 days'", "e4": "state = 'dead', done_at = now() - interval '29 days'",
	} {
		_, err := b.database.pool.Exec(b.ctx, "UPDATE muster_outbox SET "+state+" WHERE event = $1", event)
		b.must(err)
	}
	b.must(b.database.forgetDone(b.ctx))
	rows, err := b.database.pool.Query(b.ctx, "SELECT event FROM muster_outbox ORDER BY event")
	b.must(err)
	var left []string
	for rows.Next() {
		var event string
		b.must(rows.Scan(&event))
		left = append(left, event)
	}
	b.must(rows.Err())
	b.want(left, "e2", "e4", "e5")
}

// A body is JSON, whose backslashes mean something to PostgreSQL where it takes a text for bytes.
func TestOutbox_PassesBodiesUnchanged(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	bodies := map[string]string{
		"quote": `{"a":"\"x\""}`, "escape": `{"a":"\u0026\n\u003c"}`, "doubled": `{"path":"C:\\temp"}`, "hex": `\x41`, "octal": `\101`,
		"utf-8": `{"a":"ü€😀"}`, "empty": "",
	}
	var outgoing []Outgoing
	for event, body := range bodies {
		outgoing = append(outgoing, Outgoing{Event: event, Type: "t", URL: "http://h", Body: []byte(body)})
	}
	b.must(b.database.write(b.ctx, nil, outgoing))
	pending, err := b.database.ClaimPending(b.ctx, "http://h", len(bodies), time.Minute)
	b.must(err)
	got := map[string]string{}
	for _, p := range pending {
		got[p.Event] = string(p.Body)
	}
	if diff := cmp.Diff(bodies, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// unreadable makes PostgreSQL fail as it does where the body of an event is damaged on disk.
func (b *bundle) unreadable(event string) {
	b.Helper()
	for _, sql := range []string{
		"ALTER TABLE muster_outbox RENAME TO kept",
		`CREATE FUNCTION body_of(event text, body text) RETURNS text STABLE LANGUAGE plpgsql AS $$ BEGIN
			IF event = '` + event + `' THEN RAISE 'missing chunk number 0' USING ERRCODE = 'XX001'; END IF; RETURN body; END $$`,
		`CREATE VIEW muster_outbox AS SELECT realm, event, url, type, body_of(event, body) AS body, state, attempts, due_at,
			created_at, done_at, error FROM kept`,
	} {
		_, err := b.database.pool.Exec(b.ctx, sql)
		b.must(err)
	}
}

func TestOutbox_OneUnreadableBodyStopsNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Shared(t), pgtest.Database(t))
	b.fill(3, "http://h")
	b.unreadable("e2")
	pending, err := b.database.ClaimPending(b.ctx, "http://h", 3, time.Minute)
	b.must(err)
	var got []string
	for _, p := range pending {
		got = append(got, fmt.Sprintf("%s(%d) %t", p.Event, p.Attempts, p.Unreadable == nil && string(p.Body) == `{"a":"ü"}`))
	}
	slices.Sort(got)
	b.want(got, "e1(1) true", "e2(1) false", "e3(1) true")
	b.must(b.database.Bury(b.ctx, "e2", "http://h", "unreadable"))
	b.want(b.claimed("http://h", 3, time.Minute))
}
