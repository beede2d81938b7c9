package configs

import (
	"path/filepath"
	"strings"
	"testing"
)

// rejected is a file, environment and command line that must be refused with just these problems; in
// the expected text the file is called F.
type rejected struct {
	file    string
	environ []string
	args    []string
	want    string
}

func (r rejected) check(t *testing.T) {
	t.Helper()
	o := Options{Environ: r.environ, Flags: flags(t, r.args...)}
	if r.file != "" {
		o.File = write(t, "muster.yaml", strings.TrimPrefix(r.file, "\n"))
	}
	_, err := Load(o)
	if err == nil {
		t.Fatal("no problem")
	}
	got := err.Error()
	if o.File != "" {
		got = strings.ReplaceAll(got, filepath.Dir(o.File), "DIR")
		got = strings.ReplaceAll(got, "DIR/muster.yaml", "F")
	}
	if want := strings.Trim(r.want, "\n"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

const groupKeys = "name, state, mode, size, rooms, tick, scan, ticket_ttl, match_hold, queue_limit, ready_check, " +
	"decline_cooldown, party_max, leave_on_close, rematch_cooldown, seat_hold, max_matches_per_second, allocator, " +
	"teams, rules, roles, balance, expansions"

func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]rejected{
		"not YAML":          {file: "realm: [a\n", want: "F:1: is not YAML about here: did not find expected ',' or ']'"},
		"a word":            {file: "realm\n", want: "F:1: must be a section of keys"},
		"a list":            {file: "- realm\n", want: "F:1: must be a section of keys"},
		"two documents":     {file: "realm: a\n---\nrealm: b\n", want: "F:2: a second YAML document starts here; only one is read"},
		"broken second":     {file: "realm: a\n---\nrealm: [b\n", want: "F:2: is not YAML about here: did not find expected ',' or ']'"},
		"no YAML in line 1": {file: "realm: ]", want: "F:1: is not YAML about here: did not find expected node content"},
		"bytes":             {file: "realm: \xff", want: "F:1: is not YAML about here: invalid leading UTF-8 octet"},
		"key twice":         {file: "realm: a\nrealm: b\n", want: "F:2: realm: is set a second time; the first is in line 1"},
		"key not a word":    {file: "[a]: b\n", want: "F:1: has a key that is not a word"},
		"alias":             {file: "realm: &a b\nlisten: *a\n", want: "F:2: listen: is a YAML alias, which is not understood: write the value out"},
		"section is value":  {file: "redis: x\n", want: "F:1: redis: must be a section of keys"},
		"list is value":     {file: "origins: x\n", want: "F:1: origins: must be a list"},
		"value is list":     {file: "realm: [x]\n", want: "F:1: realm: must be a single value"},
		"no value":          {file: "realm:\n", want: `F:1: realm: has no value; "" is the empty text`},
		"unknown in nested": {file: "presence:\n  ttl: 1m\n  tttl: 1\n", want: "F:3: presence.tttl: is not a known key; did you mean ttl? known here: heartbeat, ttl, reconnect_grace"},
		"unknown in world":  {file: "worlds:\n- name: a\n  sise: 3\n", want: "F:3: worlds[0].sise: is not a known key; did you mean size? known here: " + groupKeys},
		"merge key": {file: "redis: &r {}\nlog: {<<: *r}\n",
			want: "F:2: log.<<: is not a known key; known here: level, format"},

		"listen":         {file: "listen: here\n", want: `F:1: listen: must be host:port, such as 127.0.0.1:8080 or :8080 for all addresses, is "here"`},
		"listen port":    {file: "listen: 127.0.0.1:70000\n", want: `F:1: listen: must be host:port, such as 127.0.0.1:8080 or :8080 for all addresses, is "127.0.0.1:70000"`},
		"listen empty":   {file: "listen: ''\n", want: `F:1: listen: must be host:port, such as 127.0.0.1:8080 or :8080 for all addresses, is ""`},
		"ops listen":     {file: "ops_listen: '9090'\n", want: `F:1: ops_listen: must be host:port, such as 127.0.0.1:9090, or empty for off, is "9090"`},
		"same address":   {file: "listen: 127.0.0.1:9090\n", want: `F:1: listen: listen and ops_listen must differ, both are "127.0.0.1:9090"`},
		"realm":          {file: "realm: a b\n", want: `F:1: realm: must be an id: 1 to 64 characters out of A-Z a-z 0-9 . _ : @ -, is "a b"`},
		"duration":       {file: "drain: 10\n", want: `F:1: drain: must be a duration from 0s to 10m, such as 1500ms or 30s, is "10"`},
		"negative":       {file: "drain: -1s\n", want: `F:1: drain: must be a duration from 0s to 10m, such as 1500ms or 30s, is "-1s"`},
		"recovery":       {file: "redis: {recovery: 2m}\n", want: `F:1: redis.recovery: must be a duration from 100ms to 1m, such as 1500ms or 30s, is "2m"`},
		"number":         {file: "limits: {connections: many}\n", want: `F:1: limits.connections: must be a whole number from 1 to 10000000, is "many"`},
		"fraction":       {file: "limits: {message_bytes: 2048.5}\n", want: `F:1: limits.message_bytes: must be a whole number from 1024 to 1048576, is "2048.5"`},
		"switch":         {file: "auth: {allow_dev: yes}\n", want: `F:1: auth.allow_dev: must be true or false, is "yes"`},
		"log level":      {file: "log: {level: loud}\n", want: `F:1: log.level: must be trace, debug, info, warn or error, is "loud"`},
		"auth mode":      {file: "auth: {mode: none}\n", want: `F:1: auth.mode: must be dev or token, is "none"`},
		"proxy":          {file: "limits:\n  trusted_proxies:\n  - 10.0.0.0/8\n  - 10.0.0.1/8\n", want: `F:4: limits.trusted_proxies[1]: must be an address or a network such as 10.0.0.0/8, with no bits set behind its length, is "10.0.0.1/8"`},
		"proxy twice":    {file: "limits: {trusted_proxies: [10.0.0.1, 10.0.0.1/32]}\n", want: `F:1: limits.trusted_proxies[1]: is the same network a second time: 10.0.0.1/32`},
		"long value":     {file: "realm: " + strings.Repeat("ä", 65) + "\n", want: `F:1: realm: must be an id: 1 to 64 characters out of A-Z a-z 0-9 . _ : @ -, is "` + strings.Repeat("ä", 30) + `…"`},
		"ttl":            {file: "presence:\n  heartbeat: 10s\n  ttl: 19s\n", want: `F:3: presence.ttl: presence.ttl must be at least twice presence.heartbeat, so 20s, is 19s`},
		"heartbeat":      {file: "presence:\n  heartbeat: 20s\n", want: `F:2: presence.heartbeat: presence.ttl must be at least twice presence.heartbeat, so 40s, is 25s`},
		"bad heartbeat":  {file: "presence:\n  heartbeat: x\n  ttl: 5s\n", want: `F:2: presence.heartbeat: must be a duration from 10ms to 10m, such as 1500ms or 30s, is "x"`},
		"dev in public":  {file: "listen: :8080\n", want: `F:1: listen: must be a loopback address such as 127.0.0.1:8080 while auth.mode is dev, where clients name themselves, unless auth.allow_dev is true, is ":8080"`},
		"dev by name":    {file: "listen: game.example:80\n", want: `F:1: listen: must be a loopback address such as 127.0.0.1:8080 while auth.mode is dev, where clients name themselves, unless auth.allow_dev is true, is "game.example:80"`},
		"secret in dev":  {file: "auth:\n  hs256_secret: 0123456789abcdef0123456789abcdef\n", want: `F:2: auth.hs256_secret: is for auth.mode token, but auth.mode is dev, which checks no tokens`},
		"issuer in dev":  {file: "auth: {issuer: me}\n", want: `F:1: auth.issuer: is for auth.mode token, but auth.mode is dev, which checks no tokens`},
		"short secret":   {file: "auth: {hs256_secret: hunter2}\n", want: `F:1: auth.hs256_secret: must have at least 32 bytes`},
		"origin twice":   {file: "origins: [https://a.example, https://a.example]\n", want: `F:1: origins[1]: is the same origin a second time: https://a.example`},
		"empty worlds":   {file: "worlds: []\n", want: `F:1: worlds: must not be an empty list`},
		"worlds section": {file: "worlds: {a: b}\n", want: `F:1: worlds: must be a list`},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); r.check(t) })
	}
}

