package pgtest

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := Close(); err != nil {
		panic(err)
	}
	os.Exit(code)
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(context.Background(), sql); err != nil {
		t.Fatal(err)
	}
}

func TestADatabaseIsATestsOwn(t *testing.T) {
	t.Parallel()
	first, second := connect(t, Database(t)), connect(t, Database(t))
	execute(t, first, "CREATE TABLE t ()")
	execute(t, second, "CREATE TABLE t ()")
}

func TestDataOutlivesAKill(t *testing.T) {
	t.Parallel()
	s := Start(t)
	conn := connect(t, s.URL())
	execute(t, conn, "CREATE TABLE t (n int)")
	execute(t, conn, "INSERT INTO t VALUES (7)")
	s.Kill()
	if err := conn.Ping(context.Background()); err == nil {
		t.Error("the connection outlived the server")
	}
	if conn, err := pgx.Connect(context.Background(), s.URL()); err == nil {
		t.Error("a killed server answers")
		_ = conn.Close(context.Background())
	}
	s.Restart()
	conn = connect(t, s.URL())
	var n int
	if err := conn.QueryRow(context.Background(), "SELECT n FROM t").Scan(&n); err != nil || n != 7 {
		t.Errorf("n = %d, %v", n, err)
	}
}
