package server

import (
	"testing"

	"go.uber.org/goleak"

	"muster/internal/pgtest"
	"muster/internal/redistest"
)

func TestMain(m *testing.M) {
	redistest.Main(m, pgtest.Close, func() error { return goleak.Find() })
}
