package store

import "muster/internal/ident"

// All keys of a realm begin alike and share a hash tag, so that they live in one slot. Scripts build them
// from the name of the meta key; Go needs only these.

// keyPrefix is how all keys and channels of a realm begin.
func keyPrefix(realm string) string { return "mm:{" + realm + "}:" }

// keyMeta is the HASH of the epoch, and the first key of every script.
func keyMeta(realm string) string { return keyPrefix(realm) + "meta" }

// channelOf is where an instance is told.
func channelOf(realm string, i ident.Instance) string { return keyPrefix(realm) + "i:" + string(i) }

// keyStream is the STREAM of what happened to matches and tickets, keyDead that of the entries that a group gave
// up.
func keyStream(realm string) string { return keyPrefix(realm) + "st" }

func keyDead(realm string) string { return keyPrefix(realm) + "sd" }
