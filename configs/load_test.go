package configs

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"
)

// write puts a file into a directory of the test and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// flags parses a command line.
func flags(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	fs := pflag.NewFlagSet("muster", pflag.ContinueOnError)
	AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return fs
}

// mustLoad loads what is right.
func mustLoad(t *testing.T, o Options) Config {
	t.Helper()
	c, err := Load(o)
	if err != nil {
		t.Fatalf("Load:\n%v", err)
	}
	return c
}

// diff compares values with their netip.Prefix by ==; an empty list is the same as none.
func diff(want, got any) string {
	return cmp.Diff(want, got, cmpopts.EquateComparable(netip.Prefix{}), cmpopts.EquateEmpty())
}

func TestNothingSetIsDefault(t *testing.T) {
	t.Parallel()
	want := Default()
	for name, o := range map[string]Options{
		"no sources":          {},
		"sample":              {File: write(t, "muster.yaml", string(Sample))},
		"empty file":          {File: write(t, "empty.yaml", "")},
		"headings only":       {File: write(t, "headings.yaml", "redis:\norigins:\nworlds:\n")},
		"flags not given":     {Flags: flags(t)},
		"other variables":     {Environ: []string{"HOME=/", "muster_realm=x", "MUSTERX=1", "MUSTER_NO_VALUE"}},
		"kubernetes services": {Environ: []string{"MUSTER_SERVICE_HOST=10.0.0.1", "MUSTER_PORT=tcp://10.0.0.1:80", "MUSTER_PORT_80_TCP_ADDR=10.0.0.1", "MUSTER_OPS_SERVICE_PORT_HTTP=1", "MUSTER_REDIS_PORT=tcp://10.0.0.2:6379"}},
	} {
		if d := diff(want, mustLoad(t, o)); d != "" {
			t.Errorf("%s: (-default +loaded)\n%s", name, d)
		}
	}
}

func TestDefault(t *testing.T) {
	t.Parallel()
	c := Default()
	world1, _ := c.World("world1")
	want := World{
		Name: "world1", State: WorldOpen, Mode: ModeGroup, Size: 3, Rooms: []string{"game", "chat"}, Tick: time.Second,
		Scan: 32, TicketTTL: time.Hour, MatchHold: time.Minute, PartyMax: 1,
	}
	if d := diff(want, world1); d != "" {
		t.Errorf("world1 (-want +got)\n%s", d)
	}
	voice, _ := c.World("voice")
	want = World{
		Name: "voice", State: WorldOpen, Mode: ModeDuel, Size: 2, Rooms: []string{"game"}, Tick: time.Second,
		Scan: 10, TicketTTL: time.Hour, MatchHold: time.Minute, PartyMax: 1,
	}
	if d := diff(want, voice); d != "" {
		t.Errorf("voice (-want +got)\n%s", d)
	}
	if _, ok := c.World("nowhere"); ok || len(c.Worlds) != 4 {
		t.Errorf("worlds = %d, nowhere found: %v", len(c.Worlds), ok)
	}
}

