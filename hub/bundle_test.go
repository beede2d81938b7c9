package hub

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"muster/internal/ident"
	"muster/store"
)

// bundle is a hub with what surrounds it. Everything happens in a synctest bubble.
type bundle struct {
	*testing.T
	hub     *Hub
	store   *fakeStore
	dropped int
	doubted int
}

// inBubble runs a test in a bubble.
func inBubble(t *testing.T, test func(b *bundle)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &bundle{T: t, store: &fakeStore{states: map[ident.Player]store.PlayerState{}, asOf: 1000}}
		b.hub = New(Options{
			Store: b.store, Heartbeat: heartbeat, TTL: presenceTTL,
			Facts:   func(ident.World) WorldFacts { return WorldFacts{Size: 2, MeanWait: testMean} },
			Dropped: func() { b.dropped++ },
			Doubted: func() { b.doubted++ },
		})
		test(b)
	})
}

// pass lets the bubble's time pass.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the bubble's time
	synctest.Wait()
}

// arrive connects a player, which arrives at once with a state.
func (b *bundle) arrive(player ident.Player, generation ident.Place, st store.PlayerState) (*Session, *fakeTransport) {
	b.Helper()
	t := newTransport()
	s := b.hub.Connect(t)
	t.pong = s.Heard
	b.hub.Enter(s, player)
	b.arrived(s, generation, st)
	return s, t
}

func (b *bundle) arrived(s *Session, generation ident.Place, st store.PlayerState) {
	st.Player, st.Generation = s.Player(), generation
	if st.AsOf == 0 {
		st.AsOf = generation
	}
	s.Submit(func() {
		s.Arrived(b.hub.currentEpoch(), st)
		s.Finish()
	})
	synctest.Wait()
}

// request begins a request that is in flight until the function that is returned is called.
func (b *bundle) request(s *Session, reply func()) (finish func()) {
	begun := false
	s.Submit(func() { begun = true })
	return func() {
		if !begun {
			b.Error("a request is to be finished that has not begun")
		}
		reply()
		s.Finish()
		synctest.Wait()
	}
}

// sees fails the test unless a client got just these messages since the last time.
func (b *bundle) sees(t *fakeTransport, want ...string) {
	b.Helper()
	if got := t.take(); !slices.Equal(got, want) {
		b.Errorf("the client got\n  %q, want\n  %q", got, want)
	}
}

// heal reads whatever is in doubt.
func (b *bundle) heal() {
	b.Helper()
	if err := b.hub.ResyncStale(b.Context()); err != nil {
		b.Errorf("heal: %v", err)
	}
}

func (b *bundle) lookAgain(published int64) {
	b.Helper()
	if err := b.hub.ResyncAll(b.Context(), published); err != nil {
		b.Errorf("look again: %v", err)
	}
}
