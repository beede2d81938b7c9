package store

import (
	"testing"

	"muster/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m, stopEmbedded) }
