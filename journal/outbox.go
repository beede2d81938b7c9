package journal

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// deliveredTTL is how long a delivery is remembered, so that an event that comes twice is not told twice.
	deliveredTTL = 24 * time.Hour
	// deadTTL is how long there is to put a dead delivery back.
	deadTTL = 30 * 24 * time.Hour
)

// Pending is a delivery that is due.
type Pending struct {
	Event, Type, URL string
	Body             []byte
	// Attempts is how many there were, this one included.
	Attempts int
	// Unreadable says why PostgreSQL cannot read Body; nil if it can.
	Unreadable error `db:"-"`
}

// claimDue takes deliveries that are due, with a body as the expression says.
const claimDue = `
WITH due AS (
  SELECT realm, event, url FROM muster_outbox
  WHERE realm = $1 AND url = $2 AND state = 'pending' AND due_at <= now() ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
UPDATE muster_outbox o SET attempts = o.attempts + 1, due_at = now() + $4 FROM due
WHERE o.realm = due.realm AND o.event = due.event AND o.url = due.url
RETURNING o.event, o.type, o.url, %s, o.attempts`

// ClaimPending takes at most n deliveries to an address that are due. For hold they are nobody else's; then they
// are due again, unless something was said of them. A delivery whose body cannot be read is returned as Unreadable and
// stops no other.
func (d *Database) ClaimPending(ctx context.Context, url string, n int, hold time.Duration) ([]Pending, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	pending, err := d.claimPending(ctx, "o.body", url, n, hold)
	if class := classOf(err); class == damaged || refusedClasses[class] {
		pending, err = d.claimPending(ctx, "''", url, n, hold)
		for i := range pending {
			pending[i].Body, pending[i].Unreadable = d.readBody(ctx, pending[i])
		}
	}
	if err != nil {
		return nil, fmt.Errorf("claim from the outbox: %w", err)
	}
	return pending, nil
}

func (d *Database) claimPending(ctx context.Context, body, url string, n int, hold time.Duration) ([]Pending, error) {
	rows, err := d.pool.Query(ctx, fmt.Sprintf(claimDue, body), d.realm, url, n, hold)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Pending])
}

func (d *Database) readBody(ctx context.Context, p Pending) (body []byte, err error) {
	err = d.pool.QueryRow(ctx, "SELECT body FROM muster_outbox WHERE realm = $1 AND event = $2 AND url = $3",
		d.realm, p.Event, p.URL).Scan(&body)
	if err != nil {
		return nil, fmt.Errorf("read the body of event %s: %w", p.Event, err)
	}
	return body, nil
}

// Delivered notes that a delivery arrived.
func (d *Database) Delivered(ctx context.Context, event, url string) error {
	return d.settle(ctx, "state = 'delivered', done_at = now(), error = ''", event, url)
}

// Postpone has a delivery due after wait.
func (d *Database) Postpone(ctx context.Context, event, url string, wait time.Duration, reason string) error {
	return d.settle(ctx, "due_at = now() + $4, error = $5", event, url, wait, text(reason))
}

// Bury gives a delivery up.
func (d *Database) Bury(ctx context.Context, event, url, reason string) error {
	return d.settle(ctx, "state = 'dead', done_at = now(), error = $4", event, url, text(reason))
}

func (d *Database) settle(ctx context.Context, set, event, url string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	_, err := d.pool.Exec(ctx, "UPDATE muster_outbox SET "+set+" WHERE realm = $1 AND event = $2 AND url = $3 AND state = 'pending'",
		append([]any{d.realm, event, url}, args...)...)
	if err != nil {
		return fmt.Errorf("outbox, event %s: %w", event, err)
	}
	return nil
}

// Dead is a delivery that was given up.
type Dead struct {
	Event    string    `json:"event"`
	Type     string    `json:"type"`
	URL      string    `json:"url"`
	Body     string    `json:"body"`
	Attempts int       `json:"attempts"`
	DiedAt   time.Time `json:"died_at"`
	Reason   string    `json:"reason"`
}

// DeadDeliveries are at most limit dead deliveries, the latest first.
func (d *Database) DeadDeliveries(ctx context.Context, limit int) ([]Dead, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	rows, err := d.pool.Query(ctx, `SELECT event, type, url, body, attempts, done_at, error FROM muster_outbox
		WHERE realm = $1 AND state = 'dead' ORDER BY done_at DESC LIMIT $2`, d.realm, limit)
	if err != nil {
		return nil, fmt.Errorf("dead deliveries: %w", err)
	}
	dead, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Dead])
	if err != nil {
		return nil, fmt.Errorf("dead deliveries: %w", err)
	}
	return dead, nil
}

// Replay makes dead deliveries of an event due again, or all where event is "", and tells how many.
func (d *Database) Replay(ctx context.Context, event string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	tag, err := d.pool.Exec(ctx, `UPDATE muster_outbox SET state = 'pending', attempts = 0, due_at = now(), done_at = NULL
		WHERE realm = $1 AND state = 'dead' AND ($2 = '' OR event = $2)`, d.realm, event)
	if err != nil {
		return 0, fmt.Errorf("replay deliveries: %w", err)
	}
	return int(tag.RowsAffected()), nil
}

// forgetDone forgets deliveries that were done with long ago.
func (d *Database) forgetDone(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	for state, ttl := range map[string]time.Duration{"delivered": deliveredTTL, "dead": deadTTL} {
		if _, err := d.pool.Exec(ctx, `DELETE FROM muster_outbox WHERE ctid = ANY (ARRAY(
			SELECT ctid FROM muster_outbox WHERE realm = $1 AND state = $2 AND done_at < now() - $3::interval LIMIT 10000))`,
			d.realm, state, ttl); err != nil {
			return fmt.Errorf("forget %s deliveries: %w", state, err)
		}
	}
	return nil
}

// text is what PostgreSQL takes as a text: reasons come from others.
func text(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}
