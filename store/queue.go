package store

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"muster/internal/ident"
)

// WorldRules are what the scripts need to know of a world.
type WorldRules struct {
	Name ident.World
	// Revision is the one under which the settings were declared; scripts refuse an older one.
	Revision ident.Place
	Size     int
	// Pairs makes it a world of pairs, with Scan and RematchCooldown.
	Pairs bool
	// Scan is how many live tickets are looked at for one match. Of a world of pairs with a RematchCooldown it is how many
	// one is tried with at first; it is tried with more if it has met those.
	Scan            int
	RematchCooldown time.Duration
	MatchHold       time.Duration
	// ReadyCheck is how long players have to accept a match; 0 is no ready check. Who declines, or lets it pass,
	// may not join the world again for DeclineCooldown.
	ReadyCheck, DeclineCooldown time.Duration
	// Allocate says that a match waits for its server before it stands.
	Allocate bool
	// Seats is how many players a room takes that lets them in one by one; 0 where matches are formed whole. A seat
	// is given back that its player did not acknowledge within SeatHold.
	Seats    int
	SeatHold time.Duration
	// MatchesPerSecond bounds how many matches are formed in any second, over all instances; 0 is no bound.
	MatchesPerSecond float64
	TicketTTL        time.Duration
	Tick             time.Duration
	// QueueLimit is the most waiting players; 0 is none.
	QueueLimit int
}

// width is how far one call looks: some times the players of the matches that it may form, and never far. A call
// for one match is not to read a hundred tickets because so many wait. Where the same two are kept apart it looks
// far: the next may not fit; and so it does where players take seats of rooms that there are.
func (w WorldRules) width(matches int) int {
	far := min(4*matches*w.Size, maxPlayersPerCall)
	if w.RematchCooldown > 0 || w.Seats > 0 {
		far = maxPlayersPerCall
	}
	return min(max(w.Scan, w.Size, far), maxWindow)
}

// terms are what scripts, and the matches that they form, know of a world's rules: see parse_terms.
func (w WorldRules) terms() string {
	atMost, within := w.throttle()
	return fmt.Sprintf("%d,%d,%d,%d,%d,%d,%d,%d", w.MatchHold.Milliseconds(), w.ReadyCheck.Milliseconds(),
		w.DeclineCooldown.Milliseconds(), oneIf(w.Allocate), w.Seats, w.SeatHold.Milliseconds(), atMost, within.Milliseconds())
}

// throttle is MatchesPerSecond as a whole number of matches within a time; 0 where there is no bound.
func (w WorldRules) throttle() (atMost int, within time.Duration) {
	if w.MatchesPerSecond == 0 {
		return 0, 0
	}
	atMost = int(math.Ceil(w.MatchesPerSecond))
	return atMost, time.Duration(float64(atMost) / w.MatchesPerSecond * float64(time.Second))
}

// oneIf is a yes or no as scripts want it.
func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// Join asks for a ticket.
type Join struct {
	Player ident.Player
	// Generation is the session's; 0 for a request that is no session's (HTTP), whose player needs presence.
	Generation ident.Place
	// Key makes the join repeatable, Fingerprint tells whether a repeated one has the same content.
	Key, Fingerprint string
}

// Joined is what became of a Join.
type Joined struct {
	// Place is the ticket's; Repeated says that an earlier join with the same key made it.
	Place    ident.Place
	Repeated bool
	// Position and Size are as on entering: the place in the queue, and how many players could be matched.
	Position, Size int
	// Record is the player's record after it; "" where the same call matched it, and told so.
	Record string
	// Err is ErrReplaced, ErrGone, ErrTooManyWorlds, ErrQueueFull, ErrKeyReused, an *AlreadyQueuedError, an
	// *InMatchError or a *CooledDownError.
	Err error
}

// JoinResult is what became of the joins of a call.
type JoinResult struct {
	Joined []Joined
	// MeanWait is how long matches of the world took to form lately, and Known whether any did.
	MeanWait MeanWait
	// Now is Redis' time in Unix milliseconds.
	Now int64
}

// Candidate is the id and the rooms of a match that a call may form.
type Candidate struct {
	Match ident.Match
	Rooms []Room
}

// Formed is what a call formed.
type Formed struct {
	Matches, Players int
	// Parked counts those found away (or gone) and taken out of the way.
	Parked int
	// WaitSum adds how long the longest-waiting player of each match had waited.
	WaitSum time.Duration
	// More says that another call at once may form more, which goes on at After.
	More  bool
	After Cursor
	// OpensIn is how long matching is still closed in a new epoch; 0 if it is open.
	OpensIn time.Duration
}

