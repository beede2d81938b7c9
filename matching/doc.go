// Package matching serves worlds: it takes joins, has matches formed, and keeps at both.
//
// Each world has a loop. What arrives while the loop's last call is in flight goes into the next one, so
// that a quiet server answers a join in one round trip and a busy one needs a fraction of a call a player.
// Every call joins and then matches; a wake has it match without a join. Beside the loops one ticker does
// what time changes, and pokes the worlds that are due for a look: what a wake that got lost would have done
// happens a tick later.
//
// Who may match whom, and that nobody is matched twice, is decided by the scripts behind Store; this package
// holds no ticket. It knows neither players' sessions nor sockets. All methods of a Matching are safe for
// concurrent use.
package matching
