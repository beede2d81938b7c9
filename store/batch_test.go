package store

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/internal/ident"
	"muster/internal/redistest"
)

// inMatches has players matched in pairs, and returns their sessions and their matches.
func (b *bundle) inMatches(w WorldRules, n int) ([]Session, []ident.Match) {
	b.Helper()
	sessions := b.arrive(0, players("p", n)...)
	var list []Join
	for _, who := range sessions {
		list = append(list, Join{Player: who.Player, Generation: who.Generation, Key: "~k"})
	}
	if _, _, err := b.stores[0].JoinAndMatch(b.ctx, b.rules(w), 8, list, "", b.candidates(n/2)); err != nil {
		b.Fatal(err)
	}
	states, err := b.stores[0].States(b.ctx, players("p", n))
	if err != nil {
		b.Fatal(err)
	}
	matches := make([]ident.Match, n)
	for i, st := range states {
		record, err := ParseRecord(st.Record)
		if err != nil || record.Match == "" {
			b.Fatalf("%s is in no match: %v", st.Player, err)
		}
		matches[i] = record.Match
	}
	return sessions, matches
}

// reads is how often Redis has read from a connection.
func (b *bundle) reads() int {
	b.Helper()
	info, err := b.rdb.Info(b.ctx, "stats").Result()
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(info, "total_reads_processed:")
	line, _, _ := strings.Cut(rest, "\r")
	n, err := strconv.Atoi(line)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

func TestManyWhoLeaveAtOnceShareTheirCalls(t *testing.T) {
	t.Parallel()
	const n = 100
	w := duel("pairs", 0)
	redis := redistest.Start(t)
	b := setup(t, only(redis), 1, w)
	sessions, matches := b.inMatches(w, n)
	redis.Pause() // so that they come while the first is on its way
	before := make(chan struct{})
	var wg sync.WaitGroup
	for i, who := range sessions {
		wg.Go(func() {
			<-before
			out, err := b.stores[0].LeaveMatch(b.ctx, who, matches[i])
			if r, parseErr := ParseRecord(out.Record); err != nil || parseErr != nil || r.Match != "" {
				t.Errorf("%s leaves %s: %q, %v", who.Player, matches[i], out.Record, err)
			}
		})
	}
	close(before)
	eventuallyWaiting(t, b.stores[0], n-sharedMax) // those before them may share the first
	redis.Resume()
	reads := b.reads()
	wg.Wait()
	if got := b.reads() - reads; got > n/4 {
		t.Errorf("Redis read %d times for %d calls", got, n)
	}
	if _, err := b.stores[0].LeaveMatch(b.ctx, sessions[0], matches[0]); !errors.Is(err, ErrNoSuchMatch) {
		t.Errorf("left again: %v", err)
	}
}

// eventuallyWaiting waits until at least so many calls wait for one that is on its way.
func eventuallyWaiting(t *testing.T, s *Store, n int) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(time.Minute); ; <-tick.C {
		waiting, _ := s.shared.Waiting()
		if waiting >= n {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("%d calls wait, want %d", waiting, n)
		}
	}
}

func TestACallThatIsGivenUpWhileItWaitsHasNoEffectAndHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	w := duel("pairs", 0)
	redis := redistest.Start(t)
	b := setup(t, only(redis), 1, w)
	sessions, matches := b.inMatches(w, 4)
	redis.Pause()
	results := make([]chan error, 3)
	contexts := []context.Context{b.ctx, nil, b.ctx}
	var giveUp context.CancelFunc
	contexts[1], giveUp = context.WithCancel(b.ctx)
	defer giveUp()
	for i := range results {
		results[i] = make(chan error, 1)
		go func() {
			_, err := b.stores[0].LeaveMatch(contexts[i], sessions[i], matches[i])
			results[i] <- err
		}()
		if i > 0 {
			eventuallyWaiting(t, b.stores[0], i)
		} else {
			eventuallySending(t, b.stores[0])
		}
	}
	giveUp()
	if err := <-results[1]; !errors.Is(err, ErrUnavailable) {
		t.Errorf("given up: %v", err)
	}
	redis.Resume()
	for _, i := range []int{0, 2} {
		if err := <-results[i]; err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if _, err := b.stores[0].LeaveMatch(b.ctx, sessions[1], matches[1]); err != nil {
		t.Errorf("the one that was given up is still in its match, and leaves it: %v", err)
	}
}

func eventuallySending(t *testing.T, s *Store) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(time.Minute); ; <-tick.C {
		if _, busy := s.shared.Waiting(); busy {
			return
		}
		if time.Now().After(limit) {
			t.Fatal("no call is on its way")
		}
	}
}

// TestAScriptThatHasLookedAtEnoughLeavesTheRest: fifty who leave fifty matches of a hundred are more than one script may
// look at; all leave all the same.
func TestAScriptThatHasLookedAtEnoughLeavesTheRest(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		const matches, size = 6, 90
		w := group("crowd", size)
		b := setup(t, be, 1, w)
		var batch []question
		for i := range matches {
			sessions := b.waiting(0, w, players(string(rune('a'+i)), size)...)
			b.form(0, w, 1)
			batch = append(batch, question{script: "leave_match", who: sessions[0], match: ident.Match("m" + strconv.Itoa(i+1))})
		}
		if n, err := b.stores[0].askTogether(b.ctx, batch, make([]answer, matches)); err != nil || n != 3 {
			t.Fatalf("%d were done at first, %v", n, err)
		}
		for i, a := range b.stores[0].askAll(b.ctx, batch[3:]) {
			if a.err != nil {
				t.Errorf("%s: %v", batch[3+i].who.Player, a.err)
			}
		}
	})
}

// TestWhatWasDoneIsNotAskedAgainAsAnotherScriptIsUnknown has those who ack and those who leave share a pipeline of which Redis
// knows one script only.
func TestWhatWasDoneIsNotAskedAgainAsAnotherScriptIsUnknown(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w := duel("pairs", 0)
		b := setup(t, be, 1, w)
		sessions, matches := b.inMatches(w, 2)
		if err := b.rdb.ScriptFlush(b.ctx).Err(); err != nil {
			t.Fatal(err)
		}
		if err := b.rdb.ScriptLoad(b.ctx, b.stores[0].scripts["leave_match"].Text).Err(); err != nil {
			t.Fatal(err)
		}
		answers := b.stores[0].askAll(b.ctx, []question{
			{script: "leave_match", who: sessions[0], match: matches[0]},
			{script: "ack_match", who: sessions[1], match: matches[1]},
		})
		for i, a := range answers {
			if a.err != nil {
				t.Errorf("answer %d: %v", i, a.err)
			}
		}
	})
}
