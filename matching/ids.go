package matching

import (
	"crypto/rand"
	"strings"

	"github.com/google/uuid"

	"muster/internal/ident"
	"muster/store"
)

// The ids of matches and rooms are no secrets, so their random bits may come from a pool, which saves a
// system call for each.
func init() { uuid.EnableRandPool() }

// newID makes an UUIDv7: unique without asking anybody, and in the order of time for whoever stores it.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// candidatesMax is the most matches that one call may form: it bounds how long a script holds Redis.
const candidatesMax = 25

// newCandidates makes ids for the matches that a call may form.
func newCandidates(count int, rooms []string) []store.Candidate {
	candidates := make([]store.Candidate, count)
	for i := range candidates {
		candidates[i] = store.Candidate{Match: ident.Match(newID()), Rooms: make([]store.Room, len(rooms))}
		for j, name := range rooms {
			candidates[i].Rooms[j] = store.Room{Name: name, ID: newID()}
		}
	}
	return candidates
}

// serverKeyMark begins the keys that the server makes; no client's key can begin so.
const serverKeyMark = "~"

// newKey makes the key of a join to which its client gave none, so that it can be sent again. It tells the
// joins of one player in one world apart, for which eight characters are plenty.
func newKey() string { return serverKeyMark + rand.Text()[:8] }

func isServerKey(key string) bool { return strings.HasPrefix(key, serverKeyMark) }
