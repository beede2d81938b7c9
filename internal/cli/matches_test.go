package cli

import (
	"bytes"
	"io"
	"testing"
	"time"

	"muster/journal"
)

func TestSinceIsATimeOrHowLongAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                          {},
		"90m":                       now.Add(-90 * time.Minute),
		"2026-11-28T12:00:00Z":      now.Add(-24 * time.Hour),
		"2026-11-28T13:00:00+01:00": now.Add(-24 * time.Hour),
	} {
		if got, err := sinceOf(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
}

func TestMatchesAreATable(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1796000000123)
	var out bytes.Buffer
	err := writeMatches(&out, []journal.Match{
		{ID: "m1", World: "arena", State: "complete", CreatedAt: at, Players: []journal.Player{{ID: "ana"}, {ID: "ben", Left: true}}},
		{ID: "m2", State: "cancelled", Reason: "lost", CreatedAt: at},
	})
	const want = `CREATED                   ID  WORLD  STATE      REASON  PLAYERS
2026-11-30 00:53:20.123Z  m1  arena  complete   -       ana, ben (left)
2026-11-30 00:53:20.123Z  m2  -      cancelled  lost    -
`
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
}

func TestMatches_ShowsAllOfOne(t *testing.T) {
	t.Parallel()
	at := func(ms int64) *time.Time { t := time.UnixMilli(1796000000000 + ms); return &t }
	var out bytes.Buffer
	err := writeMatch(&out, journal.Match{
		ID: "m1", World: "arena", State: "ended", Reason: "expired", CreatedAt: *at(1), ProposedAt: at(2), AcceptBy: at(3),
		AllocatingAt: at(4), CompletedAt: at(5), EndsAt: at(6), EndedAt: at(7), OpenSeats: 1, TakenSeats: 2,
		Rooms: map[string]string{"voice": "r2", "game": "r1"}, Endpoint: []byte(`{"port":1}`),
		Players: []journal.Player{{ID: "ana", Accepted: true, Shown: true}, {ID: "ben", Left: true}, {ID: "cem"}},
	})
	const want = `id          m1
world       arena
state       ended
reason      expired
created     2026-11-30 00:53:20.001Z
proposed    2026-11-30 00:53:20.002Z
accept by   2026-11-30 00:53:20.003Z
allocating  2026-11-30 00:53:20.004Z
complete    2026-11-30 00:53:20.005Z
expires     2026-11-30 00:53:20.006Z
ended       2026-11-30 00:53:20.007Z
room game   r1
room voice  r2
endpoint    {"port":1}
seats       1 open, 2 taken
player      ana, shown, accepted
player      ben, left
player      cem
`
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
	out.Reset()
	if err := writeMatch(&out, journal.Match{ID: "m1", State: "complete", CreatedAt: *at(1)}); err != nil ||
		out.String() != "id       m1\nstate    complete\ncreated  2026-11-30 00:53:20.001Z\n" {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestList_SaysThatItIsEmpty(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(io.Writer) error{
		"matches": func(w io.Writer) error { return writeMatches(w, nil) },
		"dead":    func(w io.Writer) error { return writeDead(w, nil) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil || out.String() != "nothing here\n" {
			t.Errorf("%s: %q, %v", name, out.String(), err)
		}
	}
}

func TestAnAddressIsShownWithoutSecrets(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://user:pass@h:1/path?token=x#f": "https://h:1",
		"http://h":                             "http://h",
		"http://%zz":                           unset,
	} {
		if got := shown(address); got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
}