func TestRefusedWorlds(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]rejected{
		"no name":      {file: "worlds:\n- size: 3\n", want: "F:2: worlds[0].name: is missing"},
		"nothing":      {file: "worlds:\n- name: a\n-\n- name: a\n", want: "F:3: worlds[1]: must be a section of keys\nF:4: worlds[2].name: must be a name of its own; \"a\" is that of worlds[0] in line 2"},
		"bad name":     {file: "worlds:\n- name: a/b\n", want: `F:2: worlds[0].name: must be an id: 1 to 64 characters out of A-Z a-z 0-9 . _ : @ -, is "a/b"`},
		"same name":    {file: "worlds:\n- name: a\n- name: b\n- size: 3\n  name: a\n", want: `F:5: worlds[2].name: must be a name of its own; "a" is that of worlds[0] in line 2`},
		"mode":         {file: "worlds: [{name: a, mode: solo}]\n", want: `F:1: worlds[0].mode: must be group, duel, rules or fill, is "solo"`},
		"state":        {file: "worlds: [{name: a, state: shut}]\n", want: `F:1: worlds[0].state: must be open or closed, is "shut"`},
		"size small":   {file: "worlds: [{name: a, size: 1}]\n", want: `F:1: worlds[0].size: must be a whole number from 2 to 100, is "1"`},
		"size large":   {file: "worlds: [{name: a, size: 101}]\n", want: `F:1: worlds[0].size: must be a whole number from 2 to 100, is "101"`},
		"scan":         {file: "worlds:\n- name: a\n  size: 5\n  scan: 4\n", want: `F:4: worlds[0].scan: must be at least size, so 5, is 4`},
		"size of duel": {file: "worlds:\n- name: a\n  mode: duel\n  size: 3\n", want: `F:4: worlds[0].size: must be 2 in a world of mode duel, or left out, is 3`},
		"tick":         {file: "worlds: [{name: a, tick: 1ms}]\n", want: `F:1: worlds[0].tick: must be a duration from 10ms to 1m, such as 1500ms or 30s, is "1ms"`},
		"no rooms":     {file: "worlds: [{name: a, rooms: []}]\n", want: `F:1: worlds[0].rooms: must not be an empty list`},
		"room name":    {file: "worlds: [{name: a, rooms: [game, 'b b']}]\n", want: `F:1: worlds[0].rooms[1]: must be an id: 1 to 64 characters out of A-Z a-z 0-9 . _ : @ -, is "b b"`},
		"room twice":   {file: "worlds: [{name: a, rooms: [game, game]}]\n", want: `F:1: worlds[0].rooms[1]: is the same room a second time: game`},
		"rooms":        {file: "worlds: [{name: a, rooms: [a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q]}]\n", want: `F:1: worlds[0].rooms: must be at most 16 rooms, is 17`},
		"cooldown":     {file: "worlds: [{name: a, rematch_cooldown: 1m}]\n", want: `F:1: worlds[0].rematch_cooldown: is for a world of mode duel only, and the mode is group`},
		"seat hold":    {file: "worlds: [{name: a, seat_hold: 1m}]\n", want: `F:1: worlds[0].seat_hold: is for a world of mode fill only, and the mode is group`},
		"balance":      {file: "worlds: [{name: a, mode: duel, balance: rating}]\n", want: `F:1: worlds[0].balance: is for a world of mode rules only, and the mode is duel`},
		"queue limit":  {file: "worlds: [{name: a, queue_limit: -1}]\n", want: `F:1: worlds[0].queue_limit: must be a whole number from 0 to 10000000, is "-1"`},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); r.check(t) })
	}
}

