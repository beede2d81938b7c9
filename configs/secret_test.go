package configs

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestSecretIsNeverShown(t *testing.T) {
	t.Parallel()
	const hidden = "hunter2"
	type holder struct{ S Secret }
	s := Secret(hidden)
	var shown strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		fmt.Fprintf(&shown, verb+verb+verb+"\n", s, holder{s}, &holder{s})
	}
	fmt.Fprintln(&shown, s, []Secret{s}, map[Secret]Secret{s: s}, errors.New(s.String()))
	slog.New(slog.NewTextHandler(&shown, nil)).Info("x", "s", s, "h", holder{s})
	slog.New(slog.NewJSONHandler(&shown, nil)).Info("x", "s", s, "h", holder{s})
	if text, err := yaml.Marshal(holder{s}); err != nil || string(text) != "s: '[redacted]'\n" {
		t.Errorf("YAML = %s, %v", text, err)
	}
	text, err := json.Marshal(holder{s})
	if want := `{"S":"[redacted]"}`; err != nil || string(text) != want {
		t.Errorf("JSON = %s, %v; want %s", text, err, want)
	}
	lower := strings.ToLower(shown.String())
	if strings.Contains(lower, hidden) || strings.Contains(lower, fmt.Sprintf("%x", hidden)) {
		t.Errorf("shown:\n%s", shown.String())
	}
	if s.Reveal() != hidden {
		t.Errorf("Reveal = %q", s.Reveal())
	}
	if got := fmt.Sprintf("%s|%q", Secret(""), Secret("")); got != `|""` {
		t.Errorf("no secret = %s", got)
	}
}

// Whatever is wrong with a secret, the problem does not repeat it.
func TestProblemsDoNotShowSecrets(t *testing.T) {
	t.Parallel()
	rejected{
		environ: []string{"MUSTER_AUTH_HS256_SECRET=hunter2"},
		want:    "MUSTER_AUTH_HS256_SECRET: auth.hs256_secret: must have at least 32 bytes",
	}.check(t)
}

