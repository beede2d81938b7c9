package hub

import (
	"context"
	"fmt"
	"slices"

	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
)

// lookBatch is how many states one call reads.
const lookBatch = 100

// Behind tells whether something that this instance was told, up to a number, has not arrived.
func (h *Hub) Behind(published int64) bool { return h.numbers.behind(published) }

// RestartNumbers follows the numbers of a lease that began anew.
func (h *Hub) RestartNumbers(epoch ident.Place, published int64) { h.numbers.restart(epoch, published) }

// ResyncAll reads the states of all sessions, and brings to them what they lack. Idle ones are among them: what
// was missed may be a ticket, or a session that took over. published is up to which number that makes up for
// what was not received.
func (h *Hub) ResyncAll(ctx context.Context, published int64) error {
	life := h.numbers.life()
	if err := h.look(ctx, h.all(), sure); err != nil {
		return err
	}
	h.numbers.madeUp(life, published)
	return nil
}

// ResyncStale reads the states of the sessions that are in doubt, as they do not know what became of a request, and
// brings to them what they lack.
func (h *Hub) ResyncStale(ctx context.Context) error {
	return h.look(ctx, h.doubted.take(), behind)
}

// asked is a session whose state is being read, with the doubt that this is to end. What comes up meanwhile is
// a new one.
type asked struct {
	session *Session
	player  ident.Player
	doubt   doubt
}

// look reads the states of those of the sessions that are at least so much in doubt.
func (h *Hub) look(ctx context.Context, sessions []*Session, least doubt) error {
	all := inDoubt(sessions, least)
	for batch := range slices.Chunk(all, lookBatch) {
		players := make([]ident.Player, len(batch))
		for i, a := range batch {
			players[i] = a.player
		}
		states, err := h.opts.Store.States(ctx, players)
		if err != nil {
			for _, a := range all { // those that have been read already come to no harm
				a.session.restoreFreshness(a.doubt)
			}
			return fmt.Errorf("look again at %d sessions: %w", len(all), err)
		}
		for i, a := range batch {
			h.bring(a, states[i])
		}
	}
	if len(all) > 0 {
		h.opts.LookedAgain(len(all))
	}
	return nil
}

// inDoubt takes the doubt of those of the sessions that have at least so much of it.
func inDoubt(sessions []*Session, least doubt) []asked {
	var list []asked
	for _, s := range sessions {
		s.mu.Lock()
		if s.generation != 0 && !s.closed && s.doubt >= least {
			list = append(list, asked{session: s, player: s.player, doubt: s.doubt})
			s.doubt = sure
		}
		s.mu.Unlock()
	}
	return list
}

func (s *Session) restoreFreshness(d doubt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remain(d)
}

// bring brings a state to a session.
func (h *Hub) bring(a asked, st store.PlayerState) {
	if st.Err != nil {
		return // it says nothing; whoever asked knows of which session it is
	}
	a.session.whenFree(&stateRead{session: a.session, state: st, doubt: a.doubt})
	if st.Generation != 0 {
		h.Replaced(store.Session{Player: st.Player, Generation: st.Generation})
	}
}

// stateRead is that a player's state was read.
type stateRead struct {
	session *Session
	state   store.PlayerState
	doubt   doubt
}

func (r *stateRead) place() ident.Place { return r.state.AsOf }

func (r *stateRead) happen() {
	s := r.session
	if s.keepIfLost(r.state.AsOf, r) {
		for _, n := range ends(s.seen.parsed(), r.state.Notices) {
			s.sendNotice(n) // nobody else knows any more why it ended
		}
	}
	s.applyState(r.state, r.doubt)
}

func (r *stateRead) project(k *snapshot) {
	st := r.state
	if st.Generation != 0 && st.Generation != r.session.generation || st.AsOf <= k.asOf || st.AsOf < k.least {
		return
	}
	record, err := store.ParseRecord(st.Record)
	if err != nil {
		return
	}
	k.asOf, k.match = st.AsOf, st.Match
	k.set(record, st.Record)
}

