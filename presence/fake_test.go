package presence

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/ident"
	"muster/store"
)

const (
	testHeartbeat = 10 * time.Second
	testTTL       = 25 * time.Second
	testGrace     = 30 * time.Second
)

// journal is what happened, in order.
type journal struct {
	mu sync.Mutex
	// guarded by mu
	entries []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, fmt.Sprintf(format, args...))
}

// of are the entries that begin with one of the words.
func (j *journal) of(words ...string) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []string
	for _, e := range j.entries {
		word, _, _ := strings.Cut(e, " ")
		if slices.Contains(words, word) {
			list = append(list, e)
		}
	}
	return list
}

func (j *journal) count(words ...string) int { return len(j.of(words...)) }

// names are the players of sessions.
func names(sessions []store.Session) string {
	var list []string
	for _, s := range sessions {
		list = append(list, string(s.Player))
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

// fakeSessions is what a hub is to a Keeper.
type fakeSessions struct {
	*journal

	mu sync.Mutex
	// guarded by mu
	here   map[store.Session]store.Assertion
	behind bool
	beats  int

	heartbeat time.Duration
}

func newSessions(j *journal, heartbeat time.Duration) *fakeSessions {
	return &fakeSessions{journal: j, here: map[store.Session]store.Assertion{}, heartbeat: heartbeat}
}

func (f *fakeSessions) enter(st store.PlayerState) store.Session {
	session := store.Session{Player: st.Player, Generation: st.Generation}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.here[session] = store.Assertion{Session: session, AsOf: st.AsOf, Record: st.Record, Match: st.Match}
	return session
}

func (f *fakeSessions) leave(session store.Session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.here, session)
}

func (f *fakeSessions) setBehind(behind bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.behind = behind
}

// testBeats are the beats of a heartbeat.
const testBeats = 50

func (f *fakeSessions) BeatInterval() time.Duration { return f.heartbeat / testBeats }

// Beat has each session heard once a heartbeat, evenly spread by generation.
func (f *fakeSessions) Beat() []store.Session {
	f.add("beat")
	f.mu.Lock()
	beat := f.beats % testBeats
	f.beats++
	f.mu.Unlock()
	return slices.DeleteFunc(f.Sessions(), func(s store.Session) bool { return int(s.Generation)%testBeats != beat })
}

func (f *fakeSessions) Departed([]store.Session) {}

func (f *fakeSessions) Sessions() []store.Session {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Keys(f.here))
}

func (f *fakeSessions) Assertions() []store.Assertion {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.SortedFunc(maps.Values(f.here), func(a, b store.Assertion) int { return strings.Compare(string(a.Player), string(b.Player)) })
}

// forget has a session know of its player what it knew before anything happened.
func (f *fakeSessions) forget(session store.Session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.here[session] = store.Assertion{Session: session}
}

// play has sessions of players in complete matches of one size.
func (f *fakeSessions) play(matches, size int) {
	at := time.Now().Add(-time.Minute)
	ends := at.Add(time.Hour).UnixMilli()
	for m := range matches {
		players := make([]string, size)
		for i := range players {
			players[i] = fmt.Sprintf("q%d-%d", m, i)
		}
		text := fmt.Sprintf("complete|%d|1|duel|%d|%d|play=r|%s|", at.UnixMicro(), at.UnixMicro(), ends, strings.Join(players, ";"))
		for _, p := range players {
			f.enter(store.PlayerState{
				Player: ident.Player(p), Generation: ident.Place(at.UnixMicro()), AsOf: ident.Place(at.UnixMicro()),
				Record: fmt.Sprintf("%d|m%d|%d||", at.UnixMicro(), m, ends), Match: text,
			})
		}
	}
}

func (f *fakeSessions) Has(session store.Session) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.here[session]
	return ok
}

func (f *fakeSessions) Apply(states []store.PlayerState) {
	for _, st := range states {
		if st.Err == nil {
			f.add("apply %s", st.Player)
		}
	}
}

// Replaced ends those that are older, as a hub does.
func (f *fakeSessions) Replaced(newer store.Session) {
	for _, s := range f.Sessions() {
		if s.Player == newer.Player && s.Generation < newer.Generation {
			f.add("replaced %s", s.Player)
			f.leave(s)
		}
	}
}

func (f *fakeSessions) MarkStale(sessions []store.Session) {
	if len(sessions) > 0 {
		f.add("doubt %s", names(sessions))
	}
}

func (f *fakeSessions) ResyncStale(context.Context) error { f.add("heal"); return nil }

func (f *fakeSessions) ResyncAll(_ context.Context, published int64) error {
	f.add("look %d", published)
	f.setBehind(false)
	return nil
}

func (f *fakeSessions) Behind(int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.behind
}

func (f *fakeSessions) RestartNumbers(_ ident.Place, published int64) { f.add("restart %d", published) }

func (f *fakeSessions) BeginEpoch(ident.Place) { f.add("begin") }

// fakeWorlds notes who is poked, and declares in a store if it has one.
type fakeWorlds struct {
	*journal
	declare func(ctx context.Context, epoch ident.Place) error
}

func (f *fakeWorlds) Declare(ctx context.Context, epoch ident.Place) error {
	f.add("declare")
	if f.declare == nil {
		return nil
	}
	return f.declare(ctx, epoch)
}

func (f *fakeWorlds) Adopt(context.Context, ident.Place) error { return nil }

func (f *fakeWorlds) Wake(worlds ...ident.World) { f.add("poke %v", worlds) }

// fakeBundle is a Keeper between fakes.
type fakeBundle struct {
	*testing.T
	*journal
	keeper   *Keeper
	store    *fakeStore
	sessions *fakeSessions
	log      *bytes.Buffer
}

func newFake(t *testing.T) *fakeBundle {
	j := &journal{}
	b := &fakeBundle{T: t, journal: j, store: newStore(j), sessions: newSessions(j, testHeartbeat), log: &bytes.Buffer{}}
	b.keeper = New(Options{
		Store: b.store, Sessions: b.sessions, Worlds: &fakeWorlds{journal: j},
		Log: zerolog.New(zerolog.SyncWriter(b.log)).Level(zerolog.InfoLevel), Heartbeat: testHeartbeat, Grace: testGrace,
	})
	return b
}

// start starts the keeper and lets a moment pass, so that nothing that a test does falls together with a tick.
func (b *fakeBundle) start() {
	b.Helper()
	if err := b.keeper.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	pass(renewInterval / 100)
}

// want fails the test unless what is of the words in the journal is this.
func (b *fakeBundle) want(words string, want ...string) {
	b.Helper()
	if got := b.of(strings.Fields(words)...); !slices.Equal(got, want) {
		b.Errorf("of %s happened\n  %q, want\n  %q", words, got, want)
	}
}