func TestRefusedEnvironmentAndFlags(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]rejected{
		"unknown variable": {environ: []string{"MUSTER_REDIS_URI=x"}, want: "MUSTER_REDIS_URI: is not a known variable; did you mean MUSTER_REDIS_URL? they are named as the keys of the file, such as MUSTER_REDIS_URL for redis.url"},
		"worlds":           {environ: []string{"MUSTER_WORLDS=a"}, want: "MUSTER_WORLDS: worlds: can be set in the file only"},
		"value":            {environ: []string{"MUSTER_PRESENCE_HEARTBEAT=10"}, want: `MUSTER_PRESENCE_HEARTBEAT: presence.heartbeat: must be a duration from 10ms to 10m, such as 1500ms or 30s, is "10"`},
		"list":             {environ: []string{"MUSTER_LIMITS_TRUSTED_PROXIES=::1,x"}, want: `MUSTER_LIMITS_TRUSTED_PROXIES: limits.trusted_proxies[1]: must be an address or a network such as 10.0.0.0/8, with no bits set behind its length, is "x"`},
		"between layers":   {file: "presence: {heartbeat: 30s}\n", environ: []string{"MUSTER_PRESENCE_TTL=40s"}, want: `MUSTER_PRESENCE_TTL: presence.ttl: presence.ttl must be at least twice presence.heartbeat, so 1m0s, is 40s`},
		"flag":             {args: []string{"--log-format=xml"}, want: `--log-format: log.format: must be auto, console or json, is "xml"`},
		"public by flag":   {args: []string{"--listen=0.0.0.0:80"}, want: `--listen: listen: must be a loopback address such as 127.0.0.1:8080 while auth.mode is dev, where clients name themselves, unless auth.allow_dev is true, is "0.0.0.0:80"`},
		"all at once": {
			file:    "realm: ''\nworlds:\n- name: a\n  size: 200\n",
			environ: []string{"MUSTER_X=1", "MUSTER_DRAIN=?"},
			args:    []string{"--listen", "x"},
			want: `
F:1: realm: must be an id: 1 to 64 characters out of A-Z a-z 0-9 . _ : @ -, is ""
F:4: worlds[0].size: must be a whole number from 2 to 100, is "200"
MUSTER_DRAIN: drain: must be a duration from 0s to 10m, such as 1500ms or 30s, is "?"
MUSTER_X: is not a known variable; they are named as the keys of the file, such as MUSTER_REDIS_URL for redis.url
--listen: listen: must be host:port, such as 127.0.0.1:8080 or :8080 for all addresses, is "x"`,
		},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); r.check(t) })
	}
}

func TestMissingFile(t *testing.T) {
	t.Parallel()
	_, err := Load(Options{File: "/nowhere/muster.yaml"})
	if want := `/nowhere/muster.yaml: cannot be read: "/nowhere/muster.yaml": no such file or directory`; err == nil || err.Error() != want {
		t.Errorf("err = %v, want %s", err, want)
	}
}