func TestEverySettingOfTheFileArrives(t *testing.T) {
	t.Parallel()
	got := mustLoad(t, Options{File: write(t, "muster.yaml", `
listen: "[::1]:80"
ops_listen: ""
realm: no
redis: {url: "redis://u:p@h:6379/1?addr=i:6379&master_name=m", recovery: 2s}
auth: {allow_dev: true}
origins: [https://a.example, "http://[::1]:8080", capacitor://localhost]
limits: {connections: 1, connections_per_ip: 2, messages_per_second: 3, worlds_per_player: 4, message_bytes: 2048,
  trusted_proxies: [10.0.0.0/8, 192.168.1.1, "::1"]}
presence: {heartbeat: 1s, ttl: 2s, reconnect_grace: 0s}
drain: 0s
log: {level: debug, format: json}
journal: {attempts: 3}
worlds:
  - {name: big, size: 40}
  - {name: small, mode: group, size: 2, scan: 2, rooms: [a, b], tick: 10ms, ticket_ttl: 1m, match_hold: 1s,
     queue_limit: 5, leave_on_close: true, state: closed}
  - {name: "1", mode: duel, size: 2, rematch_cooldown: 1m}
`)})
	want := Config{
		Listen: "[::1]:80", Realm: "no",
		Redis:   Redis{URL: "redis://u:p@h:6379/1?addr=i:6379&master_name=m", Recovery: 2 * time.Second},
		Auth:    Auth{Mode: AuthDev, AllowDev: true},
		Origins: []string{"https://a.example", "http://[::1]:8080", "capacitor://localhost"},
		Limits: Limits{
			Connections: 1, ConnectionsPerIP: 2, MessagesPerSecond: 3, WorldsPerPlayer: 4, MessageBytes: 2048,
			TrustedProxies: []netip.Prefix{
				netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.168.1.1/32"), netip.MustParsePrefix("::1/128"),
			},
		},
		Presence: Presence{Heartbeat: time.Second, TTL: 2 * time.Second},
		Log:      Log{Level: LogDebug, Format: LogJSON},
		Journal:  Journal{Attempts: 3},
		Worlds: []World{
			{
				Name: "big", State: WorldOpen, Mode: ModeGroup, Size: 40, Scan: 40, Rooms: []string{"game"},
				Tick: time.Second, TicketTTL: time.Hour, MatchHold: time.Minute, PartyMax: 1,
			},
			{
				Name: "small", State: WorldClosed, Mode: ModeGroup, Size: 2, Scan: 2, Rooms: []string{"a", "b"},
				Tick: 10 * time.Millisecond, TicketTTL: time.Minute, MatchHold: time.Second, QueueLimit: 5,
				LeaveOnClose: true, PartyMax: 1,
			},
			{
				Name: "1", State: WorldOpen, Mode: ModeDuel, Size: 2, Scan: 10, Rooms: []string{"game"},
				Tick: time.Second, TicketTTL: time.Hour, MatchHold: time.Minute, PartyMax: 1, RematchCooldown: time.Minute,
			},
		},
	}
	if d := diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	file := write(t, "muster.yaml", "realm: file\nlisten: 127.0.0.1:1\nops_listen: 127.0.0.1:2\norigins: [https://file.example, https://b.example]\n")
	environ := []string{
		"MUSTER_REALM=env", "MUSTER_LISTEN=127.0.0.1:3", "MUSTER_PRESENCE_TTL=1m", "MUSTER_AUTH_ALLOW_DEV=true",
		"MUSTER_ORIGINS=https://env.example", "MUSTER_LIMITS_TRUSTED_PROXIES=10.0.0.0/8, ::1", "MUSTER_LOG_LEVEL=warn",
		"MUSTER_LOG_FORMAT=json",
	}
	got := mustLoad(t, Options{File: file, Environ: environ, Flags: flags(t, "--realm=flag", "--log-level", "error", "--redis-url=unix:///run/redis")})

	want := Default()
	want.Realm = "flag"
	want.Listen = "127.0.0.1:3"
	want.OpsListen = "127.0.0.1:2"
	want.Presence.TTL = time.Minute
	want.Auth.AllowDev = true
	want.Origins = []string{"https://env.example"}
	want.Limits.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	want.Log = Log{Level: LogError, Format: LogJSON}
	want.Redis.URL = "unix:///run/redis"
	if d := diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestEmptyOverrides(t *testing.T) {
	t.Parallel()
	file := write(t, "muster.yaml", "origins: [https://a.example]\nredis: {url: redis://h}\n")
	c := mustLoad(t, Options{File: file, Environ: []string{"MUSTER_ORIGINS=", "MUSTER_REDIS_URL=", "MUSTER_OPS_LISTEN="}})
	if len(c.Origins) != 0 || c.Redis.URL != "" || c.OpsListen != "" {
		t.Errorf("origins %q, redis.url set: %v, ops_listen %q; want all empty", c.Origins, c.Redis.URL != "", c.OpsListen)
	}
}

func TestGoodValueOfAHigherLayerDoesNotExcuseABadFile(t *testing.T) {
	t.Parallel()
	file := write(t, "muster.yaml", "drain: soon\n")
	_, err := Load(Options{File: file, Environ: []string{"MUSTER_DRAIN=1s"}})
	var ps Problems
	if !errors.As(err, &ps) || len(ps) != 1 || ps[0].Line != 1 || ps[0].Key != "drain" || ps[0].Source != file {
		t.Errorf("err = %v", err)
	}
}

func TestErrorIsOneProblemALine(t *testing.T) {
	t.Parallel()
	_, err := Load(Options{File: write(t, "x.yaml", "realm: a b\nfoo: 1\n"), Environ: []string{"MUSTER_DRAIN=x"}, Flags: flags(t, "--listen=x")})
	var ps Problems
	if !errors.As(err, &ps) || len(ps) != 4 || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("err = %v", err)
	}
}
