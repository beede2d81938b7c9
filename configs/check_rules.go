package configs

import (
	"fmt"
	"maps"
	"slices"

	"muster/internal/ident"
)

// checkRules looks at what only a world of mode rules has.
func (l *loader) checkRules(w *World, path string) {
	l.checkTeams(w, path)
	attributes := make([]string, 0, len(w.Rules))
	for i, r := range w.Rules {
		l.checkRule(r, element(join(path, "rules"), i))
		for _, a := range []string{r.Distance, r.Equal, r.Shared, r.Latency, r.Avoid} {
			if a != "" {
				attributes = append(attributes, a)
			}
		}
	}
	for i, e := range w.Expansions {
		at := element(join(path, "expansions"), i)
		if (len(e.Drop) > 0) == (e.MinSize > 0) {
			l.report("needs exactly one of drop and min_size", at)
		}
		for j, a := range e.Drop {
			if !slices.Contains(attributes, a) {
				l.report(fmt.Sprintf("must be an attribute that a rule of the world uses, is %q", a),
					element(join(at, "drop"), j))
			}
		}
	}
}

func (l *loader) checkTeams(w *World, path string) {
	teams := join(path, "teams")
	total := w.Teams.players()
	switch {
	case len(w.Teams) == 0:
		l.report("is missing: a world of mode rules needs teams", teams)
		return
	case total < 2 || total > 100:
		l.report(fmt.Sprintf("must have 2 to 100 players together, is %d", total), teams)
	case w.Size != total:
		l.report(fmt.Sprintf("must be that of all teams together, so %d, or left out, is %d", total, w.Size),
			join(path, "size"), teams)
	}
	seats := 0
	for _, role := range slices.Sorted(maps.Keys(w.Roles)) {
		if at := join(join(path, "roles"), role); !ident.Valid(role) {
			l.report("must have an id as its name: 1 to 64 characters out of A-Z a-z 0-9 . _ : @ -", at)
		}
		seats += w.Roles[role]
	}
	names := make([]string, len(w.Teams))
	largest := 0
	for i, t := range w.Teams {
		at := element(teams, i)
		names[i] = t.Name
		largest = max(largest, t.Size)
		if t.MinSize > t.Size {
			l.report(fmt.Sprintf("must be at most the team's size, so %d, is %d", t.Size, t.MinSize),
				join(at, "min_size"), teams)
		}
		if seats > 0 && seats != t.Size {
			l.report(fmt.Sprintf("must be as many seats as team %s has players, so %d, is %d", t.Name, t.Size, seats),
				join(path, "roles"), teams)
		}
	}
	checkUnique(l, teams, "team", names)
	if w.PartyMax > largest {
		l.report(fmt.Sprintf("must be at most the size of the largest team, so %d, is %d", largest, w.PartyMax),
			join(path, "party_max"), teams)
	}
}

func (l *loader) checkRule(r Rule, path string) {
	kinds := 0
	for _, set := range []bool{
		r.Distance != "", r.Equal != "", r.Shared != "", r.Latency != "", r.Avoid != "", r.RepeatAfter > 0,
	} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		l.report("needs exactly one of distance, equal, shared, latency, avoid and repeat_after", path)
		return
	}
	distance, latency := r.Distance != "", r.Latency != ""
	for _, p := range []struct {
		key     string
		set, ok bool
		kinds   string
	}{
		{"start", r.Start > 0, distance, "distance"},
		{"per_second", r.PerSecond > 0, distance || latency, "distance or latency"},
		{"max", r.Max > 0, distance || latency, "distance or latency"},
		{"limit", r.Limit > 0, latency, "latency"},
	} {
		if p.set && !p.ok {
			l.report("is for a rule of "+p.kinds+" only", join(path, p.key))
		}
	}
	if distance && r.Max > 0 && r.Max < r.Start {
		l.report(fmt.Sprintf("must be at least start, so %g, is %g", r.Start, r.Max), join(path, "max"))
	}
	if latency && r.Limit > 0 && r.Limit < r.Max {
		l.report(fmt.Sprintf("must be at least max, so %g, is %g", r.Max, r.Limit), join(path, "limit"))
	}
}
