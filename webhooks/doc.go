// Package webhooks tells other systems what became of matches and tickets: it posts signed events to the addresses
// that are set, at least once, until each has taken them.
//
// An event has an id that is the same however often it is sent, so that a receiver can tell repeats. Order is not
// promised. Deliveries wait in a Source: the journal's outbox where there is one, the realm's stream otherwise.
// Each address has deliveries of its own, so that one that is slow or away holds nobody else up.
//
// The package knows events, HTTP and nothing of sockets, SQL or settings. All methods are safe for concurrent use.
package webhooks
