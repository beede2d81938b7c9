package store

import (
	"strings"
	"testing"
	"time"

	"muster/internal/redistest"
)

func TestEmbedded_ListensNowhere(t *testing.T) {
	t.Parallel()
	s, err := Open(Options{Realm: redistest.Realm(t), Instance: "a", PresenceTTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // nothing else to see
	if _, err := s.OpenEpoch(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if addr := s.embedded.mini.Addr(); addr != "" {
		t.Errorf("the embedded Redis is reached at %s", addr)
	}
}

// TestEmbedded_TakesLongPipelines: the server replies to the first command before it has read the last.
func TestEmbedded_TakesLongPipelines(t *testing.T) {
	t.Parallel()
	s, err := Open(Options{Realm: redistest.Realm(t), Instance: "a", PresenceTTL: time.Minute, CallTimeout: testCallTimeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // nothing else to see
	pipe, value := s.rdb.Pipeline(), strings.Repeat("x", 10_000)
	for range 50 {
		pipe.Echo(t.Context(), value)
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
}
