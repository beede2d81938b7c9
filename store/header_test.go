package store

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/internal/ident"
	"muster/lua"
)

// header is what stands above a script's body.
type header struct {
	name, shebang string
	sections      []string // their names in order
	args          []string // the texts of ARGV lines
	groups        []int    // how many arguments each repeated group has; the first begins at the last of args
	touches       []string // kinds of keys
	codes         []int    // that its Returns names
	body          string   // the rest, without comments
}

var (
	sectionLine = regexp.MustCompile(`^-- (Guarantee|KEYS|ARGV|Returns|Touches|Cost)(?:\[(\d+)(\.\.)?\]|:)? +(.*)$`)
	inParens    = regexp.MustCompile(`\([^)]*\)`)
	negative    = regexp.MustCompile(`-\d+`)
	keyBuilt    = regexp.MustCompile(`prefix \.\. '([a-z]+)[:']`)
	argUsed     = regexp.MustCompile(`ARGV\[(\d+)\]`)
)

func readHeader(t *testing.T, name string) header {
	t.Helper()
	paths, err := lua.Paths()
	if err != nil {
		t.Fatal(err)
	}
	source, err := lua.Files.ReadFile(paths[name])
	if err != nil {
		t.Fatal(err)
	}
	h, section := header{name: name}, ""
	for i, line := range strings.Split(string(source), "\n") {
		switch m := sectionLine.FindStringSubmatch(line); {
		case i == 0:
			h.shebang = line
		case i == 1:
			if !strings.HasPrefix(line, "-- "+name+": ") {
				t.Errorf("line 2 is %q, want the script's name", line)
			}
		case h.body == "" && m != nil:
			section = m[1]
			h.sections = append(h.sections, section)
			h.read(t, m)
		case h.body == "" && strings.HasPrefix(line, "--  ") && section != "":
			h.read(t, []string{line, section, "", "", strings.TrimLeft(line, "- ")})
		case strings.HasPrefix(strings.TrimSpace(line), "--"):
		default:
			h.body += line + "\n"
		}
	}
	return h
}

// read takes in a line of a section, or what continues it.
func (h *header) read(t *testing.T, m []string) {
	t.Helper()
	text := m[4]
	switch m[1] {
	case "ARGV":
		if want := strconv.Itoa(len(h.args) + 1); m[2] != want {
			t.Errorf("ARGV[%s] stands where %s should", m[2], want)
		}
		h.args = append(h.args, text)
		if m[3] == ".." {
			for part := range strings.SplitSeq(inParens.ReplaceAllString(text, ""), "; for each") {
				if part = strings.TrimPrefix(part, "; then "); part != "" {
					h.groups = append(h.groups, strings.Count(part, ",")+1)
				}
			}
		}
	case "Returns":
		for _, code := range negative.FindAllString(text, -1) {
			n, err := strconv.Atoi(code)
			if err != nil {
				t.Error(err)
			}
			h.codes = append(h.codes, n)
		}
	case "Touches":
		if other, ok := strings.CutPrefix(text, "as "); ok {
			name, rest, _ := strings.Cut(other, ", and ")
			h.touches = readHeader(t, name).touches
			text = rest
		}
		for item := range strings.SplitSeq(inParens.ReplaceAllString(text, ""), ",") {
			kind, _, _ := strings.Cut(strings.TrimSpace(item), ":")
			if kind = strings.TrimSpace(kind); kind != "" && !strings.Contains(kind, " ") && !strings.Contains(kind, "<") {
				h.touches = append(h.touches, kind)
			}
		}
	}
}

func scriptNames(t *testing.T) []string {
	t.Helper()
	paths, err := lua.Paths()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(paths))
}

// TestHeaders holds every script's header to the house style and to its body.
func TestHeaders(t *testing.T) {
	t.Parallel()
	scripts, err := lua.Load(false, codeNames)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range scriptNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := readHeader(t, name)
			if !regexp.MustCompile(`^#!lua( flags=(allow-oom|no-writes))?$`).MatchString(h.shebang) {
				t.Errorf("line 1 is %q", h.shebang)
			}
			want := []string{"Guarantee", "KEYS", "ARGV", "Returns", "Touches", "Cost"}
			if diff := cmp.Diff(want, slices.Compact(h.sections)); diff != "" {
				t.Errorf("sections: %s", diff)
			}
			for i, arg := range []string{"epoch ", "instance ", "now_us ", "presence_ttl_ms "} {
				if i >= len(h.args) || !strings.HasPrefix(h.args[i], arg) {
					t.Errorf("ARGV[%d] is not %s", i+1, arg)
				}
			}
			checkArgs(t, h)
			checkKeys(t, h, scripts[name].Text)
			checkCodes(t, h, scripts[name].Text)
		})
	}
}

