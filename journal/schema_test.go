package journal

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"muster/internal/pgtest"
)

func TestManyInstancesMigrateAtOnce(t *testing.T) {
	t.Parallel()
	url, ctx := pgtest.Database(t), context.Background()
	var group errgroup.Group
	for range 6 {
		group.Go(func() error {
			d, err := OpenDatabase(ctx, url, "r")
			if err != nil {
				return err
			}
			defer d.Close()
			return d.migrate(ctx)
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	d := open(t, url)
	var steps, last int
	if err := d.pool.QueryRow(ctx, "SELECT count(*), max(version) FROM muster_schema_version").Scan(&steps, &last); err != nil || steps != last || steps < 2 {
		t.Errorf("%d steps up to %d (%v)", steps, last, err)
	}
}

func TestASchemaOfALaterVersionIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	ctx, d := context.Background(), open(t, pgtest.Database(t))
	for _, do := range []func() error{
		func() error { return d.migrate(ctx) },
		func() error {
			_, err := d.pool.Exec(ctx, "INSERT INTO muster_schema_version VALUES (999); DROP TABLE muster_outbox")
			return err
		},
		func() error { return d.migrate(ctx) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	var table *string
	if err := d.pool.QueryRow(ctx, "SELECT to_regclass('muster_outbox')::text").Scan(&table); err != nil || table != nil {
		t.Errorf("the outbox is %v (%v): a step was done again", table, err)
	}
}

func TestAWrongAddressIsToldWithoutItsPassword(t *testing.T) {
	t.Parallel()
	_, err := OpenDatabase(context.Background(), "postgres://u:hunter2@h:x/d", "r")
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error is %v", err)
	}
}

func open(t *testing.T, url string) *Database {
	t.Helper()
	d, err := OpenDatabase(context.Background(), url, "r")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}
