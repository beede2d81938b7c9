package store

import (
	"context"
	"math"
	"strings"
	"time"

	"muster/internal/ident"
)

// PlayerState is a player's whole state as Redis has it.
type PlayerState struct {
	Player     ident.Player
	Generation ident.Place
	// AsOf is the place at which this was the truth.
	AsOf ident.Place
	// Record and Match are texts; see ParseRecord and ParseMatch. Match is that of the record, if any.
	Record, Match string
	Notices       []Notice
	// Ranks has how each waiting ticket stands in its queue.
	Ranks map[ident.World]Rank
	// Now is Redis' time in Unix milliseconds.
	Now int64
	// Err is ErrReplaced where a newer session has the player, or a *TakenError; the rest is empty then.
	Err error
}

// Rank is how a ticket stands in its queue.
type Rank struct {
	// Position counts the matchable tickets ahead plus one.
	Position int
	// Size is how many players could be matched.
	Size int
}

func parseState(player ident.Player, asOf ident.Place, now int64, r reply) PlayerState {
	st := PlayerState{Player: player, AsOf: asOf, Now: now, Err: errorOf(r.status())}
	if r.status() == codeTaken {
		st.Err = &TakenError{Generation: r.place(1)}
	}
	if st.Err != nil {
		return st
	}
	st.Generation, st.Record, st.Match = r.place(1), r.text(2), r.text(3)
	for line := range strings.Lines(r.text(4)) {
		if n, err := ParseNotice(strings.TrimSuffix(line, "\n")); err == nil {
			st.Notices = append(st.Notices, n)
		}
	}
	n := numbers{text: r.text(5)}
	st.Ranks = n.ranks(r.text(5))
	return st
}

// ranks reads world=rank,size;…
func (n *numbers) ranks(text string) map[ident.World]Rank {
	ranks := map[ident.World]Rank{}
	for part := range items(text) {
		world, rest, _ := strings.Cut(part, "=")
		rank, size, _ := strings.Cut(rest, ",")
		ranks[ident.World(world)] = Rank{Position: int(n.parse(rank)) + 1, Size: int(n.parse(size))}
	}
	return ranks
}

// Arrival is a session that arrives: with Generation 0 a new one, which takes over sessions up to the generation Over. A
// later one that lives is a *TakenError: it may be newer than this, whose call was held up, and whose connection may be gone.
type Arrival struct {
	Session
	Over ident.Place
}

// Anybody is Over of one that takes over whoever is there.
const Anybody ident.Place = math.MaxInt64

// Arrive makes players live on this instance: with Generation 0 as a new session, which takes over whoever is there; with
// one as a session that arrives again. At most 100 a call. The results are in the order of the arguments.
func (s *Store) Arrive(ctx context.Context, sessions []Session) ([]PlayerState, error) {
	arrivals := make([]Arrival, len(sessions))
	for i, session := range sessions {
		arrivals[i] = Arrival{session, Anybody}
	}
	return s.ArriveOver(ctx, arrivals)
}

// ArriveOver is Arrive for sessions that do not take over whoever is there.
func (s *Store) ArriveOver(ctx context.Context, arrivals []Arrival) ([]PlayerState, error) {
	if len(arrivals) == 0 {
		return nil, nil
	}
	args := []any{len(arrivals)}
	for _, a := range arrivals {
		args = append(args, string(a.Player), a.Generation.String(), a.Over.String())
	}
	r, err := s.run(ctx, "arrive", args...)
	if err != nil {
		return nil, err
	}
	states := make([]PlayerState, len(arrivals))
	for i, a := range arrivals {
		states[i] = parseState(a.Player, r.place(3), r.number(2), r.list(4+i))
	}
	return states, nil
}

// Heartbeat makes a player without a socket live for a presence TTL. One with a live socket stays as it is.
func (s *Store) Heartbeat(ctx context.Context, player ident.Player) (PlayerState, error) {
	r, err := s.run(ctx, "heartbeat", string(player))
	if err != nil {
		return PlayerState{}, err
	}
	return parseState(player, r.place(3), r.number(2), r.list(4)), nil
}

// States reads players' states, at most 100 a call.
func (s *Store) States(ctx context.Context, players []ident.Player) ([]PlayerState, error) {
	if len(players) == 0 {
		return nil, nil
	}
	args := []any{len(players)}
	for _, p := range players {
		args = append(args, string(p))
	}
	r, err := s.run(ctx, "player_state", args...)
	if err != nil {
		return nil, err
	}
	states := make([]PlayerState, len(players))
	for i, p := range players {
		states[i] = parseState(p, r.place(3), r.number(2), r.list(4+i))
	}
	return states, nil
}

// Refresh extends the presence of sessions that gave a sign of life. Each gets nil, ErrReplaced, or ErrGone:
// it has to arrive again. At most 500 a call.
func (s *Store) Refresh(ctx context.Context, sessions []Session) ([]error, error) {
	if len(sessions) == 0 {
		return nil, nil
	}
	r, err := s.run(ctx, "refresh", append([]any{len(sessions)}, sessionArgs(sessions)...)...)
	if err != nil {
		return nil, err
	}
	return statuses(r, len(sessions)), nil
}

// Depart makes players whose sockets are gone away, for as long as grace; those who wait nowhere are just
// gone. Each gets nil, ErrReplaced, or ErrGone. At most 100 a call.
func (s *Store) Depart(ctx context.Context, grace time.Duration, sessions []Session) ([]error, error) {
	if len(sessions) == 0 {
		return nil, nil
	}
	r, err := s.run(ctx, "depart", append([]any{grace.Milliseconds(), len(sessions)}, sessionArgs(sessions)...)...)
	if err != nil {
		return nil, err
	}
	return statuses(r, len(sessions)), nil
}

func sessionArgs(sessions []Session) []any {
	args := make([]any, 0, 2*len(sessions))
	for _, session := range sessions {
		args = append(args, string(session.Player), session.Generation.String())
	}
	return args
}

func statuses(r reply, n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = errorOf(r.number(statusFieldsBefore + i))
	}
	return errs
}
