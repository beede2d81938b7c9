package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"muster/internal/ident"
)

// The faults that published designs of this kind have (and this one once had), each as what holds instead.

func TestOpponentSearchTakesTheCallerToo(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w := duel("duel", 0)
		b := setup(t, be, 1, w)
		b.waiting(0, w, "x", "y")
		if f := b.form(0, w, 1); f.Matches != 1 {
			t.Fatalf("formed %+v", f)
		}
		b.waiting(0, w, "z")
		if f := b.form(0, w, 1); f.Matches != 0 {
			t.Errorf("a third player was matched with one who has a match: %+v", f)
		}
		want := map[ident.Player]ident.Match{"x": "m1", "y": "m1", "z": ""}
		got := map[ident.Player]ident.Match{}
		for p, r := range b.view().records {
			got[p] = r.Match
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// replies is a hook that sees what each script answers.
type replies struct{ seen func(sha string, reply any) }

func (h replies) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (h replies) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (h replies) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			if c, ok := cmd.(*redis.Cmd); ok && cmd.Err() == nil {
				h.seen(shaOf(cmd), c.Val())
			}
		}
		return err
	}
}

// shaOf returns the SHA-1 of the script that a command calls, "" for another command.
func shaOf(cmd redis.Cmder) string {
	switch cmd.Name() {
	case "evalsha":
		return fmt.Sprint(cmd.Args()[1])
	case "eval":
		return redis.NewScript(fmt.Sprint(cmd.Args()[1])).Hash()
	}
	return ""
}

// TestReplies holds every script to an array of arrays, texts and integers: Redis drops text keys without
// a word, cuts an array at a nil, and truncates a fraction.
func TestReplies(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w, d := group("trio", 3), duel("duel", time.Minute)
		b := newRealm(t, be, 1)
		s, called := b.stores[0], map[string]int{}
		names := map[string]string{}
		for name, script := range s.scripts {
			names[script.SHA] = name
		}
		s.rdb.AddHook(replies{func(sha string, reply any) {
			name := names[sha]
			called[name] = max(called[name], len(reply.([]any)))
			checkReply(t, name, reply)
		}})
		b.openEpoch()
		b.step(2 * testRecovery)
		b.renew()
		b.declare(w, d)
		callAll(b, w, d)
		for name := range s.scripts {
			if called[name] < 3 {
				t.Errorf("%s answered with at most %d elements", name, called[name])
			}
		}
	})
}

func checkReply(t *testing.T, name string, reply any) {
	t.Helper()
	switch v := reply.(type) {
	case int64, string:
	case []any:
		if len(v) == 0 {
			t.Errorf("%s answers with an empty list", name)
		}
		for _, element := range v {
			checkReply(t, name, element)
		}
	default:
		t.Errorf("%s answers with a %T", name, v)
	}
}

