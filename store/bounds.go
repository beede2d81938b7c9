package store

// What one call may touch, which bounds how long it holds Redis. Callers cut their batches accordingly.
const (
	// maxPlayersPerCall bounds assertions, and is how far a call that forms matches looks at least.
	maxPlayersPerCall = 100
	// maxWindow is how far it looks at most, whatever a world's scan says.
	maxWindow = 200
	// sweepLimit is the most players that a sweep touches, in all kinds and worlds together.
	sweepLimit = 100
)