// A URL may hold a token anywhere; what is wrong with a secret's neighbours does not show it either.
func TestProblems_ShowNoSecretOfAnySetting(t *testing.T) {
	t.Parallel()
	const worlds = "worlds: [{name: a, allocator: "
	refuse := func(string) error { return errors.New("refused") }
	bad := write(t, "bad", "ftp://u:hunter2@h/hunter2?token=hunter2")
	for _, file := range []string{
		"redis: {url: 'redis://u:hunter2@h'}", "redis: {url: {'redis://u:hunter2@h': 1}}", "redis: {url: *hunter2}",
		"journal: {url: 'postgres://u:hunter2@h'}", "auth: {hs256_secret: hunter2}", "auth: {hs256_secret: [hunter2]}",
		"webhooks: [{url: 'ftp://h/hunter2', events: [match.ended]}]", "webhooks: [{url: 'http:/h/hunter2', events: [match.ended]}]",
		"webhooks: [{url: 'http://h:hunter2', events: [match.ended]}]", "webhooks: [{url: 'http://h/%hunter2', events: [match.ended]}]",
		"webhooks: [{url: 'http://h', secret: hunter2}]", "webhooks: [{url_file: '" + bad + "', events: [match.ended]}]",
		"webhooks: [{url: 'http://h/hunter2', events: [match.ended]}, {url: 'http://h/hunter2', events: [match.ended]}]",
		"webhooks: 'http://h/hunter2'", "webhooks: ['http://h/hunter2']",
		worlds + "{webhook: 'ftp://h/hunter2'}}]", worlds + "{webhook: 'http://h/?token=hunter2'}}]", worlds + "{webhook: 'http://hunter2@h'}}]",
		worlds + "{webhook: 'http://h/#hunter2'}}]", worlds + "{webhook: 'http://h', secret: hunter2}}]", worlds + "{webhook_file: '" + bad + "'}}]",
		worlds + "{agones: {url: 'ftp://h/hunter2'}}}]", worlds + "{agones: {url: 'http://h/?hunter2'}}}]", worlds + "'http://h/hunter2'}]",
		worlds + "{agones: {url_file: '" + bad + "'}}}]", worlds + "{agones: {url: 'http://u:hunter2@h'}}}]",
	} {
		_, err := Load(Options{File: write(t, "muster.yaml", file+"\n"), CheckRedisURL: refuse, CheckJournalURL: refuse})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// Who adds a setting that may hold a secret gives it the type of one.
func TestSecrets_HaveTheirType(t *testing.T) {
	t.Parallel()
	suspect := regexp.MustCompile(`url|secret|password|token|webhook$`)
	sections(configType, func(s reflect.Type) {
		for _, f := range fields(s) {
			text := f.typ.Kind() == reflect.String && !strings.HasSuffix(f.key, twinSuffix)
			if text && f.typ != secretType && (suspect.MatchString(f.key) || f.tag.Get("form") == "http_url") {
				t.Errorf("%s.%s is a %s", s.Name(), f.key, f.typ)
			}
		}
	})
}

func TestTwins(t *testing.T) {
	t.Parallel()
	good := write(t, "url", "redis://u:hunter2@h\n")
	for name, o := range map[string]Options{
		"file":               {File: write(t, "m.yaml", "redis: {url: '', url_file: "+good+"}")},
		"environment":        {Environ: []string{"MUSTER_REDIS_URL_FILE=" + good}},
		"higher layer wins":  {File: write(t, "m.yaml", "redis: {url: redis://other}"), Environ: []string{"MUSTER_REDIS_URL_FILE=" + good}},
		"flag over its twin": {Environ: []string{"MUSTER_REDIS_URL_FILE=/nowhere"}, Flags: flags(t, "--redis-url=redis://u:hunter2@h")},
	} {
		if c := mustLoad(t, o); c.Redis.URL.Reveal() != "redis://u:hunter2@h" {
			t.Errorf("%s: redis.url = %q", name, c.Redis.URL.Reveal())
		}
	}
}

// Editors of Windows begin a file with a byte order mark.
func TestSecretFiles_HaveNoByteOrderMark(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, Options{Environ: []string{"MUSTER_REDIS_URL_FILE=" + write(t, "url", "\ufeffredis://h\r\n")}})
	if c.Redis.URL.Reveal() != "redis://h" {
		t.Errorf("redis.url = %q", c.Redis.URL.Reveal())
	}
	for _, text := range []string{"\xff\xfer\x00", "\xfe\xff\x00r"} {
		rejected{
			environ: []string{"MUSTER_REDIS_URL_FILE=" + write(t, "url", text)},
			want:    "MUSTER_REDIS_URL_FILE: redis.url_file: cannot be read: the file is UTF-16; save it as UTF-8",
		}.check(t)
	}
	rejected{
		environ: []string{"MUSTER_REDIS_URL_FILE=" + write(t, "url", "\ufeff\n")},
		want:    "MUSTER_REDIS_URL_FILE: redis.url_file: cannot be read: the file is empty",
	}.check(t)
}

func TestRefusedTwins(t *testing.T) {
	t.Parallel()
	bad := write(t, "bad", "hunter2")
	empty := write(t, "empty", "\r\n")
	large := write(t, "large", strings.Repeat("x", maxSecretBytes+1))
	dir := t.TempDir()
	for name, r := range map[string]rejected{
		"both":     {file: "redis:\n  url: redis://h\n  url_file: /x\n", want: "F:3: redis.url_file: is set as well as redis.url; give one of the two"},
		"missing":  {environ: []string{"MUSTER_REDIS_URL_FILE=/nowhere"}, want: `MUSTER_REDIS_URL_FILE: redis.url_file: cannot be read: "/nowhere": no such file or directory`},
		"not file": {environ: []string{"MUSTER_REDIS_URL_FILE=" + dir}, want: `MUSTER_REDIS_URL_FILE: redis.url_file: cannot be read: "` + dir + `": is a directory`},
		"empty":    {environ: []string{"MUSTER_REDIS_URL_FILE=" + empty}, want: "MUSTER_REDIS_URL_FILE: redis.url_file: cannot be read: the file is empty"},
		"large":    {environ: []string{"MUSTER_REDIS_URL_FILE=" + large}, want: "MUSTER_REDIS_URL_FILE: redis.url_file: cannot be read: the file has more than 65536 bytes"},
		"content": {environ: []string{"MUSTER_AUTH_HS256_SECRET_FILE=" + bad}, want: `
MUSTER_AUTH_HS256_SECRET_FILE: auth.hs256_secret_file: names a file whose text must have at least 32 bytes`},
		"in a list": {file: "webhooks:\n- url: http://h\n  events: [match.ended]\n  secret_file: /nowhere\n", want: `
F:4: webhooks[0].secret_file: cannot be read: "/nowhere": no such file or directory`},
		"in a world": {file: "worlds:\n- name: a\n  allocator: {webhook: http://h, secret: a, secret_file: /x}\n", want: `
F:3: worlds[0].allocator.secret_file: is set as well as worlds[0].allocator.secret; give one of the two`},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); r.check(t) })
	}
}
