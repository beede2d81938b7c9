package load

import (
	"maps"
	"testing"
	"time"

	"muster/protocol"
)

// meetingOf is a match as the server tells it, open for a minute from when it is made.
func meetingOf(id string, at int64, players ...string) *protocol.Match {
	m := &protocol.Match{
		ID: id, World: "duel", State: protocol.StateComplete, CreatedAt: at, ExpiresAt: at + 60_000,
		Rooms: map[string]string{"game": "room-of-" + id},
	}
	for _, p := range players {
		m.Players = append(m.Players, protocol.Player{ID: p})
	}
	return m
}

func TestTheJudgeFindsWhatCannotBeRight(t *testing.T) {
	t.Parallel()
	other := meetingOf("m1", 0, "a", "b")
	other.Rooms = map[string]string{"game": "elsewhere"}
	type told struct {
		player string
		match  *protocol.Match
		left   bool // the player leaves it
	}
	for name, c := range map[string]struct {
		told []told
		want map[Kind]int
	}{
		"two who meet": {
			told: []told{{"a", meetingOf("m1", 0, "a", "b"), false}, {"b", meetingOf("m1", 0, "a", "b"), false}},
		},
		"again after leaving": {
			told: []told{
				{"a", meetingOf("m1", 0, "a", "b"), true}, {"b", meetingOf("m1", 0, "a", "b"), true},
				{"b", meetingOf("m2", 5, "a", "b"), true}, {"a", meetingOf("m2", 5, "a", "b"), true},
			},
		},
		"again after its end": {
			told: []told{
				{"a", meetingOf("m1", 0, "a", "b"), false}, {"b", meetingOf("m1", 0, "a", "b"), false},
				{"b", meetingOf("m2", 60_000, "a", "b"), false}, {"a", meetingOf("m2", 60_000, "a", "b"), false},
			},
		},
		"with one who is not of this run": {
			told: []told{{"a", meetingOf("m1", 0, "a", "stranger"), false}},
		},
		"in two matches": {
			told: []told{
				{"a", meetingOf("m1", 0, "a", "b"), true}, {"b", meetingOf("m1", 0, "a", "b"), false},
				{"c", meetingOf("m2", 5, "b", "c"), false}, {"b", meetingOf("m2", 5, "b", "c"), false},
			},
			want: map[Kind]int{DoubleBooking: 1},
		},
		"too many": {
			told: []told{
				{"a", meetingOf("m1", 0, "a", "b", "c"), false}, {"b", meetingOf("m1", 0, "a", "b", "c"), false},
				{"c", meetingOf("m1", 0, "a", "b", "c"), false},
			},
			want: map[Kind]int{WrongSize: 1},
		},
		"with oneself": {
			told: []told{{"a", meetingOf("m1", 0, "a", "a"), false}},
			want: map[Kind]int{WrongSize: 1},
		},
		"told what is others'": {
			told: []told{
				{"a", meetingOf("m1", 0, "a", "b"), false}, {"b", meetingOf("m1", 0, "a", "b"), false},
				{"c", meetingOf("m1", 0, "a", "b"), false},
			},
			want: map[Kind]int{NotParticipant: 1},
		},
		"sent to different rooms": {
			told: []told{{"a", meetingOf("m1", 0, "a", "b"), false}, {"b", other, false}},
			want: map[Kind]int{ToldOtherwise: 1},
		},
		"never told": {
			told: []told{{"a", meetingOf("m1", 0, "a", "b"), false}},
			want: map[Kind]int{NeverTold: 1},
		},
		"not connected, and so not told": {
			told: []told{{"a", meetingOf("m1", 0, "a", "absent"), false}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJudge(map[string]world{"duel": {Name: "duel", Mode: "duel", Size: 2}}, func(time.Time, time.Time) {})
			for _, p := range []string{"a", "b", "c", "absent"} {
				j.add(p)
			}
			for _, x := range c.told {
				j.tell(x.player, x.match, time.Now())
				if x.left {
					j.frees(x.player, x.match.ID)
				}
			}
			j.end(map[string]bool{"a": true, "b": true, "c": true})
			var report Report
			j.verdict(&report)
			if !maps.Equal(report.Violations, c.want) {
				t.Errorf("found %v, want %v", report.Examples, c.want)
			}
			if report.Correct != (len(c.want) == 0) {
				t.Errorf("correct is %v", report.Correct)
			}
		})
	}
}

func TestAMatchIsMeasuredFromItsLastJoinToItsLastPlayer(t *testing.T) {
	t.Parallel()
	start := time.Now()
	var took []time.Duration
	j := newJudge(nil, func(lastJoin, lastTold time.Time) { took = append(took, lastTold.Sub(lastJoin)) })
	j.add("a")
	j.add("b")
	j.joins("a", start)
	j.joins("b", start.Add(time.Second))
	m := meetingOf("m1", 0, "a", "b")
	j.tell("b", m, start.Add(1100*time.Millisecond))
	if len(took) != 0 {
		t.Fatal("measured before all were told")
	}
	j.tell("a", m, start.Add(1200*time.Millisecond))
	if len(took) != 1 || took[0] != 200*time.Millisecond {
		t.Errorf("measured %v, want 200ms", took)
	}
	if len(j.open) != 0 {
		t.Error("a match that all know is still held")
	}
}
