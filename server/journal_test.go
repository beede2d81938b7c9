package server

import (
	"context"
	"testing"
	"time"

	"muster/configs"
	"muster/internal/redistest"
)

// A journal that is no longer set must not hold the stream for ever.
func TestAnInstanceWithoutAJournalLetsTheStreamGo(t *testing.T) {
	t.Parallel()
	redis, ctx := redistest.Shared(t), context.Background()
	config := settings(t, func(c *configs.Config) {})
	key := func(name string) string { return "mm:{" + config.Realm + "}:" + name }
	for _, command := range [][]any{
		{"HSET", key("meta"), "journal", "1", "tidied", time.Now().UnixMilli()},
		{"XADD", key("st"), "*", "event", "match_ended", "match", "m1"},
		{"XGROUP", "CREATE", key("st"), "journal", "0"},
		{"HSET", key("sg"), "journal", time.Now().Add(-25 * time.Hour).UnixMilli()},
	} {
		if _, err := redis.Do(ctx, command...); err != nil {
			t.Fatal(err)
		}
	}
	launch(t, config)
	eventually(t, "the stream is kept for no journal", func() bool {
		kept, err := redis.Do(ctx, "HEXISTS", key("meta"), "journal")
		if err != nil {
			t.Fatal(err)
		}
		groups, err := redis.Do(ctx, "XINFO", "GROUPS", key("st"))
		list, ok := groups.([]any)
		return kept == int64(0) && err == nil && ok && len(list) == 0
	})
}
