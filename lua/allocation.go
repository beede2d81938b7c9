package lua

// Allocation is a match that waits for a game server, claimed by one instance for a lease.
type Allocation struct {
	Match Match
	// Attempt counts the claims of this match, from 1: an instance that died with a claim has used one up.
	Attempt int
}