// checkArgs: each argument is given a name once.
func checkArgs(t *testing.T, h header) {
	t.Helper()
	if strings.Contains(h.body, "KEYS[") {
		t.Error("the body uses KEYS: time.lua names the only one")
	}
	fixed := len(h.args)
	if h.groups != nil {
		fixed--
	}
	uses := map[int]int{}
	for _, m := range argUsed.FindAllStringSubmatch(h.body, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		uses[n]++
	}
	for i := 5; i <= fixed; i++ {
		if uses[i] != 1 {
			t.Errorf("ARGV[%d] is used %d times, want one name for it", i, uses[i])
		}
		delete(uses, i)
	}
	if len(uses) > 0 {
		t.Errorf("arguments used beside those of the header: %v", uses)
	}
}

// checkKeys: what the body builds is named, and what is named is built somewhere.
func checkKeys(t *testing.T, h header, assembled string) {
	t.Helper()
	for _, m := range keyBuilt.FindAllStringSubmatch(h.body, -1) {
		if !slices.Contains(h.touches, m[1]) {
			t.Errorf("the body touches %s, the header says %v", m[1], h.touches)
		}
	}
	var built []string
	for _, m := range keyBuilt.FindAllStringSubmatch(assembled, -1) {
		built = append(built, m[1])
	}
	for _, kind := range h.touches {
		if !slices.Contains(built, kind) {
			t.Errorf("the header says that it touches %s, which nothing builds", kind)
		}
	}
	// Cluster: all keys of a call lie in the slot of its realm.
	for _, m := range regexp.MustCompile(`(?:redis\.call\('[A-Z]+', (?:'DESTROY', )?|(?:write_many|write_last|read_many)\('[A-Z]+', )([^,)]+)`).FindAllStringSubmatch(assembled, -1) {
		if !regexp.MustCompile(`^(meta_key|key|queue|set|prefix \.\. |silent_set|stats|met\(|keys\[i\]|unpack\(keys|'replication')`).MatchString(m[1]) {
			t.Errorf("a command on %s, which may not be of the realm", m[1])
		}
	}
}

// entryOf is an entry of which a dead letter has n fields.
func entryOf(n int) StreamEntry {
	e := StreamEntry{ID: "1-1", Fields: map[string]string{"at": "1"}}
	for i := 1; i < n; i++ {
		e.Fields[strconv.Itoa(i)] = "value"
	}
	return e
}

// askedBy is what n players ask of their matches together.
func askedBy(s *Store, script string, who Session, n int) error {
	return s.askAll(context.Background(), slices.Repeat([]question{{script: script, who: who, match: "m"}}, n))[0].err
}

// typedCodes are those whose errors say more than that.
var typedCodes = []int{codeAlreadyQueued, codeInMatch, codeInProposal, codeCooledDown, codeTaken}

// checkCodes: codes have names, and those of the header are in the table.
func checkCodes(t *testing.T, h header, assembled string) {
	t.Helper()
	if m := regexp.MustCompile(`CODE_[A-Z_]+`).FindString(assembled); m != "" {
		t.Errorf("%s is not of the table of codes", m)
	}
	if m := regexp.MustCompile(`(return|finish\(|=) *\{?-\d+`).FindString(h.body); m != "" {
		t.Errorf("%q is a code without a name", m)
	}
	for _, code := range h.codes {
		if _, ok := codeErrors[int64(code)]; !ok && !slices.Contains(typedCodes, code) {
			t.Errorf("the header names %d, which is not in the table of codes", code)
		}
	}
}

