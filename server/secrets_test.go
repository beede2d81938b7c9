package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/configs"
	"muster/internal/redistest"
)

// marker is in every secret of the test.
const marker = "hunter2"

// contents is everything that a Redis holds, as text.
func contents(t *testing.T, redis *redistest.Server) string {
	t.Helper()
	do := func(args ...any) any {
		reply, err := redis.Do(t.Context(), args...)
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return reply
	}
	read := map[any]func(key any) any{
		"string": func(key any) any { return do("GET", key) },
		"hash":   func(key any) any { return do("HGETALL", key) },
		"set":    func(key any) any { return do("SMEMBERS", key) },
		"zset":   func(key any) any { return do("ZRANGE", key, 0, -1) },
		"list":   func(key any) any { return do("LRANGE", key, 0, -1) },
		"stream": func(key any) any { return fmt.Sprint(do("XRANGE", key, "-", "+"), do("XINFO", "STREAM", key, "FULL")) },
	}
	var b strings.Builder
	for _, key := range do("KEYS", "*").([]any) {
		kind := do("TYPE", key)
		switch read := read[kind]; {
		case read != nil:
			fmt.Fprintln(&b, key, read(key))
		case kind != "none": // it has just ended
			t.Fatalf("%s is a %s", key, kind)
		}
	}
	return b.String()
}

// A secret of the settings reaches neither the log, nor Redis, nor an answer.
func TestSecrets_StayInTheSettings(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	if _, err := redis.Do(t.Context(), "ACL", "SETUSER", "muster", "on", ">"+marker, "~*", "&*", "+@all"); err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(receiver.Close)
	file := func(name, text string) string {
		name = filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	load := func(text string) (configs.Config, error) {
		return configs.Load(configs.Options{File: file("muster.yaml", text)})
	}
	secret := file("secret", marker)
	config, err := load(fmt.Sprintf(`
redis: {url: "redis://muster:%[1]s@%[2]s/0", recovery: 100ms}
listen: 127.0.0.1:0
ops_listen: ""
drain: 0s
webhooks: [{url: "%[3]s/hook/%[1]s?token=%[1]s", secret: %[1]s, events: [match.cancelled], attempts: 1}]
worlds:
- name: voice
  mode: duel
  allocator: {webhook_file: %[4]s, secret_file: %[5]s, attempts: 1}
`, marker, redis.Addr(), receiver.URL, file("url", receiver.URL+"/allocate/"+marker+"?token="+marker), secret))
	if err != nil {
		t.Fatal(err)
	}
	i := launch(t, config)
	ana, ben := i.greet("ana"), i.greet("ben")
	ana.join("voice")
	ben.join("voice")
	ana.next("match_cancelled")
	for paths := ""; !strings.Contains(paths, "/hook/") || !strings.Contains(paths, "/allocate/"); {
		paths += <-asked
	}
	eventually(t, "the delivery is given up", func() bool { return len(i.log.lines(t, "webhook delivery given up; see muster webhooks dead")) > 0 })
	said := contents(t, redis) + page(t, i.server.metrics)
	for _, wrong := range []string{
		"webhooks: [{url: 'ftp://h/" + marker + "', events: [match.ended]}]",
		"worlds: [{name: a, allocator: {webhook: 'http://h/?token=" + marker + "'}}]",
		"redis: {url: *" + marker + "}",
	} {
		i.server.opts.Reload = func() (configs.Config, error) { return load(wrong + "\n") }
		w := serve(i.server.opsHandler(), httptest.NewRequest(http.MethodPost, "/reload", http.NoBody))
		if w.Code != http.StatusUnprocessableEntity {
			t.Errorf("reload of %s: %d", wrong, w.Code)
		}
		said += w.Body.String()
	}
	i.stop()
	said += i.log.buf.String()
	for line := range strings.Lines(said) {
		if strings.Contains(line, marker) {
			t.Error(line)
		}
	}
	if !strings.Contains(said, "webhook_file") {
		t.Error("the settings of the world are not in Redis: the test looks at nothing")
	}
}
