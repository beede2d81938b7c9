package cli

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/configs"
	"muster/internal/logqueue"
)

// check runs `muster --check` on a file with the text and returns its output, in which the file is called F.
func check(t *testing.T, text string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "muster.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return run(t, file, "--check", "--config", file)
}

// run runs a command; its output includes the error.
func run(t *testing.T, file string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	stderr := logqueue.New(io.Discard, logqueue.DefaultBytes)
	t.Cleanup(func() { _ = stderr.Close(time.Minute) }) // what is discarded is written in time
	cmd := command(stderr)
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	err := cmd.ExecuteContext(t.Context())
	text := out.String()
	if err != nil {
		text += err.Error()
	}
	return strings.ReplaceAll(text, file, "F"), err
}

func TestCheck_AcceptsWhatTheLibrariesTake(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"redis: {url: 'redis://redis_1:6379/0'}",
		"redis: {url: 'redis://u:pa%23ss@redis_1:6379?pool_size=20'}",
		"redis: {url: 'rediss://a_1:1?addr=a_2:2'}",
		"redis: {url: 'redis://s:t@a_1:1?addr=b:2&master_name=m&username=u&password=p@ss'}",
		"redis: {url: 'unix:///run/redis.sock?db=1'}",
		"redis: {url: 'redis://'}",
		"journal: {url: 'postgres://u:p@a:1,b_2:2/d?target_session_attrs=read-write'}",
		"journal: {url: 'postgres:///d?host=/run/postgresql'}",
		"journal: {url: 'postgres://u@%2Frun%2Fpostgresql/d?sslmode=disable&pool_max_conns=4'}",
		"journal: {url: 'postgresql://h/d?application_name=m'}",
		"journal: {url: 'host=/run/postgresql user=u password=a#b dbname=d'}",
		"webhooks: [{url: 'http://game_server:80/hook', events: [match.ended]}]",
		"worlds: [{name: a, allocator: {webhook: 'http://allocator_1/a'}}]",
		"worlds: [{name: a, allocator: {agones: {url: 'http://agones_1'}}}]",
		"origins: ['http://my_host:3000']",
	} {
		if out, err := check(t, text); err != nil || out != "settings are in order\n" {
			t.Errorf("%s:\n%s", text, out)
		}
	}
}

func TestCheck_SaysWhyAURLCannotBeUsed(t *testing.T) {
	t.Parallel()
	const encode = " (in a user or a password, percent-encode / ? # @ : % and spaces)"
	for text, want := range map[string]string{
		"redis: {url: 'redis://:hun#ter2@h:6379'}":               "redis.url: has a #, behind which nothing is read: write it as %23",
		"redis: {url: 'redis://u:12#hunter2@h:6379'}":            "redis.url: has a #, behind which nothing is read: write it as %23",
		"redis: {url: 'redis://:hun/ter2@h:6379'}":               "redis.url: cannot be used: invalid port … after host" + encode,
		"redis: {url: 'redis://:hun%zzter2@h:6379'}":             "redis.url: cannot be used: invalid URL escape …" + encode,
		"redis: {url: 'redis://u:hunter2@h:6379?poolsize=4'}":    "redis.url: cannot be used: unexpected option: poolsize",
		"redis: {url: 'redis://h?addr=h:1&poolsize=4'}":          "redis.url: cannot be used: unexpected option: poolsize",
		"redis: {url: 'redis://h?master_name=m&hunter2=1@'}":     "redis.url: cannot be used: unexpected option: …" + encode,
		"redis: {url: 'redis://u:hunter2@h:6379?pool_size=x'}":   "redis.url: cannot be used: invalid pool_size number: strconv.Atoi: parsing …: invalid syntax",
		"redis: {url: 'http://u:hunter2@h'}":                     "redis.url: cannot be used: invalid URL scheme: …",
		"redis: {url: 'hunter2'}":                                "redis.url: cannot be used: invalid URL scheme:",
		"redis: {url: 'redis://u:hunter2@h:70000'}":              "redis.url: cannot be used: invalid port, 1 to 65535 are possible",
		"journal: {url: 'postgres://u:hun#ter2@h/d'}":            "journal.url: has a #, behind which nothing is read: write it as %23",
		"journal: {url: 'postgres://u:hunter2@h/d?sslmode=hun'}": "journal.url: cannot be used: failed to configure TLS (sslmode is invalid)",
		"journal: {url: 'postgres://u:hunter2@h/d?pool_max_conns=x'}": "journal.url: cannot be used: " +
			"cannot parse pool_max_conns (strconv.ParseInt: parsing …: invalid syntax)",
		"journal: {url: 'postgres://u:hun/ter2@h/d'}":                    "journal.url: cannot be used: invalid port" + encode,
		"journal: {url: 'mysql://u:hunter2@h/d'}":                        "journal.url: cannot be used: failed to parse as keyword/value (invalid keyword/value)",
		"journal: {url: 'postgres://u:hunter2@a,b/d?port=1,2,3'}":        "journal.url: cannot be used: could not match … port numbers to … hosts",
		"webhooks: [{url: 'http://', events: [match.ended]}]":            "webhooks[0].url: must be a URL with a host, and with special characters percent-encoded",
		"webhooks: [{url: 'http://h:x/hunter2', events: [match.ended]}]": "webhooks[0].url: must be a URL with a host, and with special characters percent-encoded",
	} {
		out, err := check(t, text)
		if err == nil || out != "F:1: "+want || strings.Contains(out, "ter2") {
			t.Errorf("%s:\n%s\nwant\nF:1: %s", text, out, want)
		}
	}
}

