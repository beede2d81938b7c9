package store

import (
	"fmt"
	"strings"
	"testing"

	"muster/internal/ident"
	"muster/internal/redistest"
)

// playing are the assertions of players in complete matches of one size, the players of each match apart from one another.
func playing(matches, size int) []Assertion {
	var all []Assertion
	for seat := range size {
		for m := range matches {
			var names []string
			for i := range size {
				names = append(names, fmt.Sprintf("p%d-%d", m, i))
			}
			all = append(all, Assertion{
				Session: Session{Player: ident.Player(names[seat]), Generation: testStart}, AsOf: testStart + 9,
				Record: fmt.Sprintf("%d|m%d|%d||", testStart+5, m, testStart/1000+3600000),
				Match: fmt.Sprintf("complete|%d|%d|trio|%d|%d|play=r|%s|", testStart+5, testStart, testStart+5,
					testStart/1000+3600000, strings.Join(names, ";")),
			})
		}
	}
	return all
}

func TestAssertionBatches_CountOfCalls(t *testing.T) {
	t.Parallel()
	idle := make([]Assertion, 9_050)
	for i := range idle {
		idle[i].Player = ident.Player(fmt.Sprintf("idle%d", i))
	}
	unknown := playing(30, 3)
	for i := range unknown {
		unknown[i].Match = "" // the session knows that it is in a match, but not in which company
	}
	for name, c := range map[string]struct {
		all     []Assertion
		atMost  int
		largest int
	}{
		"matches of 100":           {playing(90, 100), 90, 100},
		"matches of 50":            {playing(181, 50), 91, 100},
		"matches of 60":            {playing(150, 60), 150, 60},
		"pairs":                    {playing(4_525, 2), 91, 100},
		"idle players":             {idle, 91, 100},
		"two of each match of 100": {playing(90, 100)[:180], 90, 2},
		"matches without a text":   {unknown, 30, 3},
		"nobody":                   {nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			batches := AssertionBatches(c.all)
			if len(batches) > c.atMost {
				t.Errorf("%d calls for %d players, want at most %d", len(batches), len(c.all), c.atMost)
			}
			seen, in := map[ident.Player]bool{}, map[ident.Match]int{}
			for i, batch := range batches {
				if len(batch) == 0 || len(batch) > c.largest {
					t.Errorf("call %d has %d players, want 1 to %d", i, len(batch), c.largest)
				}
				for _, a := range batch {
					seen[a.Player] = true
					record, _ := ParseRecord(a.Record)
					if at, ok := in[record.Match]; ok && at != i && record.Match != "" {
						t.Errorf("match %s is in calls %d and %d", record.Match, at, i)
					}
					in[record.Match] = i
				}
			}
			if len(seen) != len(c.all) {
				t.Errorf("%d players of %d are asserted", len(seen), len(c.all))
			}
		})
	}
}

// What Redis does for a match of 100 grows with its players, and not with their square.
func TestAssertState_CostOfALargeMatch(t *testing.T) {
	t.Parallel()
	b := setup(t, only(redistest.Start(t)), 1, group("trio", 3))
	batches := AssertionBatches(playing(1, 100))
	var outcomes []Asserted
	bounded(t, "the assertion of a match of 100", b.cost(func() {
		var err error
		if outcomes, err = b.stores[0].AssertState(b.ctx, b.stores[0].Epoch(), batches[0]); err != nil {
			t.Fatal(err)
		}
	}), 150, 450)
	for i, o := range outcomes {
		if o != Stands {
			t.Errorf("outcome %d is %v", i, o)
		}
	}
	if v := b.view(); len(v.matches) != 1 || len(v.records) != 100 {
		t.Errorf("%d matches, %d records", len(v.matches), len(v.records))
	}
}
