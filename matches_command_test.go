package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/musterhq/muster/journal"
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