// TestCodesAreUnique: a code has one meaning, and Go has an error for it.
func TestCodesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[int]string{}
	for name, code := range codeNames {
		if other, ok := seen[code]; ok || code >= 0 {
			t.Errorf("%s is %d, as is %q", name, code, other)
		}
		seen[code] = name
		if _, ok := codeErrors[int64(code)]; !ok && !slices.Contains(typedCodes, code) {
			t.Errorf("%s has no error", name)
		}
	}
}

// TestCallersPassWhatHeadersSay counts the arguments of each typed call, with n of whatever is repeated.
func TestCallersPassWhatHeadersSay(t *testing.T) {
	t.Parallel()
	s, err := Open(Options{URL: "redis://127.0.0.1:1", Realm: "r", Instance: "a"}) // never reached
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	hook := calls{map[string][]any{}}
	s.rdb.AddHook(hook)
	ctx := t.Context()
	w, d := group("trio", 3), duel("duel", time.Minute)
	who := Session{Player: "p", Generation: 7}
	reader, err := s.Stream("g", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 3} {
		sessions, ids := slices.Repeat([]Session{who}, n), []ident.Player(players("p", n))
		joins, candidates := slices.Repeat([]Join{{Player: "p"}}, n), slices.Repeat([]Candidate{{Match: "m"}}, n)
		var assertions []Assertion
		for i := range n {
			m := strconv.Itoa(i)
			assertions = append(assertions, Assertion{Session: who, Record: "1|" + m + "|1||", Match: "m"})
		}
		for _, act := range []func() error{
			func() error { return second(s.OpenEpoch(ctx, 0)) },
			func() error { return second(s.AssertState(ctx, 1, assertions)) },
			func() error { return second(s.RenewLease(ctx)) },
			func() error { return s.EndLease(ctx) },
			func() error { return askedBy(s, "leave_match", who, n) },
			func() error { return askedBy(s, "ack_match", who, n) },
			func() error { return s.EndMatch(ctx, "m", Ended) },
			func() error { return second(s.AcceptMatch(ctx, who, "m")) },
			func() error { return second(s.DeclineMatch(ctx, who, "m")) },
			func() error { return s.ShowMatches(ctx, make([]Shown, n)) },
			func() error { return second(s.ClaimAllocations(ctx, n, time.Second)) },
			func() error { return s.FailAllocation(ctx, "m", 1) },
			func() error { return reader.Bury(ctx, entryOf(n), "no good") },
			func() error { return second(s.OpenSeats(ctx, "m", 1, nil)) },
			func() error { return second(s.RestoreMatches(ctx, make([]ArchivedMatch, n))) },
			func() error {
				_, _, err := s.JoinAndMatch(ctx, room("room", 3), 8, joins, "", candidates)
				return err
			},
			func() error { return second(s.ReadMatch(ctx, "m")) },
			func() error { return second(s.Arrive(ctx, sessions)) },
			func() error { return second(s.Heartbeat(ctx, "p")) },
			func() error { return second(s.States(ctx, ids)) },
			func() error { return second(s.Refresh(ctx, sessions)) },
			func() error { return second(s.Depart(ctx, time.Second, sessions)) },
			func() error { _, _, err := s.JoinAndMatch(ctx, w, 8, joins, "", candidates); return err },
			func() error { _, _, err := s.JoinAndMatch(ctx, d, 8, joins, "", candidates); return err },
			func() error {
				return second(s.RemoveFromQueue(ctx, who, slices.Repeat([]ident.World{"w"}, n)...))
			},
			func() error { return second(s.Positions(ctx, "w", 5, ids)) },
			func() error { return second(s.DeclareWorlds(ctx, make([]DeclaredWorld, n))) },
			func() error { _, _, err := s.ReadWorlds(ctx); return err },
			func() error { return s.TidyStream(ctx) },
			func() error { return second(s.Sweep(ctx, time.Second, make([]WorldRules, n))) },
		} {
			if err := act(); err == nil {
				t.Fatal("a call succeeded without Redis")
			}
		}
		for name, script := range s.scripts {
			h := readHeader(t, name)
			want := len(h.args)
			if h.groups != nil {
				want--
			}
			for _, size := range h.groups {
				want += n * size
			}
			if got := len(hook.args[script.SHA]) - 4; got != want { // EVALSHA, the name, the number of keys, the key
				t.Errorf("%s: %d arguments with %d of each, the header says %d", name, got, n, want)
			}
		}
	}
}
