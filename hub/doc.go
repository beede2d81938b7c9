// Package hub owns the sessions on this instance: which player has which, what each last saw of its
// player's record, and one ordered outbox for each. It brings to the sessions what scripts tell this
// instance, by publish or in a reply, and looks again where something may have been missed.
//
// It knows nothing of gin, of frames on the wire (a Transport writes them) or of how matches are formed.
// All exported methods are safe for concurrent use. Locks are held in the order Hub, then Session, and
// never while anything is written or called that may wait.
package hub
