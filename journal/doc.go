// Package journal keeps the durable record: every match of a realm, with its players, rooms, ready check,
// allocation and end, in PostgreSQL, written from the realm's stream in Redis.
//
// Several instances share the stream as one group. An entry is written at least once, and twice does no harm: a
// match's version orders what is known of it, and what is over stays over. What is to be sent to others about a
// match stands in the outbox, in the transaction that writes it. Nobody waits for the journal: while PostgreSQL is
// away the stream keeps what happens.
//
// The package knows the stream's events, SQL and nothing of sockets, HTTP or settings. All methods are safe for
// concurrent use.
package journal