// ends are those notices that tell of the end of something that a record names, the oldest first.
func ends(r store.Record, notices []store.Notice) []store.Notice {
	waits, list := tickets(r), []store.Notice{}
	for _, n := range slices.Backward(notices) {
		if n.Ticket != "" && waits[n.Ticket] || n.Match != "" && n.Match == r.Match {
			list = append(list, n)
		}
	}
	return list
}

// Apply brings to sessions what Redis has of their players. A state with an Err is passed over.
func (h *Hub) Apply(states []store.PlayerState) {
	for _, st := range states {
		for _, s := range h.of(st.Player) {
			h.bring(asked{session: s}, st)
		}
	}
}

// Showing takes in a state that is about to go out as the reply to a request: what the client is told this
// instance knows too, so that it can say so should history be lost, and no older state may follow.
func (s *Session) Showing(st store.PlayerState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answering(st.AsOf)
	if _, ok := s.takeState(st, sure); ok {
		s.toldState(st)
	}
}

// applyState compares a state with what the client was told, and tells it the difference; an uncertain one
// everything. mu is held.
func (s *Session) applyState(st store.PlayerState, d doubt) {
	if news, ok := s.takeState(st, d); !ok || d < uncertain && !news {
		return
	}
	s.send(protocol.Encode(&protocol.State{PlayerState: State(st, s.hub.opts.Facts)}))
	s.toldState(st)
}

// takeState makes a state what the session knows, and tells the client of ends and of a match that it was not
// told of; news says whether it lacked anything. It is not ok where the state cannot be taken in. mu is held.
func (s *Session) takeState(st store.PlayerState, d doubt) (news, ok bool) {
	epoch := s.hub.currentEpoch()
	if s.generation == 0 || st.Generation > s.generation {
		return false, false
	}
	if st.AsOf < max(s.seen.asOf, s.seen.least, epoch) || st.Generation != 0 && st.Generation < s.generation {
		// It was read before the session saw what it knows, or in a history that is gone. What it was to make
		// up for may have been before that too.
		s.remain(max(d, behind))
		return false, false
	}
	after, err := store.ParseRecord(st.Record)
	if err != nil {
		s.hub.opts.Log.Error().Err(err).Str("player_id", string(st.Player)).Msg("record that was read is malformed")
		return false, false
	}
	known := s.seen
	before := known.parsed()
	missed := missedOf(known, st, epoch != known.epoch)
	s.seen, s.pendingSnapshot = snapshotOf(epoch, st), nil
	s.recordChanged(after)
	for _, n := range missed {
		s.send(protocol.Encode(noticeEvent(n)))
	}
	if m, err := store.ParseMatch(after.Match, st.Match); err == nil && after.Match != "" {
		var knew *store.Match
		if after.Match == before.Match {
			knew = known.knownMatch(before)
		}
		if n := newsOf(knew, m); n != noNews {
			s.sendNews(n, m, protocol.Encode(n.event(m, after.Acked)))
		}
		s.prompted(m)
	}
	return len(missed) > 0 || !same(before, after), true
}

// missedOf are the ends that a client was not told of, the oldest first. What went without a notice the player
// itself asked to end, unless it went with a history.
func missedOf(known snapshot, st store.PlayerState, historyLost bool) []store.Notice {
	var missed []store.Notice
	for _, n := range slices.Backward(st.Notices) {
		if !slices.Contains(known.notices, n.ID) {
			missed = append(missed, n)
		}
	}
	if !historyLost {
		return missed
	}
	for _, n := range unfounded(believed(known.parsed()), st) {
		if isLost(n) {
			missed = append(missed, n)
		}
	}
	return missed
}

// believed is what a client that was told a record believes.
func believed(r store.Record) *protocol.Have {
	have := &protocol.Have{Match: string(r.Match)}
	for _, t := range r.Waiting() {
		have.Tickets = append(have.Tickets, string(t.ID()))
	}
	return have
}
