package lua

import (
	"testing"

	"github.com/musterhq/muster/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m, stopEmbedded) }
