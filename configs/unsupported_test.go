package configs

import "testing"

const rankedWorld = `
worlds:
- name: ranked
  mode: rules
  teams: {count: 2, size: 3}
  party_max: 1
  rules:
  - {distance: rating, start: 25, per_second: 20, max: 600}
  - {equal: version}
  - {shared: regions}
  - {latency: latency, max: 80, per_second: 5, limit: 200}
  - {avoid: avoid}
  - {repeat_after: 10m}
  roles: {tank: 1, healer: 2}
  balance: rating
  expansions:
  - {after: 60s, drop: [version]}
  - {after: 90s, min_size: 1}
`

// Each of these is a right file of a later version: there is no other problem with it.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]rejected{
		"token mode":  {file: "auth:\n  mode: token\n  jwks_file: keys.json\n  issuer: me\n  audience: you\n  client_attributes: [map]\n", want: "F:2: auth.mode: token is not available in this version"},
		"rules":       {file: rankedWorld, want: "F:3: worlds[0].mode: rules is not available in this version"},
		"named teams": {file: "worlds: [{name: a, mode: rules, teams: [{name: raiders, size: 4, min_size: 3}, {name: boss, size: 1}]}]\n", want: "F:1: worlds[0].mode: rules is not available in this version"},
		"parties":     {file: "worlds: [{name: a, party_max: 3}]\n", want: "F:1: worlds[0].party_max: is not available in this version"},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); r.check(t) })
	}
}

// What is not available is checked for its shape, too; the refusal itself comes last.
func TestShapeOfTheUnavailable(t *testing.T) {
	t.Parallel()
	const noRules = "\nF:1: worlds[0].mode: rules is not available in this version"
	const teams = "teams: {count: 2, size: 2}"
	for name, r := range map[string]rejected{
		"no key for tokens": {file: "auth:\n  mode: token\n", want: `
F:2: auth.mode: needs exactly one of auth.hs256_secret (or auth.hs256_secret_file), auth.public_key_file and auth.jwks_file
F:2: auth.mode: token is not available in this version`},
		"party": {file: "worlds: [{name: a, size: 3, party_max: 4}]\n", want: `
F:1: worlds[0].party_max: must be at most size, so 3, is 4
F:1: worlds[0].party_max: is not available in this version`},
		"no teams": {file: "worlds: [{name: a, mode: rules}]\n", want: "F:1: worlds[0].teams: is missing: a world of mode rules needs teams" + noRules},
		"teams":    {file: "worlds: [{name: a, mode: rules, teams: {count: 2}}]\n", want: "F:1: worlds[0].teams.size: is missing" + noRules},
		"team": {file: "worlds: [{name: a, mode: rules, size: 3, party_max: 3, teams: [{name: x, size: 1, min_size: 2}, {name: x, size: 1}]}]\n", want: `
F:1: worlds[0].size: must be that of all teams together, so 2, or left out, is 3
F:1: worlds[0].teams[0].min_size: must be at most the team's size, so 1, is 2
F:1: worlds[0].teams[1]: is the same team a second time: x
F:1: worlds[0].party_max: must be at most the size of the largest team, so 1, is 3` + noRules + `
F:1: worlds[0].party_max: is not available in this version`},
		"size of teams": {file: "worlds: [{name: a, mode: rules, size: 3, " + teams + "}]\n", want: "F:1: worlds[0].size: must be that of all teams together, so 4, or left out, is 3" + noRules},
		"roles": {file: "worlds: [{name: a, mode: rules, " + teams + ", roles: {tank: 1}}]\n", want: `
F:1: worlds[0].roles: must be as many seats as team team1 has players, so 2, is 1
F:1: worlds[0].roles: must be as many seats as team team2 has players, so 2, is 1` + noRules},
		"role's name": {file: "worlds: [{name: a, mode: rules, " + teams + ", roles: {a/b: 2}}]\n", want: "F:1: worlds[0].roles.a/b: must have an id as its name: 1 to 64 characters out of A-Z a-z 0-9 . _ : @ -" + noRules},
		"rule":        {file: "worlds: [{name: a, mode: rules, " + teams + ", rules: [{equal: a, shared: b}]}]\n", want: "F:1: worlds[0].rules[0]: needs exactly one of distance, equal, shared, latency, avoid and repeat_after" + noRules},
		"rule's number": {file: "worlds: [{name: a, mode: rules, " + teams + ", rules: [{equal: a, start: 1}, {distance: r, start: 9, max: 8}, {latency: l, max: 9, limit: 8}]}]\n", want: `
F:1: worlds[0].rules[0].start: is for a rule of distance only
F:1: worlds[0].rules[1].max: must be at least start, so 9, is 8
F:1: worlds[0].rules[2].limit: must be at least max, so 9, is 8` + noRules},
		"not a number": {file: "worlds: [{name: a, mode: rules, " + teams + ", rules: [{distance: r, start: NaN}]}]\n", want: `F:1: worlds[0].rules[0].start: must be a number from 0 to 1000000000, is "NaN"` + noRules},
		"expansion": {file: "worlds: [{name: a, mode: rules, " + teams + ", expansions: [{after: 1m}, {after: 1m, drop: [b]}]}]\n", want: `
F:1: worlds[0].expansions[0]: needs exactly one of drop and min_size
F:1: worlds[0].expansions[1].drop[0]: must be an attribute that a rule of the world uses, is "b"` + noRules},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); r.check(t) })
	}
}
