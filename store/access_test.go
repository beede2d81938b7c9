package store

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/internal/redistest"
	"muster/lua"
)

// aclLine is the line of docs/operations.md with the rights that Muster needs, without the command in front.
func aclLine(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^ *user muster (on >PASSWORD .*)$`).FindAllStringSubmatch(string(page), -1)
	if len(lines) != 1 {
		t.Fatalf("docs/operations.md has %d lines `user muster on >PASSWORD …`, want one", len(lines))
	}
	return lines[0][1]
}

// addUser makes a user of a rule as it stands in an ACL file, for a realm other than main.
func addUser(t *testing.T, server *redistest.Server, name, realm, rule string) {
	t.Helper()
	rule = strings.ReplaceAll(rule, "mm:{main}:", "mm:{"+realm+"}:")
	args := []any{"ACL", "SETUSER", name, "reset"}
	for _, part := range strings.Fields(rule) {
		args = append(args, part)
	}
	if _, err := server.Do(t.Context(), args...); err != nil {
		t.Fatal(err)
	}
}

func TestAccess_DocumentedLineIsWhatIsChecked(t *testing.T) {
	t.Parallel()
	var s Store
	want := []string{"on", ">PASSWORD", "~mm:{main}:*", "&mm:{main}:*", "-@all"}
	for _, command := range s.neededCommands() {
		name, _, _ := strings.Cut(command, " ")
		want = append(want, "+"+name)
	}
	if diff := cmp.Diff(strings.Join(want, " "), aclLine(t)); diff != "" {
		t.Errorf("the line of docs/operations.md (-want +got):\n%s", diff)
	}
}

// TestAccess_ListsCommandsOfScripts: a script with a new command needs a right for it.
func TestAccess_ListsCommandsOfScripts(t *testing.T) {
	t.Parallel()
	scripts, err := lua.Load(false, codeNames)
	if err != nil {
		t.Fatal(err)
	}
	var s Store
	for name, script := range scripts {
		for _, m := range regexp.MustCompile(`(?:redis\.p?call|write_many|write_last|read_many)\('([A-Z]+)'`).FindAllStringSubmatch(script.Text, -1) {
			needed := regexp.MustCompile("(?m)^" + strings.ToLower(m[1]) + `\b`)
			if !needed.MatchString(strings.Join(s.neededCommands(), "\n")) {
				t.Errorf("%s runs %s, which is not among the commands that are checked", name, m[1])
			}
		}
	}
}

// TestAccess_DocumentedLineSuffices does all that the package can do as the user of docs/operations.md.
func TestAccess_DocumentedLineSuffices(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	w, d := group("trio", 3), duel("duel", time.Minute)
	be := backend{url: func(testing.TB) string { return "redis://muster:PASSWORD@" + server.Addr() + "/0" }}
	admin := asAdmin(t, server) // closed after the realm was emptied
	b := newRealm(t, be, 2)
	b.rdb = admin
	addUser(t, server, "muster", b.realm, aclLine(t))
	b.openEpoch()
	b.step(testRecovery + time.Millisecond)
	b.renew()
	b.declare(w, d)
	callAll(b, w, d)
	s := b.stores[0]
	subscribed := make(chan struct{}, 1)
	go s.Subscribe(t.Context(), func(Notification) {}, func() {
		select {
		case subscribed <- struct{}{}:
		default:
		}
	})
	<-subscribed
	r, err := s.Stream("g", time.Millisecond)
	b.must(err)
	b.must(r.Begin(b.ctx, true))
	entries, err := r.Read(b.ctx, 3, time.Millisecond)
	if err != nil || len(entries) != 3 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	b.must(r.Ack(b.ctx, entries[0]))
	b.must(r.Bury(b.ctx, entries[1], "no good"))
	b.must(r.Postpone(b.ctx, entries[2], 0))
	for deadline := time.Now().Add(10 * time.Second); ; {
		claimed, err := r.Claim(b.ctx, 1)
		b.must(err)
		if len(claimed) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("what was postponed is not claimed")
		}
	}
	letters, err := s.DeadLetters(b.ctx, "", 10)
	b.must(err)
	b.must(s.PutBack(b.ctx, letters[0].ID))
	b.must(r.Tidy(b.ctx))
	b.must(r.dropConsumers(b.ctx, 0))
	b.must(second(s.StreamLength(b.ctx)))
	if _, err := server.Do(b.ctx, "HSET", b.key("sg"), "g", 1); err != nil { // read long ago
		t.Fatal(err)
	}
	b.must(s.TidyStream(b.ctx))
	b.must(second(s.Inspect(b.ctx)))
	b.must(second(s.RenewLease(b.ctx)))
}

// sentenceOf is what a Store says that opens an epoch at a URL.
func sentenceOf(t *testing.T, rawURL string) string {
	t.Helper()
	s, err := Open(Options{URL: rawURL, Realm: "main", Instance: "a", PresenceTTL: time.Minute, CallTimeout: testCallTimeout})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // of no use any more
	_, err = s.OpenEpoch(t.Context(), 0)
	var setup *SetupError
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &setup), !errors.Is(err, ErrUnavailable):
		return fmt.Sprintf("%v (%T)", err, err)
	}
	return setup.Sentence
}

func TestAccess_NamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	for name, c := range map[string]struct{ rule, want string }{
		"all":       {"", ""},
		"info":      {"-info", `redis user "muster" may not run INFO: add +info`},
		"two":       {"-xadd -xgroup|create", `redis user "muster" may not run XADD, XGROUP CREATE: add +xadd +xgroup|create`},
		"eval":      {"-eval", `redis user "muster" may not run EVAL: add +eval`},
		"keys":      {"resetkeys ~other:*", `redis user "muster" may not read and write all keys mm:{main}:*: add ~mm:{main}:*`},
		"some keys": {"resetkeys ~mm:{main}:m*", `redis user "muster" may not read and write all keys mm:{main}:*: add ~mm:{main}:*`},
		"reading":   {"resetkeys %R~mm:{main}:*", `redis user "muster" may not read and write all keys mm:{main}:*: add ~mm:{main}:*`},
		"channels": {"resetchannels", `redis user "muster" may not run PUBLISH, SUBSCRIBE with channels mm:{main}:*: ` +
			`add +publish +subscribe &mm:{main}:*`},
		"own channel": {"resetchannels &mm:{main}:i:a", `redis user "muster" may not run PUBLISH, SUBSCRIBE with channels mm:{main}:*: ` +
			`add +publish +subscribe &mm:{main}:*`},
		"wrong password": {">other <PASSWORD",
			`redis user "muster" does not exist, is off, or has another password: check redis.url`},
	} {
		t.Run(name, func(t *testing.T) {
			user := strings.ReplaceAll(name, " ", "_")
			addUser(t, server, user, "main", aclLine(t)+" "+c.rule)
			got := sentenceOf(t, "redis://"+user+":PASSWORD@"+server.Addr())
			if want := strings.Replace(c.want, "muster", user, 1); got != want {
				t.Errorf("says %q\nwant %q", got, want)
			}
		})
	}
}

func TestAccess_ExplainsWrongSettings(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	secret := redistest.Start(t)
	if _, err := secret.Do(t.Context(), "CONFIG", "SET", "requirepass", "x"); err != nil {
		t.Fatal(err)
	}
	primary := redistest.Start(t)
	redistest.StartReplica(t, primary.Addr())
	sentinelURL := redistest.StartSentinel(t, primary, time.Minute)
	parsed, err := url.Parse(sentinelURL)
	if err != nil {
		t.Fatal(err)
	}
	sentinel, name := parsed.Host, "master_name="+redistest.MasterName
	for rawURL, want := range map[string]string{
		"redis://" + server.Addr():                  "",
		sentinelURL:                                 "",
		"redis://nobody:pw@" + server.Addr():        `redis user "nobody" does not exist, is off, or has another password: check redis.url`,
		"redis://" + secret.Addr():                  "redis wants a password: set it in redis.url",
		"redis://:y@" + secret.Addr():               `redis user "default" does not exist, is off, or has another password: check redis.url`,
		"redis://" + server.Addr() + "/99":          `redis has no database number 99: choose a lower one in redis.url, or raise "databases" in redis.conf`,
		"redis://" + sentinel + "/99?" + name:       `redis has no database number 99: choose a lower one in redis.url, or raise "databases" in redis.conf`,
		"redis://" + sentinel:                       "redis.url names a Sentinel as if it were redis: add ?master_name= with the name of its master",
		"redis://" + server.Addr() + "?" + name:     "redis.url has a master_name, but its hosts are no Sentinels: name theirs, or remove master_name",
		"redis://" + sentinel + "?master_name=nope": `the Sentinels of redis.url know no master "nope": check master_name`,
		"redis://a:b@" + sentinel + "?" + name: "the Sentinels of redis.url refuse the user or password in front of their host: " +
			"WRONGPASS invalid username-password pair or user is disabled.",
		"redis://" + sentinel + "?username=u&password=p&" + name: `redis user "u" does not exist, is off, or has another password: check redis.url`,
		"redis://" + server.Addr() + "?addr=" + server.Addr(): "redis.url names several hosts as of a Cluster (?addr=), but redis is none: " +
			"remove ?addr=, or add &master_name= for Sentinels",
	} {
		if got := sentenceOf(t, rawURL); got != want {
			t.Errorf("%s says %q\nwant %q", rawURL, got, want)
		}
	}
}

// TestAccess_IsCheckedAgain takes rights away from a user while a Store uses it, and gives them back.
func TestAccess_IsCheckedAgain(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	w := duel("duel", 0)
	be := backend{url: func(testing.TB) string { return "redis://muster:PASSWORD@" + server.Addr() + "/0" }}
	admin := asAdmin(t, server) // closed after the realm was emptied
	b := newRealm(t, be, 1)
	b.rdb = admin
	s, rule := b.stores[0], aclLine(t)
	addUser(t, server, "muster", b.realm, rule)
	b.openEpoch()
	b.renew()
	b.declare(w)
	who := b.waiting(0, w, "x")
	for _, lost := range []string{"-hset", "resetchannels"} {
		addUser(t, server, "muster", b.realm, rule+" "+lost)
		if _, err := server.Do(b.ctx, "CLIENT", "KILL", "USER", "muster"); err != nil { // as a restart does
			t.Fatal(err)
		}
		var setup *SetupError
		for range 20 { // a connection of the pool has to find out that it is closed
			if _, err := s.RenewLease(b.ctx); errors.As(err, &setup) {
				break
			}
		}
		if setup == nil {
			t.Fatalf("%s: the renewal does not notice", lost)
		}
		if err := s.ShowMatches(b.ctx, []Shown{{Player: "x", Match: "m"}}); !errors.As(err, &setup) {
			t.Errorf("%s: another call says %v", lost, err)
		}
		addUser(t, server, "muster", b.realm, rule)
		if _, err := s.RenewLease(b.ctx); err != nil {
			t.Errorf("%s: given back, the renewal says %v", lost, err)
		}
		if _, err := s.Refresh(b.ctx, who); err != nil {
			t.Errorf("%s: given back, a call says %v", lost, err)
		}
	}
}

// TestAccess_DocumentedLineSufficesForCluster is TestAccess_DocumentedLineSuffices for what is done with a Cluster only.
func TestAccess_DocumentedLineSufficesForCluster(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartNodes(t, 1, time.Minute)
	server := nodes.Primaries[0]
	be := backend{url: func(testing.TB) string { return "redis://muster:PASSWORD@" + server.Addr() + "?addr=" + server.Addr() }}
	admin := asAdmin(t, server)
	b := newRealm(t, be, 1)
	b.rdb = admin
	addUser(t, server, "muster", b.realm, aclLine(t)+" +asking +cluster|slots")
	b.openEpoch()
	b.step(testRecovery + time.Millisecond)
	b.renew()
	w, d := group("trio", 3), duel("duel", time.Minute)
	b.declare(w, d)
	callAll(b, w, d)
	subscribed := make(chan struct{}, 1)
	go b.stores[0].Subscribe(t.Context(), func(Notification) {}, func() {
		select {
		case subscribed <- struct{}{}:
		default:
		}
	})
	<-subscribed
}
