package configs

import "testing"

func TestLifeOfMatches(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]rejected{
		"a ready check among one": {file: "worlds: [{name: a, mode: fill, ready_check: 15s}]\n", want: "F:1: worlds[0].ready_check: is not for a world of mode fill"},
		"a server for one": {
			file: "worlds: [{name: a, mode: fill, allocator: {webhook: 'http://h'}}]\n",
			want: "F:1: worlds[0].allocator: is not for a world of mode fill",
		},
		"seats of a group": {file: "worlds: [{name: a, seat_hold: 30s}]\n", want: "F:1: worlds[0].seat_hold: is for a world of mode fill only, and the mode is group"},
		"too slow":         {file: "worlds: [{name: a, max_matches_per_second: 1e-12}]\n", want: "F:1: worlds[0].max_matches_per_second: must be 0 or at least 0.001"},
		"too long":         {file: "worlds: [{name: a, ready_check: 6m}]\n", want: `F:1: worlds[0].ready_check: must be a duration from 0s to 5m, such as 1500ms or 30s, is "6m"`},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); r.check(t) })
	}
	for _, file := range []string{
		"worlds: [{name: a, mode: fill, size: 8, seat_hold: 30s}]\n",
		"worlds: [{name: a, ready_check: 15s, decline_cooldown: 1m, max_matches_per_second: 0.5}]\n",
	} {
		if _, err := Load(Options{File: write(t, "muster.yaml", file)}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
