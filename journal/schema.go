package journal

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// migrations are the steps of the schema: NNNN_what.sql takes it from version NNNN-1 to NNNN. A step that was
// released is not changed, and one only adds, so that instances of the version before go on with it.
//
//go:embed sql/*.sql
var migrations embed.FS

// migrationLock is the advisory lock under which the schema changes; the number means nothing.
const migrationLock = 0x6d7573746572

// migrate brings the schema to this version's, in one transaction. Of several instances one does it, and the
// others wait. A schema of a later version is left as it is.
func (d *Database) migrate(ctx context.Context) error {
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		// Of the transaction, so that it ends with it even where a pooler shares connections.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
			return fmt.Errorf("lock the schema: %w", err)
		}
		if _, err := tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS muster_schema_version (
			version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`); err != nil {
			return fmt.Errorf("create muster_schema_version: %w", err)
		}
		var version int
		if err := tx.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM muster_schema_version").Scan(&version); err != nil {
			return fmt.Errorf("read muster_schema_version: %w", err)
		}
		return applyAfter(ctx, tx, version)
	})
}

// applyAfter applies the migrations that follow a version.
func applyAfter(ctx context.Context, tx pgx.Tx, version int) error {
	files, err := fs.Glob(migrations, "sql/*.sql") // sorted
	if err != nil {
		return err
	}
	for _, file := range files {
		number, _, _ := strings.Cut(path.Base(file), "_")
		step, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("migration %s: %w", file, err)
		}
		if step <= version {
			continue
		}
		text, err := migrations.ReadFile(file)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, string(text)); err != nil {
			return fmt.Errorf("migration %s: %w", file, err)
		}
		if _, err := tx.Exec(ctx, "INSERT INTO muster_schema_version (version) VALUES ($1)", step); err != nil {
			return fmt.Errorf("migration %s: %w", file, err)
		}
	}
	return nil
}
