package journal

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/musterhq/muster/internal/pgtest"
	"github.com/musterhq/muster/internal/redistest"
)

func TestMain(m *testing.M) {
	redistest.Main(m, pgtest.Close, func() error { return goleak.Find() })
}