// callAll calls every script so that it does its work.
func callAll(b *bundle, w, d WorldRules) {
	b.Helper()
	s := b.stores[0]
	sessions := b.waiting(0, w, "x", "y", "z")
	b.form(0, w, 1)
	b.waiting(0, d, "u", "v")
	b.form(0, d, 1)
	later := b.waiting(0, d, "n", "o")
	b.declare(w, d, server, rooms)
	b.waiting(0, server, "s", "t", "q", "r")
	b.form(0, server, 2)
	b.waiting(0, rooms, "g")
	b.form(0, rooms, 1)
	for _, p := range []ident.Player{"s", "t"} {
		if _, err := s.AcceptMatch(b.ctx, b.who[p], "m3"); err != nil {
			b.Fatal(err)
		}
	}
	claimed, err := s.ClaimAllocations(b.ctx, 9, time.Second)
	if err != nil || len(claimed) != 1 {
		b.Fatalf("claimed %v, %v", claimed, err)
	}
	if err := s.ShowMatches(b.ctx, []Shown{{Player: "q", Match: "m4"}}); err != nil {
		b.Fatal(err)
	}
	for name, err := range map[string]error{
		"ack":          second(s.AckMatch(b.ctx, sessions[0], "m1")),
		"leave":        second(s.LeaveMatch(b.ctx, sessions[0], "m1")),
		"read":         second(s.ReadMatch(b.ctx, "m1")),
		"end":          s.EndMatch(b.ctx, "m1", Ended),
		"heartbeat":    second(s.Heartbeat(b.ctx, "h")),
		"queue_status": second(s.Positions(b.ctx, "duel", 5, []ident.Player{"n", "x"})),
		"states":       second(s.States(b.ctx, []ident.Player{"n", "u"})),
		"refresh":      second(s.Refresh(b.ctx, sessions)),
		"depart":       second(s.Depart(b.ctx, testGrace, later[:1])),
		"remove":       second(s.RemoveFromQueue(b.ctx, later[1])),
		"sweep":        second(s.Sweep(b.ctx, time.Second, []WorldRules{w, d})),
		"assert":       second(s.AssertState(b.ctx, s.Epoch(), []Assertion{{Session: later[1]}})),
		"decline":      second(s.DeclineMatch(b.ctx, b.who["q"], "m4")),
		"allocate":     s.CompleteAllocation(b.ctx, "m3", 1, []byte("1")),
		"tidy":         s.TidyStream(b.ctx),
		"seats":        second(s.OpenSeats(b.ctx, "m5", 1, nil)),
		"keep":         b.reader(s, "g", time.Hour).Begin(b.ctx, true),
		"bury":         b.reader(s, "g", time.Hour).Bury(b.ctx, StreamEntry{ID: "1-1"}, "no good"),
		"restore":      second(s.RestoreMatches(b.ctx, []ArchivedMatch{{"m9", "complete|1|0|duel|1|1|play=r|x;y|"}})),
		"end lease":    s.EndLease(b.ctx),
	} {
		if err != nil {
			b.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestGhostsAreNotMatched(t *testing.T) {
	for name, vanish := range map[string]func(b *bundle, ghost Session){
		"away": func(b *bundle, ghost Session) {
			if _, err := b.stores[1].Depart(b.ctx, testGrace, []Session{ghost}); err != nil {
				b.Fatal(err)
			}
		},
		"its instance is dead": func(b *bundle, _ Session) {
			b.step(4 * time.Second)
			if _, err := b.stores[0].RenewLease(b.ctx); err != nil {
				b.Fatal(err)
			}
		},
		"its instance stopped": func(b *bundle, _ Session) {
			if err := b.stores[1].EndLease(b.ctx); err != nil {
				b.Fatal(err)
			}
		},
		"its presence has ended": func(b *bundle, ghost Session) {
			b.rdb.Del(b.ctx, b.key("pr", string(ghost.Player)))
		},
		"its instance has not spoken in the new epoch": func(b *bundle, _ Session) {
			b.newEpoch()
			b.step(2 * testRecovery)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBackends(t, func(t *testing.T, be backend) {
				w := duel("duel", 0)
				b := setup(t, be, 2, w)
				ghost := b.waiting(1, w, "ghost")[0]
				vanish(b, ghost)
				b.waiting(0, w, "x", "y")
				if f := b.form(0, w, 2); f.Matches != 1 {
					t.Errorf("formed %+v, want the match of x and y", f)
				}
				if m := b.view().matches["m1"]; !slices.Equal(m.Players, []ident.Player{"x", "y"}) {
					t.Errorf("match of %v", m.Players)
				}
				if r := b.view().records["ghost"]; len(r.Waiting()) != 1 {
					t.Errorf("the ghost has lost its place: %+v", r)
				}
				b.arrive(1, "ghost")
				if place := b.view().queues["duel"]["ghost"]; place != b.view().records["ghost"].Tickets[0].Place {
					t.Errorf("back at %d, not at its place", place)
				}
			})
		})
	}
}

// TestKeysThatEnd: what a queue holds does not end by a key's time, which would throw out everybody at once;
// what a crash may leave behind does.
func TestKeysThatEnd(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w, d := group("trio", 3), duel("duel", time.Minute)
		b := setup(t, be, 1, w, d)
		callAll(b, w, d)
		b.waiting(0, w, "x")
		for _, key := range b.keys() {
			kind, _, _ := strings.Cut(strings.TrimPrefix(key, b.key("")), ":")
			left, err := b.rdb.PTTL(b.ctx, key).Result()
			if err != nil {
				t.Fatal(err)
			}
			if ends := slices.Contains([]string{"pr", "no", "rc", "dc", "mr", "af"}, kind); ends != (left > 0) {
				t.Errorf("%s ends in %v", key, left)
			}
		}
	})
}

// TestCloggedHead puts 500 players who are not there at a queue's head.
func TestCloggedHead(t *testing.T) {
	for _, w := range []WorldRules{group("queue", 3), duel("queue", 0), duel("queue", time.Hour)} {
		t.Run(fmt.Sprintf("pairs %v, cooldown %v", w.Pairs, w.RematchCooldown), func(t *testing.T) {
			onBackends(t, func(t *testing.T, be backend) {
				b := setup(t, be, 2, w)
				clog(b, w)
				b.waiting(0, w, players("live", w.Size)...)
				calls, formed := 0, Formed{More: true}
				for ; formed.More && formed.Matches == 0 && calls < 10; calls++ {
					formed = b.formWith(0, w, formed.After, b.candidates(25))
				}
				if formed.Matches != 1 || calls > 6 {
					t.Errorf("formed %+v after %d calls", formed, calls)
				}
				if left := len(b.view().queues[w.Name]); left != 0 {
					t.Errorf("%d still in the way", left)
				}
			})
		})
	}
}