func TestCheck_WarnsOfAPasswordOnTheCommandLine(t *testing.T) {
	t.Parallel()
	for address, warns := range map[string]bool{
		"redis://h": false, "redis://u@h": false, "unix:///s": false,
		"redis://u:hunter2@h": true, "redis://h?master_name=m&password=hunter2": true,
	} {
		for _, args := range [][]string{{"--check", "--redis-url", address}, {"matches", "--redis-url", address}} {
			out, _ := run(t, "F", args...) // matches fails without a journal
			if strings.Contains(out, "warning: "+passwordOnCommandLine) != warns || strings.Contains(out, "hunter2") {
				t.Errorf("%s %s:\n%s", args[0], address, out)
			}
		}
	}
}

func TestConfig_PrintsASampleThatIsInOrder(t *testing.T) {
	t.Parallel()
	sample, err := run(t, "F", "config")
	if err != nil || !strings.HasPrefix(sample, "# Settings of Muster.") {
		t.Fatalf("%v: %.100s", err, sample)
	}
	if out, err := check(t, sample); err != nil {
		t.Error(out)
	}
}

func TestHelp_HasExamplesVariablesAndExitCodes(t *testing.T) {
	t.Parallel()
	out, err := run(t, "F", "--help")
	for _, part := range []string{"Examples:", "muster config > muster.yaml", "MUSTER_REDIS_URL", "Exit codes:", "  2  ", "  3  ", "SIGHUP"} {
		if err != nil || !strings.Contains(out, part) {
			t.Errorf("%v: %q is not in\n%s", err, part, out)
		}
	}
}

func TestCommands_AreSuggested(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"serv":               `"serv" is no command; did you mean serve? see muster --help`,
		"helth":              `"helth" is no command; did you mean health? see muster --help`,
		"journal ded":        `"ded" is no command; did you mean dead? see muster --help`,
		"nonsense":           `"nonsense" is no command; see muster --help`,
		"redis://u:hunter@h": `an address is no command; see muster --help`,
	} {
		if out, err := run(t, "F", strings.Fields(args)...); err == nil || out != want {
			t.Errorf("%s: %s, want %s", args, out, want)
		}
	}
}

func TestFlags_AreSuggested(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--confg x":                 "unknown flag: --confg; did you mean --config? see muster --help",
		"load --player 3":           "unknown flag: --player; did you mean --players? see muster load --help",
		"webhooks dead --redis-ulr": "unknown flag: --redis-ulr; did you mean --redis-url? see muster webhooks dead --help",
		"journal replay --nonsense": "unknown flag: --nonsense; see muster journal replay --help",
		"load -x":                   "unknown shorthand flag: 'x' in -x; see muster load --help",
	} {
		if out, err := run(t, "F", strings.Fields(args)...); err == nil || out != want {
			t.Errorf("%s: %s, want %s", args, out, want)
		}
	}
}

func TestHealth_SaysReady(t *testing.T) {
	t.Parallel()
	ready := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !ready {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(`{"status":"ready"}`))
	}))
	t.Cleanup(server.Close)
	if out, err := run(t, "F", "health", "--url", server.URL); err != nil || out != "ready\n" {
		t.Errorf("%v: %s", err, out)
	}
	ready = false
	if out, err := run(t, "F", "health", "--url", server.URL); err == nil || !strings.Contains(out, "503") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestReceiver_ShowsNoToken(t *testing.T) {
	t.Parallel()
	known := []configs.Webhook{{URL: "https://h/hunter1"}, {URL: "https://h/hunter2"}}
	for address, want := range map[string]string{
		"https://h/hunter2": "https://h (webhooks[1])",
		"https://h/hunter3": "https://h",
	} {
		if got := receiver(address, known); got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
}
