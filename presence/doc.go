// Package presence keeps the leases of this instance and of the players on it: it has them arrive, refreshes
// and departs them in batches, notices when Redis' history is another than before, and then asserts what the
// sessions last saw.
//
// It knows nothing of sockets and messages; sessions and worlds are what the interfaces of this package say.
// All methods of a Keeper are safe for concurrent use.
package presence