// clog has 500 players wait and vanish, each hundred in another way.
func clog(b *bundle, w WorldRules) {
	b.Helper()
	for i := range 5 {
		sessions := b.waiting(1, w, players(fmt.Sprintf("stale%d-", i), 100)...)
		b.pipelined(func(pipe redis.Pipeliner) {
			for _, who := range sessions {
				key, p := b.key("pr", string(who.Player)), who.Player
				switch i {
				case 0: // dead: their instance has no lease from below on
				case 1:
					pipe.Del(b.ctx, key)
				case 2: // away, with a queue entry that somebody forgot
					pipe.Set(b.ctx, key, "A|"+b.stores[1].Epoch().String()+"|b|"+who.Generation.String(), testGrace)
				case 3: // of an epoch that is over
					pipe.Set(b.ctx, key, "L|1|a|"+who.Generation.String(), testPresenceTTL)
				case 4: // an entry that no record knows
					pipe.HDel(b.ctx, b.key("pl"), string(p))
				}
			}
		})
	}
	b.step(4 * time.Second)
	if _, err := b.stores[0].RenewLease(b.ctx); err != nil {
		b.Fatal(err)
	}
}

func TestRetriedCallFormsNothingTwice(t *testing.T) {
	for _, w := range []WorldRules{group("queue", 2), duel("queue", 0)} {
		t.Run(fmt.Sprintf("pairs %v", w.Pairs), func(t *testing.T) {
			onBackends(t, func(t *testing.T, be backend) {
				b := setup(t, be, 1, w)
				b.waiting(0, w, "p", "q", "r", "s")
				ids := b.candidates(1)
				if f := b.formWith(0, w, "", ids); f.Matches != 1 {
					t.Fatalf("formed %+v", f)
				}
				f := b.formWith(0, w, "", ids)
				if f.Matches != 0 || !f.More || f.After != "" {
					t.Errorf("the same ids again: %+v, want nothing, and more with other ids from the head on", f)
				}
				if m := b.view().matches["m1"]; !slices.Equal(m.Players, []ident.Player{"p", "q"}) {
					t.Errorf("match of %v", m.Players)
				}
			})
		})
	}
}

func TestNobodyIsEvictedForTheTimeThatRedisWasAway(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		w := group("trio", 3)
		b := setup(t, be, 2, w)
		b.waiting(0, w, "m", "n", "o")
		b.form(0, w, 1)
		x := b.waiting(0, w, "x")
		away := b.waiting(0, w, "away")
		b.waiting(1, w, "lost")
		if _, err := b.stores[0].Depart(b.ctx, testGrace, away); err != nil {
			t.Fatal(err)
		}
		b.step(3 * time.Hour) // all presences, leases, deadlines and the ticket's life have passed
		s := b.stores[0]
		for name, swept := range map[string]Swept{"first": b.sweep(w), "second": b.sweep(w)} {
			if swept.Gone+swept.TicketsExpired+swept.MatchesExpired+swept.Parked > 0 {
				t.Errorf("%s sweep: %+v", name, swept)
			}
		}
		if f := b.form(0, w, 1); f.Matches != 0 {
			t.Errorf("formed %+v of players who are not live", f)
		}
		if err := s.EndMatch(b.ctx, "m1", Expired); err == nil {
			t.Error("the match expired by the time that Redis was away")
		}
		if lease, err := s.RenewLease(b.ctx); err != nil || !lease.Lapsed {
			t.Fatalf("lease %+v, %v", lease, err)
		}
		states, err := s.Arrive(b.ctx, x)
		if err != nil || states[0].Err != nil || states[0].Ranks["trio"].Position != 1 {
			t.Errorf("x is back: %+v, %v", states, err)
		}
		b.pass(testPresenceTTL - time.Second)
		if r := b.view().records["lost"]; len(r.Waiting()) != 1 {
			t.Errorf("evicted while calm: %+v", r)
		}
		b.pass(2 * time.Second) // silent ones are parked, the calm is over
		for range 3 {
			if _, err := s.Refresh(b.ctx, x); err != nil {
				t.Fatal(err)
			}
			b.pass(testPresenceTTL - time.Second)
		}
		for p, waits := range map[ident.Player]int{"x": 1, "away": 0, "lost": 0} {
			if r := b.view().records[p]; len(r.Waiting()) != waits {
				t.Errorf("afterwards %s waits %d times, want %d", p, len(r.Waiting()), waits)
			}
		}
	})
}
