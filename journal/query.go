package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"muster/internal/ident"
)

// ErrNoSuchMatch: the record has no match of that id.
var ErrNoSuchMatch = errors.New("no such match in the record")

// Match is a match as the record has it.
type Match struct {
	ID    ident.Match `json:"id"`
	World ident.World `json:"world"`
	// State is proposed, allocating, complete, cancelled or ended; Reason says why it is one of the last two.
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Version int64  `json:"version"`
	// CreatedAt and the others are by Redis' clock; nil where that never was, or is not known.
	CreatedAt    time.Time         `json:"created_at"`
	ProposedAt   *time.Time        `json:"proposed_at,omitempty"`
	AllocatingAt *time.Time        `json:"allocating_at,omitempty"`
	CompletedAt  *time.Time        `json:"completed_at,omitempty"`
	EndedAt      *time.Time        `json:"ended_at,omitempty"` // cancelled or ended
	EndsAt       *time.Time        `json:"expires_at,omitempty"`
	AcceptBy     *time.Time        `json:"accept_by,omitempty"`
	Rooms        map[string]string `json:"rooms"`
	Players      []Player          `json:"players"`
	Endpoint     json.RawMessage   `json:"endpoint,omitempty"`
	OpenSeats    int               `json:"open_seats,omitempty"`
	TakenSeats   int               `json:"taken_seats,omitempty"`
	// Record is the match's text as Redis had it last; "" where only the end is known.
	Record string `json:"-"`
}

// Player is one who is or was in a match.
type Player struct {
	ID       ident.Player `json:"id"`
	Accepted bool         `json:"accepted,omitempty"`
	// Shown says that the player was told of the match during its ready check.
	Shown bool `json:"shown,omitempty"`
	Left  bool `json:"left,omitempty"`
}

const selectMatches = `
SELECT m.id, m.world, m.state, m.reason, m.version, m.created_at, m.proposed_at, m.allocating_at, m.completed_at, m.ended_at,
  m.ends_at, m.accept_by, m.rooms, m.endpoint, m.open_seats, m.taken_seats, m.record,
  (SELECT coalesce(json_agg(json_build_object('id', p.player, 'accepted', p.accepted, 'shown', p.shown,
     'left', p.gone OR p.version < m.version) ORDER BY p.seat, p.player), '[]')
   FROM muster_match_players p WHERE p.realm = m.realm AND p.match = m.id)
FROM muster_matches m WHERE m.realm = $1`

func scanMatch(row pgx.CollectableRow) (Match, error) {
	var m Match
	var rooms, endpoint, players []byte
	if err := row.Scan(&m.ID, &m.World, &m.State, &m.Reason, &m.Version, &m.CreatedAt, &m.ProposedAt, &m.AllocatingAt,
		&m.CompletedAt, &m.EndedAt, &m.EndsAt, &m.AcceptBy, &rooms, &endpoint, &m.OpenSeats, &m.TakenSeats, &m.Record, &players); err != nil {
		return Match{}, err
	}
	m.Endpoint = endpoint
	return m, errors.Join(json.Unmarshal(rooms, &m.Rooms), json.Unmarshal(players, &m.Players))
}

// Match reads one match, open or over. ErrNoSuchMatch.
func (d *Database) Match(ctx context.Context, id ident.Match) (Match, error) {
	matches, err := d.query(ctx, selectMatches+" AND m.id = $2", d.realm, string(id))
	if err != nil {
		return Match{}, fmt.Errorf("match %s: %w", id, err)
	}
	if len(matches) == 0 {
		return Match{}, fmt.Errorf("match %s: %w", id, ErrNoSuchMatch)
	}
	return matches[0], nil
}

// Filter chooses matches; what is zero chooses all.
type Filter struct {
	Player ident.Player // who is or was in it
	World  ident.World
	State  string
	Since  time.Time // created then or later
	Limit  int       // at most so many
}

// Matches are those that the filter chooses, the newest first.
func (d *Database) Matches(ctx context.Context, f Filter) ([]Match, error) {
	sql, args := strings.Builder{}, []any{d.realm}
	sql.WriteString(selectMatches)
	where := func(condition string, value any) {
		args = append(args, value)
		fmt.Fprintf(&sql, " AND "+condition, len(args))
	}
	if f.Player != "" {
		where("m.id IN (SELECT match FROM muster_match_players WHERE realm = $1 AND player = $%d)", string(f.Player))
	}
	if f.World != "" {
		where("m.world = $%d", string(f.World))
	}
	if f.State != "" {
		where("m.state = $%d", f.State)
	}
	if !f.Since.IsZero() {
		where("m.created_at >= $%d", f.Since)
	}
	sql.WriteString(" ORDER BY m.created_at DESC, m.id DESC")
	if f.Limit > 0 {
		args = append(args, f.Limit)
		fmt.Fprintf(&sql, " LIMIT $%d", len(args))
	}
	matches, err := d.query(ctx, sql.String(), args...)
	if err != nil {
		return nil, fmt.Errorf("matches: %w", err)
	}
	return matches, nil
}

func (d *Database) query(ctx context.Context, sql string, args ...any) ([]Match, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	rows, err := d.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanMatch)
}

// OpenMatch is a match that was complete when the record last heard of it, and whose time is not over.
type OpenMatch struct {
	ID ident.Match
	// Record is its text as Redis had it.
	Record string
}

// Open are at most limit open matches whose ids are behind after, in the order of ids; after "" from the first on.
// Whether the time of one is over is judged by PostgreSQL's clock.
func (d *Database) Open(ctx context.Context, after ident.Match, limit int) ([]OpenMatch, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	rows, err := d.pool.Query(ctx, `SELECT id, record FROM muster_matches
		WHERE realm = $1 AND state = 'complete' AND ends_at > now() AND record <> '' AND id > $2 ORDER BY id LIMIT $3`,
		d.realm, string(after), limit)
	if err != nil {
		return nil, fmt.Errorf("open matches: %w", err)
	}
	matches, err := pgx.CollectRows(rows, pgx.RowToStructByPos[OpenMatch])
	if err != nil {
		return nil, fmt.Errorf("open matches: %w", err)
	}
	return matches, nil
}
