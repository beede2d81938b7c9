package server

import (
	"time"

	"muster/allocation"
	"muster/configs"
	"muster/internal/ident"
)

// allocationSettings are a world's as the worker that asks for servers has them.
func allocationSettings(a *configs.Allocator) allocation.Settings {
	s := allocation.Settings{Webhook: a.Webhook.Reveal(), Secret: a.Secret.Reveal(), Timeout: a.Timeout, Attempts: a.Attempts}
	if a.Agones != nil {
		s.Agones = &allocation.Agones{URL: a.Agones.URL.Reveal(), Namespace: a.Agones.Namespace, Selector: a.Agones.Selector}
	}
	return s
}

// Allocator says who is asked for the servers of a world's matches.
func (r *realmWorlds) Allocator(world ident.World) (allocation.Settings, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.askers[world]
	return s, ok
}

// LongestAllocation is the longest time that any world gives its allocator to answer.
func (r *realmWorlds) LongestAllocation() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	var longest time.Duration
	for _, s := range r.askers {
		longest = max(longest, s.Timeout)
	}
	return longest
}

// newAllocations makes the worker that asks for the servers of matches.
func (s *Server) newAllocations() *allocation.Worker {
	return allocation.New(allocation.Options{
		Store: s.store, Settings: s.worlds.Allocator, Longest: s.worlds.LongestAllocation, Realm: s.config.Realm,
		Version: s.opts.Version, Logger: s.log,
		Observer: allocation.Observer{
			Attempted: func(world ident.World, outcome allocation.Outcome, took time.Duration) {
				s.metrics.allocated(string(world), string(outcome), took)
			},
			Abandoned: func(world ident.World) { s.metrics.allocated(string(world), "abandoned", 0) },
		},
	})
}
