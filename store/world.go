package store

import (
	"context"
	"strings"
	"time"

	"muster/internal/ident"
)

// DeclaredWorld is a world as it stands in Redis for all instances.
type DeclaredWorld struct {
	Name ident.World
	// State is open, closed, or closing: on its way out.
	State string
	// Revision is the place of its last change (not an argument of DeclareWorlds).
	Revision ident.Place
	// Hash tells settings apart; Settings are opaque here.
	Hash, Settings string
}

// DeclareWorlds makes worlds the realm's own. Unchanged ones keep their revision; those left out are closing.
// It returns the revision of the newest change.
func (s *Store) DeclareWorlds(ctx context.Context, worlds []DeclaredWorld) (ident.Place, error) {
	r, err := s.run(ctx, "declare_worlds", declareArgs(worlds)...)
	if err != nil {
		return 0, err
	}
	return r.place(3), nil
}

// DeclareWorldsIn is DeclareWorlds in an epoch that the Store has not set yet: worlds have to be there before
// tickets are asserted.
func (s *Store) DeclareWorldsIn(ctx context.Context, epoch ident.Place, worlds []DeclaredWorld) error {
	replies, err := s.attempt(ctx, []call{{script: "declare_worlds", args: declareArgs(worlds), epoch: epoch}})
	if err != nil {
		return err
	}
	return replies[0].err()
}

func declareArgs(worlds []DeclaredWorld) []any {
	args := []any{len(worlds)}
	for _, w := range worlds {
		args = append(args, string(w.Name), w.State, w.Hash, w.Settings)
	}
	return args
}

// ReadWorlds reads the realm's worlds and the revision of the newest change.
func (s *Store) ReadWorlds(ctx context.Context) ([]DeclaredWorld, ident.Place, error) {
	r, err := s.run(ctx, "read_worlds")
	if err != nil {
		return nil, 0, err
	}
	var worlds []DeclaredWorld
	for i := 4; i+2 < len(r); i += 3 {
		f := strings.SplitN(r.text(i+1), "|", 3)
		if len(f) != 3 {
			continue
		}
		n := numbers{text: f[0]}
		worlds = append(worlds, DeclaredWorld{
			Name: ident.World(r.text(i)), Revision: n.place(f[0]), State: f[1], Hash: f[2], Settings: r.text(i + 2),
		})
	}
	return worlds, r.place(3), nil
}

// Swept is what a sweep did.
type Swept struct {
	// Done is false where another instance did it within the interval.
	Done bool
	// More says that another call at once has more to do.
	More bool
	// Parked, Gone, MatchesExpired, TicketsExpired and SeatsReleased count what was changed.
	Parked, Gone, MatchesExpired, TicketsExpired, SeatsReleased int
	// Due are the worlds that somebody should try to form matches in: their tick is over, or players are back there.
	Due []ident.World
}

// Sweep does what time changes, in the whole realm, unless another instance did within the interval.
func (s *Store) Sweep(ctx context.Context, interval time.Duration, worlds []WorldRules) (Swept, error) {
	r, err := s.run(ctx, "sweep", sweepArgs(interval, s.opts.Drain, worlds)...)
	if err != nil {
		return Swept{}, err
	}
	return sweptOf(r), nil
}

func sweepArgs(interval, drain time.Duration, worlds []WorldRules) []any {
	args := []any{interval.Milliseconds(), sweepLimit, drain.Milliseconds(), len(worlds)}
	for _, w := range worlds {
		args = append(args, string(w.Name), w.TicketTTL.Milliseconds(), w.Tick.Milliseconds(), w.Size)
	}
	return args
}

func sweptOf(r reply) Swept {
	if r.status() == statusNothingToDo {
		return Swept{}
	}
	return Swept{
		Done: true, More: r.number(3) == 1, Parked: int(r.number(4)), Gone: int(r.number(5)),
		MatchesExpired: int(r.number(6)), TicketsExpired: int(r.number(7)),
		SeatsReleased: int(r.number(8)), Due: append(worldsOf(r.text(9)), worldsOf(r.text(10))...),
	}
}
