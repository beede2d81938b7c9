// Package load puts real clients on a server, measures what they see and judges whether it was right.
//
// [Run] connects players, has them join by a [Pattern], and returns a [Report], which writes itself as
// text, JSON or an HTML page. It knows of the server what any client knows: the protocol, and the list
// of worlds.
//
// A player is one connection and one goroutine: what the server says is handled where it is read, and a
// few senders ask for all players. Time is measured from the moment at which something was to be sent,
// not from the one at which it was: a server, or this program, that falls behind makes the figures worse
// and hides nothing (the fault known as coordinated omission).
package load
