package server

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/rs/zerolog"

	"muster/allocation"
	"muster/configs"
	"muster/hub"
	"muster/internal/ident"
	"muster/matching"
	"muster/store"
)

// realmWorlds keeps this instance's worlds those of the realm. The settings of whoever declared last hold for
// all instances: the others adopt them, so that instances with different files cannot mix.
type realmWorlds struct {
	store    *store.Store
	matching *matching.Matching
	log      zerolog.Logger

	mu sync.Mutex
	// guarded by mu
	declared []store.DeclaredWorld
	adopted  ident.Place
	askers   map[ident.World]allocation.Settings
	means    map[ident.World]store.MeanWait
}

func newRealmWorlds(st *store.Store, m *matching.Matching, worlds []configs.World, log zerolog.Logger) *realmWorlds {
	return &realmWorlds{store: st, matching: m, log: log, declared: declarations(worlds), means: map[ident.World]store.MeanWait{}}
}

// declarations are worlds as they are declared.
func declarations(worlds []configs.World) []store.DeclaredWorld {
	var list []store.DeclaredWorld
	for _, w := range worlds {
		list = append(list, store.DeclaredWorld{Name: w.Name, State: string(w.State), Hash: w.Hash(), Settings: w.Settings()})
	}
	return list
}

// Declare makes the worlds known in an epoch that begins.
func (r *realmWorlds) Declare(ctx context.Context, epoch ident.Place) error {
	r.mu.Lock()
	declared := r.declared
	r.mu.Unlock()
	return r.store.DeclareWorldsIn(ctx, epoch, declared)
}

// Replace makes the worlds of a file that was read again those of the realm.
func (r *realmWorlds) Replace(ctx context.Context, worlds []configs.World) error {
	declared := declarations(worlds)
	if _, err := r.store.DeclareWorlds(ctx, declared); err != nil {
		return fmt.Errorf("declare worlds: %w", err)
	}
	r.mu.Lock()
	r.declared = declared
	r.mu.Unlock()
	return r.Reload(ctx)
}

// Adopt takes over what was declared since, if anything.
func (r *realmWorlds) Adopt(ctx context.Context, revision ident.Place) error {
	r.mu.Lock()
	known := r.adopted
	r.mu.Unlock()
	if revision == known {
		return nil
	}
	return r.Reload(ctx)
}

// Reload reads the realm's worlds and serves them.
func (r *realmWorlds) Reload(ctx context.Context) error {
	worlds, revision, err := r.store.ReadWorlds(ctx)
	if err != nil {
		return fmt.Errorf("read worlds: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var (
		served []matching.World
		kept   []store.DeclaredWorld
		askers = map[ident.World]allocation.Settings{}
	)
	for _, w := range worlds {
		if w.State == "closing" {
			continue
		}
		// Kept even where it is not understood: whoever declares the worlds anew would close what it leaves out.
		kept = append(kept, store.DeclaredWorld{Name: w.Name, State: w.State, Hash: w.Hash, Settings: w.Settings})
		settings, err := configs.ParseWorld(w.Settings)
		if err != nil {
			// Declared by a newer version, say. Better not to serve a world than to serve it by other rules.
			r.log.Error().Err(err).Str("world", string(w.Name)).Msg("world of the realm not understood; it is not served here")
			continue
		}
		if settings.Allocator != nil {
			askers[w.Name] = allocationSettings(settings.Allocator)
		}
		if settings.QueueLimit > 0 && settings.QueueLimit < settings.Size && settings.Mode != configs.ModeFill {
			r.log.Warn().Str("world", string(w.Name)).Int("queue_limit", settings.QueueLimit).Int("size", settings.Size).
				Msg("fewer may wait than a match takes, so that none is ever formed")
		}
		served = append(served, matchingWorld(settings, w.Revision))
	}
	r.askers = askers
	order := positionsOf(r.declared)
	slices.SortStableFunc(served, func(a, b matching.World) int { return order(a.Name) - order(b.Name) })
	slices.SortStableFunc(kept, func(a, b store.DeclaredWorld) int { return order(a.Name) - order(b.Name) })
	if r.adopted != 0 && revision != r.adopted {
		r.log.Info().Int("worlds", len(served)).Msg("worlds changed")
	}
	r.declared, r.adopted = kept, revision
	r.matching.SetWorlds(revision, served)
	maps.DeleteFunc(r.means, func(name ident.World, _ store.MeanWait) bool { return !r.serves(name) })
	return nil
}

// positionsOf keeps worlds in the order of the file; others come behind, by name.
func positionsOf(declared []store.DeclaredWorld) func(ident.World) int {
	at := map[ident.World]int{}
	for i, w := range declared {
		at[w.Name] = i
	}
	return func(name ident.World) int {
		if i, ok := at[name]; ok {
			return i
		}
		return len(at)
	}
}

func matchingWorld(w configs.World, revision ident.Place) matching.World {
	rules := store.WorldRules{
		Name: w.Name, Revision: revision, Size: w.Size, Scan: w.Scan, RematchCooldown: w.RematchCooldown,
		MatchHold: w.MatchHold, TicketTTL: w.TicketTTL, Tick: w.Tick, QueueLimit: w.QueueLimit,
		ReadyCheck: w.ReadyCheck, DeclineCooldown: w.DeclineCooldown, Allocate: w.Allocator != nil,
		MatchesPerSecond: w.MaxMatchesPerSecond,
	}
	if w.Mode == configs.ModeFill {
		rules.Size, rules.Seats, rules.SeatHold = 1, w.Size, w.SeatHold
	}
	return matching.World{
		WorldRules: rules,
		Mode:       matching.Mode(w.Mode), State: matching.State(w.State), Rooms: w.Rooms, PartyMax: w.PartyMax,
		LeaveOnClose: w.LeaveOnClose,
	}
}

// Wake has matches tried, in all worlds where none is named.
func (r *realmWorlds) Wake(worlds ...ident.World) {
	if len(worlds) == 0 {
		for _, w := range r.matching.Worlds() {
			worlds = append(worlds, w.Name)
		}
	}
	r.matching.Wake(worlds...)
}

// Facts tells of a world what its queue's views need.
func (r *realmWorlds) Facts(name ident.World) hub.WorldFacts {
	w, _ := r.matching.World(name)
	r.mu.Lock()
	defer r.mu.Unlock()
	return hub.WorldFacts{Size: w.Size, Apart: w.RematchCooldown > 0, MeanWait: r.means[name]}
}

// learn remembers how long matches took to form, as a reply had it. A reply may come after its world was removed.
func (r *realmWorlds) learn(name ident.World, mean store.MeanWait) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.serves(name) {
		r.means[name] = mean
	}
}

// serves reports whether a world is served here.
func (r *realmWorlds) serves(name ident.World) bool {
	_, ok := r.matching.World(name)
	return ok
}
