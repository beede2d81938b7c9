package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
)

// testMean is how long matches took lately in every world of these tests.
var testMean = store.MeanWait{Wait: 3 * time.Second}

// fakeTransport keeps what is written to it. It can stop reading, and fail.
type fakeTransport struct {
	mu sync.Mutex
	// guarded by mu
	frames  [][]byte
	events  []string
	failure error
	silent  bool // no pong
	pong    func()

	stuck   chan struct{} // a write waits until it is closed; nil: it does not
	aborted chan struct{}
	once    sync.Once
}

func newTransport() *fakeTransport { return &fakeTransport{aborted: make(chan struct{})} }

func (t *fakeTransport) Write(frames [][]byte, ping bool) (flush func() error, err error) {
	if t.stuck == nil {
		return nil, t.write(frames, ping)
	}
	return func() error {
		select {
		case <-t.stuck:
			return t.write(frames, ping)
		case <-t.aborted:
			return errors.New("aborted")
		}
	}, nil
}

func (t *fakeTransport) write(frames [][]byte, ping bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failure != nil {
		return t.failure
	}
	for _, frame := range frames {
		t.frames = append(t.frames, frame)
		t.events = append(t.events, eventOf(frame))
	}
	if ping && !t.silent && t.pong != nil {
		t.pong()
	}
	return nil
}

func (t *fakeTransport) Close(code int, _ string) { t.add(fmt.Sprintf("close %d", code)) }

func (t *fakeTransport) Abort() { t.once.Do(func() { close(t.aborted) }) }

func (t *fakeTransport) add(event string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, event)
}

func (t *fakeTransport) isAborted() bool {
	select {
	case <-t.aborted:
		return true
	default:
		return false
	}
}

// take returns what the client got since the last time.
func (t *fakeTransport) take() []string {
	synctest.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	events := t.events
	t.events = nil
	return events
}

// frame is the last frame of a type.
func (t *fakeTransport) frame(kind string) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range slices.Backward(t.frames) {
		if strings.HasPrefix(eventOf(f), kind) {
			return f
		}
	}
	return nil
}

// eventOf is a message in short: its type, and what tells it apart from others.
func eventOf(frame []byte) string {
	var m struct {
		Type, Reason string
		TicketID     string `json:"ticket_id"`
		MatchID      string `json:"match_id"`
		T            *int64
		Position     int
		Match        *struct{ ID string }
		Queued       []struct {
			TicketID string `json:"ticket_id"`
		}
	}
	if err := json.Unmarshal(frame, &m); err != nil {
		return fmt.Sprintf("%q: %v", frame, err)
	}
	words := []string{m.Type}
	add := func(word string) {
		if word != "" {
			words = append(words, word)
		}
	}
	add(m.TicketID)
	add(m.MatchID)
	add(m.Reason)
	for _, q := range m.Queued {
		add(q.TicketID)
	}
	if m.Match != nil {
		add(m.Match.ID)
	}
	if m.T != nil {
		add(fmt.Sprint(*m.T))
	}
	if m.Position != 0 {
		add(fmt.Sprint(m.Position))
	}
	return strings.Join(words, " ")
}

// fakeStore answers with the states that it was given; an idle player is the rule.
type fakeStore struct {
	mu sync.Mutex
	// guarded by mu
	asOf    ident.Place
	states  map[ident.Player]store.PlayerState
	failure error
	calls   int
	read    []ident.Player
	during  func() // run once, while a read is on its way back
}

func (f *fakeStore) States(_ context.Context, players []ident.Player) ([]store.PlayerState, error) {
	f.mu.Lock()
	f.calls++
	f.read = append(f.read, players...)
	var states []store.PlayerState
	for _, p := range players {
		st := f.states[p]
		st.Player = p
		if st.AsOf == 0 {
			st.AsOf = f.asOf
		}
		states = append(states, st)
	}
	during, err := f.during, f.failure
	f.during = nil
	f.mu.Unlock()
	if during != nil {
		during()
	}
	return states, err
}

// record is a record's text, with tickets named world.place.
func record(version ident.Place, match ident.Match, tickets ...string) string {
	var list []string
	for _, t := range tickets {
		world, place, _ := strings.Cut(t, ".")
		list = append(list, world+"="+place+",1,~k,f,,")
	}
	return fmt.Sprintf("%d|%s|%s|0|%s", version, match, "", strings.Join(list, ";"))
}

// match is a match's text.
func match(version ident.Place, players ...string) string {
	return fmt.Sprintf("complete|%d|1|duel|%d|99|red=r1|%s|", version, version, strings.Join(players, ";"))
}

// ended is the notice of a ticket's end; its id is its place.
func ended(id, ticket string) string {
	return fmt.Sprintf("%s|%s|%s|%s|%s|1", id, protocol.TypeDequeued, worldOf(ticket), ticket, protocol.ReasonExpired)
}

func notice(b *bundle, text string) store.Notice {
	b.Helper()
	n, err := store.ParseNotice(text)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

func change(player ident.Player, generation ident.Place, record, notice string) store.Change {
	return store.Change{Session: store.Session{Player: player, Generation: generation}, Record: record, Notice: notice}
}

// formed tells of a match of players, whose sessions have the generation that is their index plus ten.
func formed(number int64, id ident.Match, version ident.Place, players ...string) store.Notification {
	told := store.Notification{Number: number, Matches: map[ident.Match]string{id: match(version, players...)}}
	for i, p := range players {
		told.Changes = append(told.Changes, change(ident.Player(p), ident.Place(10+i), record(version+1+ident.Place(i), id), ""))
	}
	return told
}
