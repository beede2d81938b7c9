package configs

import (
	"fmt"

	"muster/internal/ident"
)

// maxRooms bounds what a match carries to each of its players.
const maxRooms = 16

func (l *loader) checkWorlds(worlds []World) {
	first := make(map[ident.World]string)
	for i := range worlds {
		path := element("worlds", i)
		l.checkWorld(&worlds[i], path)
		name := worlds[i].Name
		if name == "" {
			continue // reported
		}
		if other, ok := first[name]; ok {
			l.report(fmt.Sprintf("must be a name of its own; %q is that of %s in line %d",
				name, other, l.origin(other).line), join(path, "name"))
			continue
		}
		first[name] = path
	}
}

// checkWorld looks at how the settings of a world go together. The path is empty where the world is
// read alone.
func (l *loader) checkWorld(w *World, path string) {
	at := func(key string) string { return join(path, key) }
	if w.Mode == ModeDuel && w.Size != 2 {
		l.report(fmt.Sprintf("must be 2 in a world of mode duel, or left out, is %d", w.Size), at("size"), at("mode"))
	} else if w.Scan < w.Size {
		l.report(fmt.Sprintf("must be at least size, so %d, is %d", w.Size, w.Scan), at("scan"), at("size"), at("mode"))
	}
	if w.PartyMax > w.Size {
		l.report(fmt.Sprintf("must be at most size, so %d, is %d", w.Size, w.PartyMax), at("party_max"), at("size"))
	}
	if len(w.Rooms) > maxRooms {
		l.report(fmt.Sprintf("must be at most %d rooms, is %d", maxRooms, len(w.Rooms)), at("rooms"))
	}
	checkUnique(l, at("rooms"), "room", w.Rooms)
	l.checkModeOnly(w, path)
	l.checkLife(w, path)
	if w.Mode == ModeRules {
		l.checkRules(w, path)
	}
	if w.Allocator != nil {
		l.checkAllocator(w.Allocator, at("allocator"))
	}
}

// minMatchesPerSecond is one match in a quarter of an hour: less is a slip of the pen.
const minMatchesPerSecond = 0.001

// checkLife looks at what a world's matches go through before they stand. A room of mode fill stands with its first
// player: there is nobody to ask, and nothing that the next one could wait for.
func (l *loader) checkLife(w *World, path string) {
	if w.MaxMatchesPerSecond > 0 && w.MaxMatchesPerSecond < minMatchesPerSecond {
		l.report(fmt.Sprintf("must be 0 or at least %g", minMatchesPerSecond), join(path, "max_matches_per_second"))
	}
	if w.Mode == ModeFill {
		if w.ReadyCheck > 0 {
			l.report("is not for a world of mode fill", join(path, "ready_check"), join(path, "mode"))
		}
		if w.Allocator != nil {
			l.report("is not for a world of mode fill", join(path, "allocator"), join(path, "mode"))
		}
	}
}

// checkModeOnly refuses keys that a world's mode does not look at.
func (l *loader) checkModeOnly(w *World, path string) {
	for _, k := range []struct {
		key  string
		set  bool
		mode Mode
	}{
		{"rematch_cooldown", w.RematchCooldown > 0, ModeDuel},
		{"seat_hold", w.SeatHold > 0, ModeFill},
		{"teams", len(w.Teams) > 0, ModeRules},
		{"rules", len(w.Rules) > 0, ModeRules},
		{"roles", len(w.Roles) > 0, ModeRules},
		{"balance", w.Balance != "", ModeRules},
		{"expansions", len(w.Expansions) > 0, ModeRules},
	} {
		if k.set && w.Mode != k.mode {
			l.report(fmt.Sprintf("is for a world of mode %s only, and the mode is %s", k.mode, w.Mode),
				join(path, k.key), join(path, "mode"))
		}
	}
}
