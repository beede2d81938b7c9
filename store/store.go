package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"muster/internal/ident"
	"muster/lua"
)

// Options say where the state is and whose calls these are.
type Options struct {
	// URL is redis://, rediss:// or unix://, with several hosts for Sentinel (?master=name) and
	// Cluster; empty is an embedded Redis that lives and dies with the Store.
	URL      string
	Realm    string
	Instance ident.Instance
	// PresenceTTL is how long a sign of life counts, Drain how much longer the players of a silent
	// instance may stay away, Recovery how long matching waits for assertions in a new epoch.
	PresenceTTL, Drain, Recovery time.Duration
	// CallTimeout bounds a call; 0 is DefaultCallTimeout.
	CallTimeout time.Duration
	// Observe, if set, is told of every script call.
	Observe func(script string, took time.Duration, err error)
	// TicketsEnded, if set, is told how many tickets a call ended without a match and without being asked, by reason.
	TicketsEnded func(reason string, tickets int)

	// within is the embedded Redis to use; nil is the one of the URL.
	within *embedded
}

// DefaultCallTimeout bounds a call. A client is promised an answer within 3 s while Redis is out of reach, and
// may have waited for the call before its own.
const DefaultCallTimeout = 1200 * time.Millisecond

// Store is one instance's access to a realm.
type Store struct {
	rdb      redis.UniversalClient
	embedded *embedded
	scripts  map[string]*lua.Script
	opts     Options
	keys     []string
	shared   *committer
	epoch    atomic.Int64
	// nowMicros steers Redis' clock in tests; 0 is Redis' own.
	nowMicros atomic.Int64

	onLostHistory  func(context.Context) error
	onNotification func(Notification) bool
	onRequeue      func(...ident.World)
	clock          redisClock
	stream         streamClient
	access         access
	connection     connection
}

// Open builds the client and assembles the scripts. It does not wait for Redis; see Prepare.
func Open(opts Options) (*Store, error) {
	if opts.CallTimeout == 0 {
		opts.CallTimeout = DefaultCallTimeout
	}
	s := &Store{opts: opts, connection: connectionOf(opts.URL), keys: []string{keyMeta(opts.Realm)}, clock: redisClock{began: time.Now()}}
	s.onLostHistory = func(context.Context) error { return ErrLostHistory }
	s.onNotification, s.onRequeue = func(Notification) bool { return true }, func(...ident.World) {}
	var err error
	if s.scripts, err = lua.Load(opts.URL == "", codeNames); err != nil {
		return nil, err
	}
	if opts.URL == "" && opts.within == nil {
		s.embedded = startEmbedded()
		s.opts.within = s.embedded
	}
	if s.opts.within == nil {
		s.access.doubt()
	}
	if s.rdb, err = s.newClient(); err != nil {
		return nil, fmt.Errorf("redis.url: %w", err)
	}
	s.shared = s.newCommitter()
	return s, s.shared.Start(context.Background()) // until Close
}

// newClient builds a client of the Redis that the options name.
func (s *Store) newClient() (redis.UniversalClient, error) {
	if e := s.opts.within; e != nil {
		return newSingleClient(&redis.Options{Addr: "embedded", Dialer: e.dial}, s.opts.CallTimeout, nil), nil
	}
	return newClient(s.opts.URL, s.opts.CallTimeout, s.access.connected)
}

// OnLostHistory sets what is done when a call meets another history than its own: it returns nil once
// the Store has the current epoch and this instance has asserted.
func (s *Store) OnLostHistory(recover func(context.Context) error) { s.onLostHistory = recover }

// OnNotification sets who is given what a call tells this instance's own sessions, and says whether it came in time. It must not
// block.
func (s *Store) OnNotification(deliver func(Notification) bool) { s.onNotification = deliver }

// OnRequeue sets who is told of worlds in which players are back at their places, as a match fell through: matches may be
// formed there. It must not block.
func (s *Store) OnRequeue(wake func(...ident.World)) { s.onRequeue = wake }

// Instance is whose calls these are.
func (s *Store) Instance() ident.Instance { return s.opts.Instance }

