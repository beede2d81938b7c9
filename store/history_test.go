package store

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"muster/internal/ident"
	"muster/internal/redistest"
)

// calls is a hook that keeps the arguments of each script's last call.
type calls struct{ args map[string][]any }

func (h calls) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook answers the check of rights, so that calls get as far as to be sent.
func (h calls) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if eval, ok := cmd.(*redis.Cmd); ok && cmd.Name() == "eval" {
			eval.SetVal([]any{})
			return nil
		}
		return next(ctx, cmd)
	}
}

func (h calls) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			if cmd.Name() == "evalsha" {
				h.args[cmd.Args()[1].(string)] = cmd.Args()
			}
		}
		return next(ctx, cmds)
	}
}

// inAnyEpoch are the scripts that do not compare the epoch, with the reason.
var inAnyEpoch = map[string]string{
	"open_epoch":  "it opens the next one",
	"tidy_groups": "the stream outlives an epoch",
	"bury_entry":  "the stream outlives an epoch",
}

// TestLostHistoryIsRefused calls every script on another history than the one it believes in.
func TestLostHistoryIsRefused(t *testing.T) {
	for name, lose := range map[string]func(b *bundle){
		"emptied":         (*bundle).lose,
		"another history": func(b *bundle) { b.rdb.HSet(b.ctx, b.key("meta"), "history", "other") },
		"a later epoch":   func(b *bundle) { b.rdb.HSet(b.ctx, b.key("meta"), "epoch", "9") },
	} {
		t.Run(name, func(t *testing.T) {
			onBackends(t, func(t *testing.T, be backend) {
				w, d := group("trio", 3), duel("duel", time.Minute)
				b := setup(t, be, 1, w, d)
				hook := calls{map[string][]any{}}
				b.rdb.AddHook(hook)
				b.declare(w, d)
				b.renew()
				callAll(b, w, d)
				lose(b)
				before, called := b.dump(), maps.Clone(hook.args)
				for name, script := range b.stores[0].scripts {
					if inAnyEpoch[name] != "" {
						continue
					}
					reply, err := b.rdb.Do(b.ctx, called[script.SHA]...).Slice()
					if err != nil || reply[0] != int64(codeLostHistory) {
						t.Errorf("%s: %v, %v", name, reply, err)
					}
				}
				if diff := cmp.Diff(before, b.dump()); diff != "" {
					t.Errorf("written before it was refused:\n%s", diff)
				}
			})
		})
	}
}

func TestOneOfManyOpensTheEpoch(t *testing.T) {
	onBackends(t, func(t *testing.T, be backend) {
		b := newRealm(t, be, 8)
		open := func(floor ident.Place) ident.Place {
			var wg sync.WaitGroup
			epochs := make([]Epoch, len(b.stores))
			for i, s := range b.stores {
				wg.Go(func() {
					var err error
					if epochs[i], err = s.OpenEpoch(b.ctx, floor); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if got := slices.Compact(epochs); len(got) != 1 {
				t.Errorf("epochs %v", got)
			}
			return epochs[0].Number
		}
		first := open(0)
		if again := open(0); again != first {
			t.Errorf("epoch %d became %d with its history unbroken", first, again)
		}
		b.lose()
		b.set(b.now - time.Hour.Microseconds()) // by a clock behind the places that were given out
		next := open(first + 1000)
		if next != first+1001 {
			t.Errorf("epoch %d after places up to %d", next, first+1000)
		}
		for _, s := range b.stores {
			s.SetEpoch(next)
		}
		b.lose()
		if last := open(0); last != next+1 {
			t.Errorf("epoch %d after %d", last, next)
		}
	})
}

// TestRestartIsANewHistory restarts a Redis that kept its data: it may have lost its last writes all the same.
func TestRestartIsANewHistory(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.AppendOnly())
	w := duel("duel", 0)
	b := setup(t, only(server), 1, w)
	x := b.waiting(0, w, "x")
	before := b.stores[0].Epoch()
	server.Restart()
	// A connection of the pool may have to find out first that its server has gone.
	for range 10 {
		if b.rdb.Ping(b.ctx).Err() == nil {
			break
		}
	}
	_, err := b.stores[0].Refresh(b.ctx, x)
	b.wantErr("refresh", err, ErrLostHistory)
	if e := b.openEpoch(); e.Number <= before || e.MatchingOpensAt != b.now/1000+testRecovery.Milliseconds() {
		t.Errorf("epoch %+v after %d", e, before)
	}
	b.waiting(0, w, "y")
	f := b.form(0, w, 1)
	if f.Matches != 0 || f.OpensIn <= 0 {
		t.Errorf("formed %+v before instances could assert", f)
	}
	b.step(f.OpensIn)
	if f = b.form(0, w, 1); f.Matches != 0 {
		t.Errorf("formed %+v with x, whose instance has not asserted", f)
	}
	if _, err := b.stores[0].Arrive(b.ctx, x); err != nil {
		t.Fatal(err)
	}
	b.renew()
	if f = b.form(0, w, 1); f.Matches != 1 {
		t.Errorf("formed %+v", f)
	}
}

// TestOldSnapshot brings Redis back to what it was a while ago: what happened since is asserted, and stands.
func TestOldSnapshot(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Args("--dbfilename", "dump.rdb"))
	l := &loss{bundle: setup(t, only(server), 2, duel("duel", 0), group("trio", 3)), w: duel("duel", 0), known: map[ident.Player]Assertion{}}
	stays, leaves := l.waiting(0, group("trio", 3), "stays"), l.waiting(0, group("trio", 3), "leaves")
	x := l.waiting(0, l.w, "x")
	y := l.waiting(1, l.w, "y")
	l.waiting(1, group("trio", 3), "unheard") // its session ends, and nobody asserts it
	if err := l.rdb.Save(l.ctx).Err(); err != nil {
		t.Fatal(err)
	}
	l.form(0, l.w, 1)
	if _, err := l.stores[0].RemoveFromQueue(l.ctx, leaves[0]); err != nil {
		t.Fatal(err)
	}
	late := l.waiting(1, group("trio", 3), "late")
	l.learn(slices.Concat(stays, leaves, x, y, late)...)
	server.Kill()
	server.Restart()
	for range 10 {
		if l.rdb.Ping(l.ctx).Err() == nil {
			break
		}
	}
	l.step(time.Second)
	l.open()
	l.want(map[ident.Player]string{"x": "duel", "y": "duel", "leaves": "trio", "late": ""})
	l.assert(0, "stays", "leaves", "x")
	l.assert(1, "y", "late")
	l.want(map[ident.Player]string{"stays": "trio", "leaves": "", "x": "m1", "y": "m1", "late": "trio", "unheard": "trio"})
	l.step(2 * testRecovery)
	l.renew()
	if f := l.form(0, l.w, 1); f.Matches != 0 {
		t.Errorf("formed %+v out of players who are in a match", f)
	}
	for _, fault := range l.view().broken(map[ident.World]int{"duel": 2, "trio": 3}) {
		t.Error(fault)
	}
}
