package server

import (
	"net/http"
	"testing"

	"muster/configs"
	"muster/internal/redistest"
)

// A Redis 7 user without the right to its channels could write all that a join changes, and then fail to publish it.
func TestInstance_IsNotReadyWithoutChannels(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	user := func(rule ...any) {
		if _, err := redis.Do(t.Context(), append([]any{"ACL", "SETUSER", "muster", "on", ">pw"}, rule...)...); err != nil {
			t.Fatal(err)
		}
	}
	user("+@all", "~*", "resetchannels")
	config := settings(t, func(c *configs.Config) {
		c.Redis.URL = configs.Secret("redis://muster:pw@" + redis.Addr())
		c.Worlds = []configs.World{duel("voice")}
	})
	i := launchUnready(t, config)
	pattern := "mm:{" + config.Realm + "}:*"
	sentence := `redis user "muster" may not run PUBLISH, SUBSCRIBE with channels ` + pattern + ": add +publish +subscribe &" + pattern
	eventually(t, "the log names the right", func() bool { return len(i.log.lines(t, sentence)) == 1 })
	if status := i.call("", get, "/readyz", "").status; status != http.StatusServiceUnavailable {
		t.Errorf("readyz answers %d", status)
	}
	if a := i.call("ana", post, joinPath, `{"world":"voice"}`); a.status != http.StatusServiceUnavailable {
		t.Errorf("a join is answered %d: %v", a.status, a.body)
	}
	if n, err := redis.Do(t.Context(), "HEXISTS", "mm:{"+config.Realm+"}:meta", "epoch"); err != nil || n != int64(0) {
		t.Errorf("an epoch was opened (%v), %v", n, err)
	}
	user("&" + pattern)
	eventually(t, "it is ready", i.server.Ready)
	i.greet("ana").join("voice")
	if n := len(i.log.lines(t, sentence)); n != 1 {
		t.Errorf("the sentence is logged %d times", n)
	}
}
