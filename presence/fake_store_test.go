package presence

import (
	"context"
	"sync"
	"time"

	"muster/internal/ident"
	"muster/store"
)

// fakeStore is a Redis that does as a test says; without a word it takes everything.
type fakeStore struct {
	*journal
	roundTrip time.Duration // of an arrival and a departure

	mu sync.Mutex
	// guarded by mu
	epoch  ident.Place
	last   ident.Place
	lease  store.Lease
	errors map[string]error // by call
}

func newStore(j *journal) *fakeStore {
	return &fakeStore{journal: j, epoch: 1, last: 1000, errors: map[string]error{}}
}

func (f *fakeStore) fail(call string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errors[call] = err
}

func (f *fakeStore) setLease(l store.Lease) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lease = l
}

// called notes a call and returns what it comes to.
func (f *fakeStore) called(call, about string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.errors[call]; err != nil {
		f.add("%s failed %s", call, about)
		return err
	}
	f.add("%s %s", call, about)
	return nil
}

func (f *fakeStore) travel() {
	if f.roundTrip > 0 {
		<-time.After(f.roundTrip)
	}
}

func (f *fakeStore) Epoch() ident.Place {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.epoch
}

func (f *fakeStore) SetEpoch(e ident.Place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.epoch = e
}

func (f *fakeStore) OpenEpoch(_ context.Context, floor ident.Place) (store.Epoch, error) {
	return store.Epoch{Number: f.Epoch()}, f.called("openEpoch", floor.String())
}

func (f *fakeStore) AssertState(_ context.Context, _ ident.Place, a []store.Assertion) ([]store.Asserted, error) {
	return make([]store.Asserted, len(a)), f.called("assertState", "")
}

func (f *fakeStore) RenewLease(context.Context) (store.Lease, error) {
	err := f.called("renewLease", "")
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lease, err
}

func (f *fakeStore) EndLease(context.Context) error { return f.called("endLease", "") }

func (f *fakeStore) Arrive(_ context.Context, sessions []store.Session) ([]store.PlayerState, error) {
	err := f.called("arrive", names(sessions))
	f.travel()
	states := make([]store.PlayerState, len(sessions))
	for i, s := range sessions {
		states[i] = store.PlayerState{Player: s.Player, Generation: s.Generation}
		if s.Generation == 0 {
			f.mu.Lock()
			f.last++
			states[i].Generation = f.last
			f.mu.Unlock()
		}
	}
	return states, err
}

func (f *fakeStore) ArriveOver(ctx context.Context, arrivals []store.Arrival) ([]store.PlayerState, error) {
	return f.Arrive(ctx, sessionsOf(arrivals))
}

func sessionsOf(arrivals []store.Arrival) []store.Session {
	sessions := make([]store.Session, len(arrivals))
	for i, a := range arrivals {
		sessions[i] = a.Session
	}
	return sessions
}

func (f *fakeStore) Refresh(_ context.Context, sessions []store.Session) ([]error, error) {
	return make([]error, len(sessions)), f.called("refresh", names(sessions))
}

func (f *fakeStore) Depart(_ context.Context, grace time.Duration, sessions []store.Session) ([]error, error) {
	f.travel()
	return make([]error, len(sessions)), f.called("depart", names(sessions)+" "+grace.String())
}
