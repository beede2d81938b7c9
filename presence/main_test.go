package presence

import (
	"testing"

	"go.uber.org/goleak"

	"muster/internal/redistest"
)

func TestMain(m *testing.M) {
	redistest.Main(m, func() error { return goleak.Find() })
}