// Embedded tells whether the state lives in this process only.
func (s *Store) Embedded() bool { return s.embedded != nil }

// Epoch is the epoch that calls name; 0 before the first.
func (s *Store) Epoch() ident.Place { return ident.Place(s.epoch.Load()) }

// SetEpoch makes calls name an epoch; whoever sets it has asserted in it.
func (s *Store) SetEpoch(e ident.Place) { s.epoch.Store(int64(e)) }

// Close waits for the calls that are shared, ends the connections, and an embedded Redis.
func (s *Store) Close() error {
	s.shared.Stop()
	err := errors.Join(s.rdb.Close(), s.stream.close())
	if s.embedded != nil {
		s.embedded.stop()
	}
	return err
}

// call is one script call: the script's name and its arguments behind the four that all have.
type call struct {
	script string
	args   []any
	// epoch overrides the Store's, for what opens a new one and asserts in it.
	epoch ident.Place
}

// run calls one script. The status is 0 or positive; the error is of errors.go otherwise.
func (s *Store) run(ctx context.Context, name string, args ...any) (reply, error) {
	replies, err := s.runAll(ctx, call{script: name, args: args})
	if err != nil {
		return nil, err
	}
	return replies[0], replies[0].err()
}

// runAll sends calls as one pipeline. The error is one of the whole; what a script refused is its reply's.
func (s *Store) runAll(ctx context.Context, calls ...call) ([]reply, error) {
	replies, err := s.attempt(ctx, calls)
	if errors.Is(err, ErrLostHistory) {
		if err := s.onLostHistory(ctx); err != nil {
			return nil, err
		}
		replies, err = s.attempt(ctx, calls)
	}
	if err != nil {
		return nil, err
	}
	for _, r := range replies {
		if epoch, inTime := s.deliver(r); !inTime {
			if err := s.outlived(ctx, epoch); err != nil {
				return nil, fmt.Errorf("script %s: %w", calls[0].script, err)
			}
		}
	}
	return replies, nil
}

// outlived is the error of a call of an epoch whose telling came too late, nil where the epoch is the current one after all:
// the Redis of another one may be gone again before anybody entered it.
func (s *Store) outlived(ctx context.Context, epoch ident.Place) error {
	if err := s.onLostHistory(ctx); err != nil {
		return err
	}
	if s.Epoch() == epoch {
		return nil
	}
	return ErrOutlived
}

// attempt sends calls once. Those that were not carried out are sent again, and no others: those whose script Redis does not
// know, when it does, and those that were too late, where its clock has gone forward since its last reply.
func (s *Store) attempt(ctx context.Context, calls []call) ([]reply, error) {
	if err := s.permit(ctx); err != nil {
		return nil, err
	}
	replies, undone, err := s.send(ctx, calls, nil)
	if len(undone) > 0 && err == nil {
		replies, err = s.sendUndone(ctx, calls, replies, undone)
	}
	if err != nil {
		return nil, s.unavailable(calls[0].script, err)
	}
	for _, r := range replies {
		if r.status() == codeLostHistory {
			return nil, ErrLostHistory
		}
	}
	return replies, nil
}

// sendUndone sends all that are undone, those that have no reply with the text of their script, and puts their replies in
// their places.
func (s *Store) sendUndone(ctx context.Context, calls []call, replies []reply, undone []int) ([]reply, error) {
	again, unknown := make([]call, len(undone)), map[string]bool{}
	for i, at := range undone {
		again[i] = calls[at]
		if replies[at] == nil {
			unknown[calls[at].script] = true
		}
	}
	rest, still, err := s.send(ctx, again, unknown)
	if err != nil {
		return nil, err
	}
	if len(still) > 0 {
		return nil, fmt.Errorf("%w: Redis forgets scripts, or its clock runs", ErrUnavailable)
	}
	for i, at := range undone {
		replies[at] = rest[i]
	}
	return replies, nil
}

