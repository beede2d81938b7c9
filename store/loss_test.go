package store

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/internal/ident"
)

// loss is a realm of two instances just before a loss of history, with what both know.
type loss struct {
	*bundle
	w     WorldRules
	known map[ident.Player]Assertion
	epoch ident.Place
}

func newLoss(t *testing.T, be backend) *loss {
	t.Helper()
	w := duel("duel", 0)
	return &loss{bundle: setup(t, be, 2, w, group("trio", 3)), w: w, known: map[ident.Player]Assertion{}}
}

// learn has sessions know their state as of now.
func (l *loss) learn(sessions ...Session) {
	l.Helper()
	for _, who := range sessions {
		_, st := l.state(who.Player)
		l.known[who.Player] = Assertion{Session: who, AsOf: st.AsOf, Record: st.Record, Match: st.Match}
	}
}

// emptied loses everything and opens the new epoch.
func (l *loss) emptied() {
	l.Helper()
	l.lose()
	l.step(time.Second)
	l.open()
}

func (l *loss) open() {
	l.Helper()
	l.epoch = l.openEpoch().Number
	l.declare(l.w, group("trio", 3))
}

func (l *loss) assert(instance int, players ...ident.Player) []Asserted {
	l.Helper()
	var list []Assertion
	for _, p := range players {
		list = append(list, l.known[p])
	}
	outcomes, err := l.stores[instance].AssertState(l.ctx, l.epoch, list)
	if err != nil {
		l.Fatal(err)
	}
	return outcomes
}

// want compares what players are in or wait for: the match, or the worlds.
func (l *loss) want(want map[ident.Player]string) {
	l.Helper()
	got := map[ident.Player]string{}
	for p := range want {
		r := l.view().records[p]
		got[p] = string(r.Match)
		for _, ticket := range r.Waiting() {
			got[p] += string(ticket.World)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.Errorf("%s", diff)
	}
}

func (l *loss) wantOutcomes(got []Asserted, want ...Asserted) {
	l.Helper()
	if !slices.Equal(got, want) {
		l.Errorf("outcomes %v, want %v", got, want)
	}
}

func (l *loss) remove(instance int, who Session) {
	l.Helper()
	if _, err := l.stores[instance].RemoveFromQueue(l.ctx, who); err != nil {
		l.Fatal(err)
	}
}

func (l *loss) mustLeave(instance int, who Session) {
	l.Helper()
	if _, err := l.stores[instance].LeaveMatch(l.ctx, who, "m1"); err != nil {
		l.Fatal(err)
	}
}

// losses runs each case on each backend, and holds what it leaves behind against what always holds.
func losses(t *testing.T, cases map[string]func(l *loss)) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			onBackends(t, func(t *testing.T, be backend) {
				l := newLoss(t, be)
				test(l)
				for _, fault := range l.view().broken(map[ident.World]int{"duel": 2, "trio": 3, "room": 4, "served": 2, "checked": 2}) {
					t.Error(fault)
				}
			})
		})
	}
}
