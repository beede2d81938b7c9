package journal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"muster/internal/dsn"
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

// CheckURL reports whether pgx takes an address of PostgreSQL, and why not, without showing any part of the address.
func CheckURL(url string) error {
	_, err := parseURL(url)
	return err
}

func parseURL(url string) (config *pgxpool.Config, err error) {
	err = dsn.Check(url, func() error {
		config, err = pgxpool.ParseConfig(url)
		var refused *pgconn.ParseConfigError
		if errors.As(err, &refused) {
			// Its text repeats the address between backticks and masks only what it takes for the password.
			text := err.Error()
			return errors.New(text[strings.LastIndex(text, "`: ")+len("`: "):])
		}
		return err
	})
	return config, err
}

// OpenDatabase builds a Database. It connects when it is first asked. The error shows no part of the address.
func OpenDatabase(ctx context.Context, url, realm string) (*Database, error) {
	config, err := parseURL(url)
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
	"38": true, // external routine exception: of a trigger, as are 39 and P0
	"39": true, // external routine invocation exception
	"44": true, // WITH CHECK OPTION violation
	"54": true, // program limit exceeded
	"P0": true, // PL/pgSQL error
}

// damaged is the class of errors of data that PostgreSQL cannot read. It may be one row, or all: an entry is never a dead
// letter because of it.
const damaged = "XX"

// isRefused tells whether PostgreSQL, or this package, refused what was to be written, for what it is.
func isRefused(err error) bool {
	var invalid *invalidError
	if errors.As(err, &invalid) {
		return true
	}
	return refusedClasses[classOf(err)]
}

// classOf returns the class of PostgreSQL's error code; "" if PostgreSQL did not answer.
func classOf(err error) string {
	var answered *pgconn.PgError
	if errors.As(err, &answered) && len(answered.Code) == 5 {
		return answered.Code[:2]
	}
	return ""
}

// invalidError is of an entry that cannot be read.
type invalidError struct{ error }

func (e *invalidError) Unwrap() error { return e.error }
