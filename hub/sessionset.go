package hub

import (
	"maps"
	"slices"
	"sync"
)

// sessionSet is a set of sessions. The mu of a session may be held when its methods are called. The zero sessionSet is empty.
type sessionSet struct {
	mu sync.Mutex
	// guarded by mu
	members map[*Session]struct{}
}

func (set *sessionSet) add(s *Session) {
	set.mu.Lock()
	defer set.mu.Unlock()
	if set.members == nil {
		set.members = map[*Session]struct{}{}
	}
	set.members[s] = struct{}{}
}

func (set *sessionSet) remove(s *Session) {
	set.mu.Lock()
	defer set.mu.Unlock()
	delete(set.members, s)
}

// list returns the members.
func (set *sessionSet) list() []*Session {
	set.mu.Lock()
	defer set.mu.Unlock()
	return slices.Collect(maps.Keys(set.members))
}

// take empties the set and returns its members.
func (set *sessionSet) take() []*Session {
	set.mu.Lock()
	defer set.mu.Unlock()
	list := slices.Collect(maps.Keys(set.members))
	set.members = nil
	return list
}
