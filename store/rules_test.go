package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/internal/ident"
)

// rule is one thing that a script does, seen from the whole state to the whole state, on a realm of the
// instances a and b with the worlds trio (groups of 3), duel and apart (pairs that do not meet again); those of a match's life also check and
// server (pairs with a ready check; the second waits for a server) and room (rooms of 3).
type rule struct {
	name   string
	script string
	given  func(b *bundle)
	// do makes the call and returns what it answered.
	do func(b *bundle) string
	// want is what changed (see bundle.change), again what the same call changes the second time.
	want, again string
}

var (
	trio  = group("trio", 3)
	pairs = duel("duel", 0)
	apart = duel("apart", time.Minute)

	check2 = asked("check", false)
	server = asked("server", true)
	rooms  = room("room", 3)
)

// TestRules runs every rule on each kind of Redis.
func TestRules(t *testing.T) {
	worlds := []WorldRules{trio, pairs, apart}
	testRules(t, worlds, slices.Concat(presenceRules, leaseRules, joinRules, leaveRules, formRules, matchRules, sweepRules, worldRules, readRules))
	testRules(t, append(worlds, check2, server, rooms), slices.Concat(lifeRules, fallRules, allocationRules, seatRules, newcomerRules))
}

func testRules(t *testing.T, worlds []WorldRules, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.script+": "+r.name, func(t *testing.T) {
			onBackends(t, func(t *testing.T, be backend) {
				b := setup(t, be, 2, worlds...)
				if r.given != nil {
					r.given(b)
				}
				first := b.change(func() string { return r.do(b) })
				check(t, "changed", r.want, first)
				second := b.change(func() string { return r.do(b) })
				check(t, "changed again", r.again, second)
				checkTouched(t, r.script, first+"\n"+second)
				for _, fault := range b.view().broken(map[ident.World]int{"trio": 3, "duel": 2, "apart": 2, "check": 2, "server": 2, "room": 3}) {
					t.Error(fault)
				}
			})
		})
	}
}

// checkTouched holds what was changed against the script's header.
func checkTouched(t *testing.T, script, changed string) {
	t.Helper()
	touches := append(readHeader(t, script).touches, "meta")
	for line := range strings.SplitSeq(changed, "\n") {
		key, ok := strings.CutPrefix(line, "+ ")
		if !ok {
			if key, ok = strings.CutPrefix(line, "- "); !ok {
				continue
			}
		}
		if kind := key[:strings.IndexAny(key, ":( ")]; !slices.Contains(touches, kind) {
			t.Errorf("the header does not say that it touches %s", kind)
		}
	}
}

// check compares texts, however they are indented.
func check(t *testing.T, what, want, got string) {
	t.Helper()
	trim := func(text string) []string {
		var lines []string
		for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
			lines = append(lines, strings.TrimSpace(line))
		}
		return lines
	}
	if diff := cmp.Diff(trim(want), trim(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// said is an answer as text: its error, or what it says.
func said(v any, err error) string {
	if err != nil {
		return saidErr(err)
	}
	if o, ok := v.(Outcome); ok {
		v = o.Record + o.State // they have no other
	}
	return strings.TrimSpace(fmt.Sprintf("%+v", v))
}

func saidErr(err error) string {
	for _, known := range codeErrors {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return fmt.Sprint(err)
}

func saidStates(states []PlayerState, err error) string {
	if err != nil {
		return saidErr(err)
	}
	var parts []string
	for _, st := range states {
		part := fmt.Sprintf("%s/%d as of %d: record %q, match %q, ranks %v", st.Player, st.Generation, st.AsOf, st.Record, st.Match, st.Ranks)
		for _, n := range st.Notices {
			part += fmt.Sprintf(", notice %s %s%s %s", n.Kind, n.Ticket, n.Match, n.Reason)
		}
		if st.Err != nil {
			part = fmt.Sprintf("%s: %v", st.Player, st.Err)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// joinAs has a player join a world and says what came of it. Generation 0 is a request of no session.
func (b *bundle) joinAs(w WorldRules, joins ...Join) string {
	b.Helper()
	result, _, err := b.stores[0].JoinAndMatch(b.ctx, b.rules(w), 2, joins, "", nil)
	if err != nil {
		return saidErr(err)
	}
	return saidJoined(result)
}

func saidJoined(result JoinResult) string {
	var parts []string
	for _, j := range result.Joined {
		if j.Err != nil {
			parts = append(parts, saidErr(j.Err))
			continue
		}
		parts = append(parts, fmt.Sprintf("place %d repeated %v position %d of %d record %s", j.Place, j.Repeated, j.Position, j.Size, j.Record))
	}
	return strings.Join(parts, "; ")
}

func (b *bundle) joinOf(p ident.Player, key, fingerprint string) Join {
	return Join{Player: p, Generation: b.who[p].Generation, Key: key, Fingerprint: fingerprint}
}

// depart has players of the instance a go away.
func (b *bundle) depart(players ...ident.Player) string {
	b.Helper()
	var sessions []Session
	for _, p := range players {
		sessions = append(sessions, b.who[p])
	}
	errs, err := b.stores[0].Depart(b.ctx, testGrace, sessions)
	return said(errs, err)
}

func (b *bundle) leave(p ident.Player, worlds ...ident.World) string {
	b.Helper()
	left, err := b.stores[0].RemoveFromQueue(b.ctx, b.who[p], worlds...)
	return said(fmt.Sprintf("left %v, match %q, record %q", left.Worlds, left.Match, left.Record), err)
}

// closeWorld declares the worlds anew, with one of them closed.
func (b *bundle) closeWorld(name ident.World) {
	b.Helper()
	var worlds []DeclaredWorld
	for _, w := range []ident.World{"trio", "duel", "apart"} {
		d := DeclaredWorld{Name: w, State: "open", Hash: "h", Settings: "{}"}
		if w == name {
			d.State = "closed"
		}
		worlds = append(worlds, d)
	}
	if _, err := b.stores[0].DeclareWorlds(b.ctx, worlds); err != nil {
		b.Fatal(err)
	}
}