// send sends calls as one pipeline; the first call of an unknown script carries its text, so that no node but the realm's
// own has to be there. undone are those whose script Redis does not know, which have no reply, and those that came too late;
// err is the first of the others.
func (s *Store) send(ctx context.Context, calls []call, unknown map[string]bool) (replies []reply, undone []int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	start, now := time.Now(), s.nowOrLast(ctx)
	pipe := s.rdb.Pipeline()
	cmds := make([]*redis.Cmd, len(calls))
	for i, c := range calls {
		epoch := c.epoch
		if epoch == 0 {
			epoch = s.Epoch()
		}
		args := append([]any{epoch.String(), string(s.opts.Instance), now, s.opts.PresenceTTL.Milliseconds()}, c.args...)
		if script := s.scripts[c.script]; unknown[c.script] {
			cmds[i] = pipe.Eval(ctx, script.Text, s.keys, args...)
			delete(unknown, c.script)
		} else {
			cmds[i] = pipe.EvalSha(ctx, script.SHA, s.keys, args...)
		}
	}
	_, whole := pipe.Exec(ctx)
	replies = make([]reply, len(calls))
	for i, c := range calls {
		failed := cmds[i].Err()
		if failed == nil && cmds[i].Val() == nil {
			failed = whole // no call has an error of its own if the connection could not be set up
		}
		if s.opts.Observe != nil {
			s.opts.Observe(c.script, time.Since(start), failed)
		}
		if failed == nil {
			replies[i], failed = parseReply(cmds[i].Val())
		}
		switch {
		case redis.HasErrorPrefix(failed, "NOSCRIPT"):
			undone = append(undone, i)
		case failed != nil:
			err = cmp.Or(err, failed)
		case replies[i].status() == codeTooLate:
			undone = append(undone, i)
			s.clock.observe(start, replies[i].number(2))
		case replies[i].status() == statusDone:
			s.clock.observe(start, replies[i].number(2))
		}
	}
	return replies, undone, err
}

// nowOrLast is the third argument of a script: the time of a test's clock; or the time, as a number below 0, after which
// nobody waits for a call that ctx bounds, by Redis' clock; 0 before Redis has answered anything.
func (s *Store) nowOrLast(ctx context.Context) int64 {
	if now := s.nowMicros.Load(); now != 0 {
		return now
	}
	last, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return -s.clock.after(time.Until(last))
}

// refusals are the errors of a Redis that cannot serve now; anything else that it answers is a fault of ours.
var refusals = []string{"NOSCRIPT", "LOADING", "READONLY", "OOM", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "MISCONF",
	"NOREPLICAS", "TRYAGAIN", "MOVED", "ASK", "NOAUTH", "WRONGPASS", "NOPERM", "ERR max number of clients"}

// reply is a script's reply: a status, the own part of what was told, Redis' time, and what else it says.
type reply []any

func parseReply(v any) (reply, error) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("script reply %v is no list", v)
	}
	if _, ok := list[0].(int64); !ok {
		return nil, fmt.Errorf("script reply %v has no status", v)
	}
	return list, nil
}

// status is the first element, which parseReply has seen to be a number.
func (r reply) status() int64 {
	status, _ := r[0].(int64)
	return status
}

func (r reply) err() error { return errorOf(r.status()) }

// text is the i-th element as text; "" where there is none.
func (r reply) text(i int) string {
	if i >= len(r) {
		return ""
	}
	switch v := r[i].(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	default:
		return ""
	}
}

// number is the i-th element as a number; 0 where there is none.
func (r reply) number(i int) int64 {
	if i < len(r) {
		if n, ok := r[i].(int64); ok {
			return n
		}
	}
	n, err := strconv.ParseInt(r.text(i), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (r reply) place(i int) ident.Place { return ident.Place(r.number(i)) }

// list is the i-th element as a reply of its own; one without a status is empty.
func (r reply) list(i int) reply {
	if i < len(r) {
		if l, err := parseReply(r[i]); err == nil {
			return l
		}
	}
	return reply{int64(statusNothingToDo)}
}

// ScriptNames returns the names of all scripts, sorted.
func (s *Store) ScriptNames() []string { return slices.Sorted(maps.Keys(s.scripts)) }