// Cursor is where a walk through a queue stands that is longer than one call looks. "" is its beginning.
type Cursor string

// JoinAndMatch puts tickets into a world (if there are joins) and forms matches (as many as there are
// candidates), in one script. The error is one of the whole: ErrStaleRevision, ErrUnknownWorld,
// ErrWorldClosed, ErrUnavailable. At most 100 joins and 25 candidates.
func (s *Store) JoinAndMatch(ctx context.Context, w WorldRules, worldsPerPlayer int, joins []Join, after Cursor, candidates []Candidate) (JoinResult, Formed, error) {
	replies, err := s.runAll(ctx, s.matchCall(w, worldsPerPlayer, joins, after, candidates))
	if err == nil {
		err = replies[0].err()
	}
	if err != nil {
		return JoinResult{}, Formed{}, err
	}
	return parseJoined(w.Name, replies[0], len(joins)), parseFormed(replies[0]), nil
}

// matchCall is the call of the world's script: it puts tickets in the world and matches.
func (s *Store) matchCall(w WorldRules, worldsPerPlayer int, joins []Join, after Cursor, candidates []Candidate) call {
	drain, width := s.opts.Drain.Milliseconds(), w.width(len(candidates))
	var c call
	switch {
	case w.Pairs:
		c = call{script: "find_opponent", args: []any{string(w.Name), w.Revision.String(), string(after), width, w.terms(), drain,
			w.Scan, w.RematchCooldown.Milliseconds()}}
	case w.Seats > 0:
		c = call{script: "reserve_seats", args: []any{string(w.Name), w.Revision.String(), width, w.terms(), drain}}
	default:
		c = call{script: "extract_group", args: []any{string(w.Name), w.Revision.String(), w.Size, width, w.terms(), drain}}
	}
	limits := fmt.Sprintf("%d,%d,%d", w.QueueLimit, worldsPerPlayer, oneIf(w.DeclineCooldown > 0))
	c.args = append(c.args, limits, len(joins), len(candidates))
	for _, j := range joins {
		c.args = append(c.args, string(j.Player), optional(j.Generation), j.Key, j.Fingerprint)
	}
	for _, m := range candidates {
		c.args = append(c.args, string(m.Match), roomsText(m.Rooms))
	}
	return c
}

func roomsText(rooms []Room) string {
	var b strings.Builder
	for i, r := range rooms {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteString(r.Name + "=" + r.ID)
	}
	return b.String()
}

func parseJoined(world ident.World, r reply, n int) JoinResult {
	result := JoinResult{Now: r.number(2), MeanWait: parseMeanWait(r.text(10)), Joined: make([]Joined, n)}
	size := int(r.number(11))
	for i := range result.Joined {
		j := parseJoinAnswer(world, r.text(12+i), result.Now)
		if j.Err == nil && !j.Repeated {
			size++
			j.Position, j.Size = size, size
		}
		result.Joined[i] = j
	}
	return result
}

// parseJoinAnswer reads what the scripts answer a join with: a status or code, and what goes with it behind it. Of one
// that is new the caller knows position and size.
func parseJoinAnswer(world ident.World, text string, now int64) (j Joined) {
	status, rest, _ := strings.Cut(text, "|")
	first, rest, _ := strings.Cut(rest, "|")
	n := numbers{text: text}
	switch code := n.parse(status); code {
	case statusDone:
		j.Place, j.Record = n.place(first), rest
	case statusRepeated:
		position, rest, _ := strings.Cut(rest, "|")
		size, record, _ := strings.Cut(rest, "|")
		j.Place, j.Repeated, j.Record = n.place(first), true, record
		j.Position, j.Size = int(n.parse(position)), int(n.parse(size))
	case codeAlreadyQueued:
		j.Err = &AlreadyQueuedError{Ticket: ident.TicketOf(world, n.place(first))}
	case codeInMatch:
		ends := n.parse(rest)
		j.Err = &InMatchError{Match: ident.Match(first), EndsAt: ends, Overdue: ends <= now}
	case codeInProposal:
		j.Err = &InMatchError{Match: ident.Match(first), EndsAt: n.parse(rest), Held: true}
	case codeCooledDown:
		j.Err = &CooledDownError{For: time.Duration(n.parse(first)-now) * time.Millisecond}
	default:
		j.Err = errorOf(code)
	}
	if n.err != nil {
		j.Err = n.err
	}
	return j
}

