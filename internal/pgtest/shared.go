package pgtest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// shared is the server of the test binary, and databases numbers its databases.
var (
	shared struct {
		once   sync.Once
		server *Server // set by once, read after it
		err    error   // set by once, read after it
	}
	databases atomic.Int64
)

// Database makes an empty database that no other test of the binary has, on a server that they share, and returns
// its address. TestMain of the package must call Close when the tests have run.
func Database(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = start() })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	name := fmt.Sprintf("test%d", databases.Add(1))
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, shared.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		t.Fatal(err)
	}
	return shared.server.url(name)
}

// Close ends the server of Database, if there is one.
func Close() error {
	shared.once.Do(func() {})
	if shared.server == nil {
		return nil
	}
	return shared.server.close()
}
