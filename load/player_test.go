package load

import (
	"maps"
	"testing"
	"time"

	"muster/protocol"
)

// playerBundle is a player without a connection: what it is told is handed to it, what it sends is lost.
type playerBundle struct {
	t *testing.T
	r *run
	p *player
}

// newPlayer is a player who is to join a duel since a second ago.
func newPlayer(t *testing.T, leave bool) *playerBundle {
	t.Helper()
	r := newRun(Options{
		URLs: []string{"ws://unused"}, Players: 1, Worlds: []string{"duel"}, Pattern: Steady, IDPrefix: "t", Leave: leave,
	}, map[string]world{"duel": {Name: "duel", Mode: "duel", Size: 2}})
	b := &playerBundle{t: t, r: r, p: r.players[0]}
	b.p.join(t.Context(), time.Now().Add(-time.Second))
	b.p.pending = 1 // as if it had been sent
	return b
}

func (b *playerBundle) hears(events ...protocol.Event) {
	for _, e := range events {
		b.p.hear(b.t.Context(), e, make(chan error, 1))
	}
}

func (b *playerBundle) violations() map[Kind]int {
	var report Report
	b.r.judge.verdict(&report)
	return report.Violations
}

func (b *playerBundle) wantViolations(want map[Kind]int) {
	b.t.Helper()
	if got := b.violations(); !maps.Equal(got, want) {
		b.t.Errorf("violations %v, want %v", got, want)
	}
}

func (b *playerBundle) wantFree(want bool) {
	b.t.Helper()
	if got := len(b.r.free) == 1; got != want {
		b.t.Errorf("free to join again: %v, want %v", got, want)
	}
}

func (b *playerBundle) complete(id string) *protocol.MatchCompleted {
	return &protocol.MatchCompleted{Match: meetingOf(id, 0, b.p.id, "stranger")}
}

func TestLatencyCountsFromWhenAJoinWasDue(t *testing.T) {
	t.Parallel()
	b := newPlayer(t, false)
	b.hears(&protocol.Joined{TicketID: "duel.1"}, b.complete("m1"))
	for _, l := range []*latency{b.r.joined, b.r.match} {
		if l.count() != 1 || l.p99() < time.Second {
			t.Errorf("%d recorded, p99 %v, want one of a second or more", l.count(), l.p99())
		}
	}
	b.wantViolations(nil)
}

func TestAMatchToldAgainIsARepetition(t *testing.T) {
	t.Parallel()
	b := newPlayer(t, false)
	b.hears(&protocol.Joined{TicketID: "duel.1"}, b.complete("m1"), b.complete("m1"))
	b.hears(&protocol.State{PlayerState: protocol.PlayerState{Match: b.complete("m1").Match}})
	if n := b.r.match.count(); n != 1 {
		t.Errorf("counted %d times", n)
	}
	b.wantViolations(nil)
}

func TestAMatchThatNobodyAskedForIsWrong(t *testing.T) {
	t.Parallel()
	b := newPlayer(t, false)
	b.hears(&protocol.Joined{TicketID: "duel.1"}, b.complete("m1"), b.complete("m2"))
	b.wantViolations(map[Kind]int{NotAsked: 1})
}

func TestWhoLeavesItsMatchJoinsAgain(t *testing.T) {
	t.Parallel()
	b := newPlayer(t, true)
	b.hears(&protocol.Joined{TicketID: "duel.1"}, b.complete("m1"))
	b.wantFree(false)
	b.hears(&protocol.LeftMatch{MatchID: "m1"})
	b.wantFree(true)
	if n := b.r.waiting.Load(); n != 0 {
		t.Errorf("%d wait", n)
	}
}

func TestARefusedJoinFreesThePlayerUnlessItsOutcomeIsUnknown(t *testing.T) {
	t.Parallel()
	for code, free := range map[string]bool{
		protocol.CodeQueueFull: true, protocol.CodeRateLimited: true,
		protocol.CodeUnavailable: false, protocol.CodeDraining: false,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			b := newPlayer(t, false)
			refusal := protocol.NewError(code)
			refusal.ID = joinID
			b.hears(refusal)
			b.wantFree(free)
			if n := b.r.errors.snapshot()[code]; n != 1 {
				t.Errorf("counted %d times", n)
			}
			b.wantViolations(nil)
		})
	}
}

func TestATicketThatEndsIsCountedAndOneThatVanishesIsLost(t *testing.T) {
	t.Parallel()
	ended := &protocol.Dequeued{NoticeID: "n1", World: "duel", TicketID: "duel.1", Reason: protocol.ReasonExpired}
	for name, c := range map[string]struct {
		hears   protocol.Event
		expired int
		want    map[Kind]int
	}{
		"told at once":        {ended, 1, nil},
		"told by a notice":    {&protocol.State{PlayerState: protocol.PlayerState{Notices: protocol.Notices{ended}}}, 1, nil},
		"not told":            {&protocol.State{}, 0, map[Kind]int{Lost: 1}},
		"not told when asked": {&protocol.StatusReply{}, 0, map[Kind]int{Lost: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newPlayer(t, false)
			b.hears(&protocol.Joined{TicketID: "duel.1"}, c.hears)
			if n := b.r.dequeued.snapshot()[protocol.ReasonExpired]; n != c.expired {
				t.Errorf("%d expired, want %d", n, c.expired)
			}
			b.wantViolations(c.want)
			b.wantFree(true)
		})
	}
}

func TestWhoHearsOfItsMatchOnlyWhenAskingWasNotTold(t *testing.T) {
	t.Parallel()
	b := newPlayer(t, false)
	b.hears(&protocol.Joined{TicketID: "duel.1"},
		&protocol.StatusReply{PlayerState: protocol.PlayerState{Match: b.complete("m1").Match}})
	b.r.concludeWaiting(b.r.players)
	b.wantViolations(map[Kind]int{NeverTold: 1})
}

func TestAMatchThatWasOnItsWayWhenThePlayerAskedWasTold(t *testing.T) {
	t.Parallel()
	b := newPlayer(t, false)
	b.hears(&protocol.Joined{TicketID: "duel.1"},
		&protocol.StatusReply{PlayerState: protocol.PlayerState{Match: b.complete("m1").Match}}, b.complete("m1"))
	b.r.concludeWaiting(b.r.players)
	b.wantViolations(nil)
}

func TestOfThoseWhoWaitAtTheEndThereMustBeTooFewForAMatch(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]map[Kind]int{1: nil, 2: {NeverTold: 1}} { // players who wait
		r := newRun(Options{
			URLs: []string{"ws://unused"}, Players: n, Worlds: []string{"duel"}, Pattern: Burst, IDPrefix: "t",
		}, map[string]world{"duel": {Name: "duel", Mode: "duel", Size: 2}})
		for _, p := range r.players {
			b := &playerBundle{t: t, r: r, p: p}
			p.join(t.Context(), time.Now())
			b.hears(&protocol.Joined{TicketID: "duel." + p.id},
				&protocol.StatusReply{PlayerState: protocol.PlayerState{Queued: protocol.List[protocol.Queued]{{World: "duel"}}}})
		}
		r.concludeWaiting(r.players)
		(&playerBundle{t: t, r: r}).wantViolations(want)
	}
}
