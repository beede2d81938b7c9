package journal

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"muster/store"
)

// Outgoing is something to be told to an address.
type Outgoing struct {
	// Event is the same however often the event comes.
	Event, Type, URL string
	Body             []byte
}

// What is known of a match changes only by a newer version; what is over stays over, and when a match came to be
// what it is no longer is filled in whenever it comes. Two transactions that write a match follow each other, since
// the first statement locks its row even where nothing of it changes.
const (
	writeMatches = `
INSERT INTO muster_matches AS m (realm, id, world, state, version, epoch, created_at, ends_at, accept_by, rooms, endpoint,
  open_seats, taken_seats, record)
SELECT $1, id, world, state, version, epoch, created_at, ends_at, accept_by, rooms::jsonb, nullif(endpoint, '')::json,
  open_seats, taken_seats, record
FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::timestamptz[], $8::timestamptz[],
  $9::timestamptz[], $10::text[], $11::text[], $12::int[], $13::int[], $14::text[])
  AS new (id, world, state, version, epoch, created_at, ends_at, accept_by, rooms, endpoint, open_seats, taken_seats, record)
ON CONFLICT (realm, id) DO UPDATE SET
  world = excluded.world, state = CASE WHEN m.ended_at IS NULL THEN excluded.state ELSE m.state END,
  version = excluded.version, epoch = excluded.epoch, created_at = excluded.created_at, ends_at = excluded.ends_at,
  accept_by = excluded.accept_by, rooms = excluded.rooms, endpoint = excluded.endpoint,
  open_seats = excluded.open_seats, taken_seats = excluded.taken_seats, record = excluded.record
WHERE excluded.version > m.version`

	writeStages = `
UPDATE muster_matches m SET
  proposed_at = least(m.proposed_at, new.proposed_at),
  allocating_at = least(m.allocating_at, new.allocating_at),
  completed_at = least(m.completed_at, new.completed_at),
  state = CASE WHEN m.ended_at IS NULL AND new.over_at IS NOT NULL THEN new.over_state ELSE m.state END,
  reason = CASE WHEN m.ended_at IS NULL AND new.over_at IS NOT NULL THEN new.over_reason ELSE m.reason END,
  ended_at = coalesce(m.ended_at, new.over_at)
FROM unnest($2::text[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[], $6::text[], $7::text[], $8::timestamptz[])
  AS new (id, proposed_at, allocating_at, completed_at, over_state, over_reason, over_at)
WHERE m.realm = $1 AND m.id = new.id`

	writePlayers = `
INSERT INTO muster_match_players AS p (realm, match, player, seat, version, accepted, shown, gone)
SELECT $1, match, player, seat, version, accepted, shown, gone
FROM unnest($2::text[], $3::text[], $4::int[], $5::bigint[], $6::bool[], $7::bool[], $8::bool[])
  AS new (match, player, seat, version, accepted, shown, gone)
ON CONFLICT (realm, match, player) DO UPDATE SET
  seat = excluded.seat, version = excluded.version, accepted = excluded.accepted, shown = excluded.shown, gone = excluded.gone
WHERE excluded.version > p.version`

	writeOutbox = `
INSERT INTO muster_outbox (realm, event, url, type, body)
SELECT $1, event, url, type, body FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS new (event, url, type, body)
ON CONFLICT DO NOTHING`
)

// write writes events and what is to be told of them in one transaction; see isRefused for its error.
func (d *Database) write(ctx context.Context, events []store.Event, outgoing []Outgoing) error {
	changes, err := fold(events)
	if err != nil || len(changes) == 0 && len(outgoing) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		if err := d.writeChanges(ctx, tx, changes); err != nil {
			return err
		}
		return d.writeOutgoing(ctx, tx, outgoing)
	})
}

func (d *Database) writeChanges(ctx context.Context, tx pgx.Tx, changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	r := rowsOf(changes)
	if _, err := tx.Exec(ctx, writeMatches, d.realm, r.id, r.world, r.state, r.version, r.epoch, r.createdAt, r.endsAt,
		r.acceptBy, r.rooms, r.endpoint, r.openSeats, r.takenSeats, r.record); err != nil {
		return fmt.Errorf("write matches: %w", err)
	}
	if _, err := tx.Exec(ctx, writeStages, d.realm, r.id, r.proposedAt, r.allocatingAt, r.completedAt,
		r.overState, r.overReason, r.overAt); err != nil {
		return fmt.Errorf("write stages of matches: %w", err)
	}
	p := playersOf(changes)
	if len(p.player) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, writePlayers, d.realm, p.match, p.player, p.seat, p.version, p.accepted, p.shown, p.gone); err != nil {
		return fmt.Errorf("write players of matches: %w", err)
	}
	return nil
}

func (d *Database) writeOutgoing(ctx context.Context, tx pgx.Tx, outgoing []Outgoing) error {
	if len(outgoing) == 0 {
		return nil
	}
	var events, urls, types, bodies []string
	for _, o := range outgoing {
		events, urls = append(events, o.Event), append(urls, o.URL)
		types, bodies = append(types, o.Type), append(bodies, string(o.Body))
	}
	if _, err := tx.Exec(ctx, writeOutbox, d.realm, events, urls, types, bodies); err != nil {
		return fmt.Errorf("write outbox: %w", err)
	}
	return nil
}
