// Package store is the typed client of Muster's state in Redis: one Go function for each script of the package lua. Nothing
// else names a key or calls EVAL. It knows records and numbers, but no sockets, no JSON and no configuration file.
//
// Every script compares the epoch that the caller believes in with Redis' own history before it writes anything (see
// lua/include/prelude.lua), and a Store keeps that epoch. If a script refuses it, the Store calls the OnLostHistory hook,
// which asserts the state of this instance's sessions, and calls again once.
//
// Notifications for this instance's own sessions come back in the reply of a call and go to the OnNotification hook, like
// published ones. All methods of a Store are safe for concurrent use; the hooks are set before the first call.
package store
