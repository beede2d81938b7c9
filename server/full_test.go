package server

import (
	"net/http"
	"testing"

	"muster/configs"
	"muster/internal/redistest"
)

// full has a Redis refuse, until the end of the test or the next call, what needs memory beyond so much.
func full(t *testing.T, redis *redistest.Server, maxmemory string) {
	t.Helper()
	if _, err := redis.Do(t.Context(), "CONFIG", "SET", "maxmemory", maxmemory); err != nil {
		t.Fatal(err)
	}
}

func TestFullRedis_InstanceStarts(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, redistest.Args("--maxmemory", "1"))
	i := run(t, func(c *configs.Config) {
		c.Redis.URL = configs.Secret(redis.URL())
		c.Worlds = []configs.World{duel("voice")}
	})
	i.wantStatus(http.StatusOK, nil, "", get, "/readyz", "")
	ana, ben := i.greet("ana"), i.greet("ben")
	ana.refused(`"type":"join","world":"voice"`, "unavailable")
	full(t, redis, "0")
	matched(ana, ben, "voice")
}

// losses are how a full Redis gets another history, with its data or without.
var losses = map[string]func(*testing.T, *redistest.Server){
	"promoted": func(t *testing.T, redis *redistest.Server) {
		t.Helper()
		for _, of := range [][]any{{"REPLICAOF", "127.0.0.1", "1"}, {"REPLICAOF", "NO", "ONE"}} {
			if _, err := redis.Do(t.Context(), of...); err != nil {
				t.Fatal(err)
			}
		}
	},
	"restarted": func(_ *testing.T, redis *redistest.Server) { redis.Restart() },
}

func TestFullRedis_LossOfHistory(t *testing.T) {
	t.Parallel()
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A restarted server reads its command line again, so that it is full from its start on.
			redis := redistest.Start(t, redistest.Args("--maxmemory", "1"))
			full(t, redis, "0")
			config := settings(t, func(c *configs.Config) {
				c.Redis.URL = configs.Secret(redis.URL())
				c.Worlds = []configs.World{group("world1", 3), duel("voice")}
			})
			i := launch(t, config)
			ana, ben, cem, dan, eve := i.greet("ana"), i.greet("ben"), i.greet("cem"), i.greet("dan"), i.greet("eve")
			match := matched(ana, ben, "voice")
			cem.join("world1")
			dan.join("voice")
			full(t, redis, "1")
			lose(t, redis)
			eventually(t, "a new epoch is entered", func() bool { return i.server.presence.Epochs() == 2 && i.server.Ready() })
			wantFields(t, ben.status()["match"].(object), object{"id": match["id"]})
			eve.refused(`"type":"join","world":"world1"`, "unavailable")
			wantFields(t, cem.ask(`"type":"leave"`), object{"worlds": []any{"world1"}})
			ana.leaveMatch(match)
			wantFields(t, i.greet("fay").status(), object{"queued": []any{}})
			if waiting := entries(dan.status(), "queued"); len(waiting) != 1 {
				t.Errorf("dan waits in %v", waiting)
			}
			other := launch(t, config) // a fresh one, while Redis is full
			other.greet("gus").refused(`"type":"join","world":"world1"`, "unavailable")
			full(t, redis, "0")
			eve.join("voice")
			eve.match()
			dan.match()
		})
	}
}
