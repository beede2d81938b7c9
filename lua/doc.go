// Package lua owns Muster's state in Redis: the scripts that change it, one a file, and one typed Go
// function for each. Nothing else names a key or calls EVAL. It knows records and numbers, but no
// sockets, no JSON and no configuration file.
//
// Every script compares the epoch that the caller believes in with Redis' own history before it writes
// anything (see prelude.lua), and a Store keeps that epoch. Where it is refused, the Store calls the
// OnLostHistory hook, which asserts what this instance knows, and calls again once.
//
// What a call tells this instance's own sessions comes back in the reply and is handed to the OnTold hook,
// like what a publish carried. All methods of a Store are safe for concurrent use; the hooks are set
// before the first call.
package lua
