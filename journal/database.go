package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// connectTimeout bounds a connection's beginning, where the URL says nothing.
	connectTimeout = 5 * time.Second
	// queryTimeout bounds a transaction, so that a PostgreSQL behind a black hole is noticed.
	queryTimeout = 10 * time.Second
)

// Database is the durable record of one realm.
type Database struct {
	pool  *pgxpool.Pool
	realm string
}

// OpenDatabase builds a Database. It connects when it is first asked. The error shows no password.
func OpenDatabase(ctx context.Context, url, realm string) (*Database, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("journal.url: %w", err)
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "muster"
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("journal.url: %w", err)
	}
	return &Database{pool: pool, realm: realm}, nil
}

// Close ends the connections.
func (d *Database) Close() { d.pool.Close() }

// refusedClasses are the classes of PostgreSQL's error codes that blame what was to be written: it will be
// refused again. All others blame the server, the way to it, or its schema, and may be over in a while.
var refusedClasses = map[string]bool{
	"21": true, // cardinality violation
	"22": true, // data exception
	"23": true, // integrity constraint violation
	"54": true, // program limit exceeded
}

// isRefused tells whether PostgreSQL, or this package, refused what was to be written, for what it is.
func isRefused(err error) bool {
	var invalid *invalidError
	if errors.As(err, &invalid) {
		return true
	}
	var answered *pgconn.PgError
	return errors.As(err, &answered) && len(answered.Code) == 5 && refusedClasses[answered.Code[:2]]
}

// invalidError is of an entry that cannot be read.
type invalidError struct{ error }

func (e *invalidError) Unwrap() error { return e.error }