func parseFormed(r reply) Formed {
	f := Formed{
		More: r.number(3) == 1, Matches: int(r.number(4)), Players: int(r.number(5)), Parked: int(r.number(6)),
		WaitSum: time.Duration(r.number(7)) * time.Millisecond, After: Cursor(r.text(9)),
	}
	if opensAt := r.number(8); opensAt > 0 {
		f.OpensIn = time.Duration(opensAt-r.number(2))*time.Millisecond + time.Millisecond
	}
	return f
}

// Left is what became of a leave.
type Left struct {
	Worlds []ident.World
	// Match is the match that was faster, if the player is in one.
	Match ident.Match
	Outcome
}

// RemoveFromQueue takes a player out of worlds, out of all where none is named. A match that is held falls through with
// the ticket of its world. ErrReplaced.
func (s *Store) RemoveFromQueue(ctx context.Context, who Session, worlds ...ident.World) (Left, error) {
	args := []any{string(who.Player), optional(who.Generation), len(worlds)}
	for _, w := range worlds {
		args = append(args, string(w))
	}
	r, err := s.run(ctx, "remove_from_queue", args...)
	if err != nil {
		return Left{}, err
	}
	s.back(r.text(6))
	left := Left{Worlds: []ident.World{}, Match: ident.Match(r.text(5)), Outcome: Outcome{Record: r.text(3), Before: r.place(7)}}
	for w := range items(r.text(4)) {
		left.Worlds = append(left.Worlds, ident.World(w))
	}
	return left, nil
}

// optional is a generation as scripts want it: "" for a request that is no session's.
func optional(g ident.Place) string {
	if g == 0 {
		return ""
	}
	return g.String()
}

// Queue is how a world's queue stands.
type Queue struct {
	// Size is how many players could be matched, OldestAt when the first of them joined (Unix milliseconds; 0
	// where nobody waits).
	Size     int
	OldestAt int64
	// Matches counts the matches formed, Open those that are open.
	Matches, Open int64
	MeanWait      MeanWait
	// Head are the first players of the queue, Ranks the positions of those asked about (0 where not queued).
	Head  []ident.Player
	Ranks []int
	// Now is Redis' time in Unix milliseconds.
	Now int64
}

// Positions reads how a world's queue stands: its first players, at most head, and the positions of players.
// At most 100 each.
func (s *Store) Positions(ctx context.Context, world ident.World, head int, players []ident.Player) (Queue, error) {
	args := []any{string(world), head, len(players)}
	for _, p := range players {
		args = append(args, string(p))
	}
	r, err := s.run(ctx, "queue_status", args...)
	if err != nil {
		return Queue{}, err
	}
	return parseQueue(r, players), nil
}

// Queues reads how the queues of worlds stand, in one round trip.
func (s *Store) Queues(ctx context.Context, worlds []ident.World) ([]Queue, error) {
	if len(worlds) == 0 {
		return nil, nil
	}
	calls := make([]call, len(worlds))
	for i, w := range worlds {
		calls[i] = call{script: "queue_status", args: []any{string(w), 0, 0}}
	}
	replies, err := s.runAll(ctx, calls...)
	if err != nil {
		return nil, err
	}
	queues := make([]Queue, len(worlds))
	for i, r := range replies {
		queues[i] = parseQueue(r, nil)
	}
	return queues, nil
}

func parseQueue(r reply, players []ident.Player) Queue {
	q := Queue{
		Now: r.number(2), Size: int(r.number(3)), OldestAt: r.place(4).UnixMilli(), Matches: r.number(5), Open: r.number(6),
		MeanWait: parseMeanWait(r.text(7)), Ranks: make([]int, len(players)),
	}
	for p := range items(r.text(8)) {
		q.Head = append(q.Head, ident.Player(p))
	}
	for i := range players {
		q.Ranks[i] = int(r.number(9+i)) + 1
	}
	return q
}

// MeanWait is how long matches of a world took to form: from the first of its players' joins, over the
// matches of the ten minutes before At.
type MeanWait struct {
	Wait time.Duration
	// At is when the last match was formed, in Unix milliseconds; 0 where none was.
	At int64
}

// meanWaitLife is how long a mean says something.
const meanWaitLife = 10 * time.Minute

// Known tells whether matches were formed lately enough to say something.
func (m MeanWait) Known(now int64) bool {
	return m.At > 0 && now-m.At < meanWaitLife.Milliseconds()
}

func parseMeanWait(text string) MeanWait {
	wait, at, ok := strings.Cut(text, ",")
	if !ok {
		return MeanWait{}
	}
	n := numbers{text: text}
	return MeanWait{Wait: time.Duration(n.parse(wait)) * time.Millisecond, At: n.parse(at)}
}
