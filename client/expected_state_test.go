package client

import (
	"reflect"
	"testing"
	"time"

	"muster/protocol"
)

func TestBelief(t *testing.T) {
	t.Parallel()
	match := &protocol.Match{ID: "m"}
	joined := func(world string) protocol.Event {
		return &protocol.Joined{World: world, TicketID: world + ".1"}
	}
	have := func(match string, tickets ...string) *protocol.Have {
		return &protocol.Have{Tickets: tickets, Match: match}
	}
	state := protocol.PlayerState{Queued: protocol.List[protocol.Queued]{{World: "c", TicketID: "c.1"}}, Match: match}
	for name, row := range map[string]struct {
		events []protocol.Event
		want   *protocol.Have
	}{
		"nothing":                               {nil, nil},
		"joined":                                {[]protocol.Event{joined("b"), joined("a")}, have("", "a.1", "b.1")},
		"left":                                  {[]protocol.Event{joined("a"), joined("b"), &protocol.Left{Worlds: []string{"a"}}}, have("", "b.1")},
		"dequeued":                              {[]protocol.Event{joined("a"), &protocol.Dequeued{World: "a", TicketID: "a.1"}}, nil},
		"dequeued, an older ticket":             {[]protocol.Event{joined("a"), &protocol.Dequeued{World: "a", TicketID: "a.0"}}, have("", "a.1")},
		"proposed keeps the tickets":            {[]protocol.Event{joined("a"), &protocol.MatchProposed{Match: match}}, have("m", "a.1")},
		"requeued ends the proposal":            {[]protocol.Event{&protocol.MatchProposed{Match: match}, &protocol.Requeued{Queued: protocol.Queued{World: "a", TicketID: "a.1"}, MatchID: "m"}}, have("", "a.1")},
		"complete ends the tickets":             {[]protocol.Event{joined("a"), &protocol.MatchCompleted{Match: match}}, have("m")},
		"cancelled":                             {[]protocol.Event{&protocol.MatchProposed{Match: match}, &protocol.MatchCancelled{MatchID: "m"}}, nil},
		"an older match cancelled":              {[]protocol.Event{&protocol.MatchProposed{Match: match}, &protocol.MatchCancelled{MatchID: "l"}}, have("m")},
		"ended":                                 {[]protocol.Event{&protocol.MatchCompleted{Match: match}, &protocol.MatchEnded{MatchID: "m"}}, nil},
		"left the match":                        {[]protocol.Event{&protocol.MatchCompleted{Match: match}, &protocol.LeftMatch{MatchID: "m"}}, nil},
		"welcome replaces all":                  {[]protocol.Event{joined("a"), &protocol.Welcome{PlayerState: state}}, have("m", "c.1")},
		"status replaces all":                   {[]protocol.Event{joined("a"), &protocol.StatusReply{PlayerState: state}}, have("m", "c.1")},
		"state replaces all":                    {[]protocol.Event{joined("a"), &protocol.State{}}, nil},
		"a match without its object is nothing": {[]protocol.Event{&protocol.MatchProposed{}}, nil},
	} {
		b := newBelief(nil)
		for _, e := range row.events {
			b.learn(e)
		}
		got := b.have()
		if got != nil && len(got.Tickets) == 0 {
			got.Tickets = nil
		}
		if !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
	if b := newBelief(have("m", "a.1")); !reflect.DeepEqual(b.have(), have("m", "a.1")) {
		t.Errorf("what it began with: %+v", b.have())
	}
}

func TestBackoffGrowsWithinItsBounds(t *testing.T) {
	t.Parallel()
	b := Backoff{}.withDefaults()
	for failures, step := range []time.Duration{
		500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second,
	} {
		seen := map[time.Duration]bool{}
		for range 100 {
			got := b.wait(failures)
			if got < step/2 || got > step {
				t.Fatalf("wait(%d) = %v, want %v to %v", failures, got, step/2, step)
			}
			seen[got] = true
		}
		if len(seen) < 50 {
			t.Errorf("wait(%d) had %d values of 100", failures, len(seen))
		}
	}
	if got := b.wait(1 << 20); got > b.Max {
		t.Errorf("wait after very many = %v", got)
	}
	if b := (Backoff{Min: time.Minute}).withDefaults(); b.Max != time.Minute {
		t.Errorf("Max %v below Min", b.Max)
	}
}
