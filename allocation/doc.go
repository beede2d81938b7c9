// Package allocation asks for a game server for each match that needs one, and settles what comes of it: the
// match is complete with the server's endpoint, the attempt is made again later, or the match is cancelled and
// its players are back at their places.
//
// A Worker claims matches that are due from the Store, for a lease. While the lease lasts no other instance has
// them; an instance that dies is taken over when it ends. The package keeps nothing that would have to
// outlive the process, and never reads a clock to decide who may do what: that is the Store's.
//
// An allocator may be asked more than once for a match, by several instances, one after the other. A webhook is told
// the match's id as Idempotency-Key; Agones is asked for the server that already has the match's label before
// any other.
//
// It knows neither players' sessions nor the settings' file. All methods of a Worker are safe for concurrent
// use.
package allocation
