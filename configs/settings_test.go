package configs

import (
	"errors"
	"testing"
	"time"
)

// full is a world with everything set that this version can do.
func full() World {
	w := World{
		Name: "a:b", State: WorldClosed, Mode: ModeDuel, Scan: 20, Rooms: []string{"z", "a"}, Tick: 1500 * time.Millisecond,
		TicketTTL: 90 * time.Minute, MatchHold: time.Second, QueueLimit: 7, LeaveOnClose: true, RematchCooldown: time.Hour,
	}
	w.setDefaults()
	return w
}

func TestSettings(t *testing.T) {
	t.Parallel()
	const want = `{"leave_on_close":true,"match_hold":"1s","mode":"duel","name":"a:b","party_max":1,"queue_limit":7,` +
		`"rematch_cooldown":"1h0m0s","rooms":["z","a"],"scan":20,"size":2,"state":"closed","tick":"1.5s","ticket_ttl":"1h30m0s"}`
	if got := full().Settings(); got != want {
		t.Errorf("Settings\n got %s\nwant %s", got, want)
	}
}

func TestSettingsAreReadBack(t *testing.T) {
	t.Parallel()
	for _, w := range append(Default().Worlds, full()) {
		got, err := ParseWorld(w.Settings())
		if err != nil {
			t.Fatalf("%s: %v", w.Name, err)
		}
		if d := diff(w, got); d != "" || got.Hash() != w.Hash() {
			t.Errorf("%s: (-written +read)\n%s", w.Name, d)
		}
	}
}

// The shapes that this version refuses survive the canonical form as well.
func TestSettingsOfLaterVersions(t *testing.T) {
	t.Parallel()
	w := World{
		Name: "r", Mode: ModeRules, Teams: Teams{{Name: "x", Size: 2, MinSize: 1}, {Name: "y", Size: 1}},
		Rules: []Rule{{Distance: "rating", Start: 0.5, Max: 1e9}, {RepeatAfter: time.Minute}},
		Roles: map[string]int{"b": 1, "a": 2}, Balance: "rating", Expansions: []Expansion{{After: time.Minute, Drop: []string{"rating"}}},
		MaxMatchesPerSecond: 0.25,
		Allocator:           &Allocator{Secret: "hunter2", SecretFile: "/s", Agones: &Agones{URL: "http://h", Selector: map[string]string{"a.b/c": "d"}}},
	}
	w.setDefaults()
	l := newLoader()
	p := &fileParser{loader: l, file: "x", root: worldType}
	values, _ := p.Unmarshal([]byte(w.Settings()))
	l.merge(values)
	var got World
	l.unmarshal(&got)
	w.Allocator.Secret = "" // must not reach Redis
	if d := diff(w, got); d != "" || l.err() != nil {
		t.Errorf("%v (-written +read)\n%s", l.err(), d)
	}
}

func TestHashTellsWorldsApart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for name, change := range map[string]func(*World){
		"nothing": func(*World) {},
		"name":    func(w *World) { w.Name = "b" },
		"state":   func(w *World) { w.State = WorldOpen },
		"scan":    func(w *World) { w.Scan++ },
		"rooms":   func(w *World) { w.Rooms = []string{"a", "z"} },
		"leave":   func(w *World) { w.LeaveOnClose = false },
		"tick":    func(w *World) { w.Tick++ },
	} {
		w := full()
		change(&w)
		h := w.Hash()
		if len(h) != 32 {
			t.Errorf("hash = %s", h)
		}
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[h] = name
	}
}

func TestParseWorldRefuses(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		``:                               "world settings:1: name: is missing",
		`null`:                           "world settings:1: name: is missing",
		`[]`:                             "world settings:1: must be a section of keys",
		`{`:                              "world settings:1: is not YAML about here: did not find expected node content",
		`{"name":"a","colour":"x"}`:      "world settings:1: colour: is not a known key; known here: " + groupKeys,
		`{"name":"a","size":1}`:          `world settings:1: size: must be a whole number from 2 to 100, is "1"`,
		`{"name":"a","size":5,"scan":3}`: "world settings:1: scan: must be at least size, so 5, is 3",
		`{"name":"a","mode":"rules"}`:    "world settings:1: teams: is missing: a world of mode rules needs teams\nworld settings:1: mode: rules is not available in this version",
	} {
		_, err := ParseWorld(settings)
		var ps Problems
		if !errors.As(err, &ps) || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", settings, err, want)
		}
	}
}
