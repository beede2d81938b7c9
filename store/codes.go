package store

// A script's reply begins with a status: positive is done, 0 is nothing to do, negative is one of these
// codes. This is their only table: scripts name them CODE_…, and the loader puts the number in. A code
// is never used again for another meaning.
const (
	codeLostHistory    = -1  // the epoch is not Redis' own: assert first
	codeStaleRevision  = -2  // the world's settings have changed
	codeReplaced       = -3  // a newer session has the player
	codeGone           = -4  // the player has no presence: it must arrive
	codeAlreadyQueued  = -5  // it waits in this world
	codeInMatch        = -6  // it is in a match
	codeTooManyWorlds  = -7  // it waits in as many worlds as one may
	codeQueueFull      = -8  // the world takes no more
	codeKeyReused      = -9  // the same key with other content
	codeNoSuchMatch    = -10 // not the player's open match, or over
	codeUnknownWorld   = -11 // not declared, or on its way out
	codeWorldClosed    = -12 // declared, and closed
	codeInProposal     = -13 // it is in a match that does not stand yet
	codeCooledDown     = -14 // it declined, and may not join again yet
	codeTooLate        = -15 // nobody waits for it any more
	codeTaken          = -16 // another live session has the player, which may not be taken over unseen
	statusNothingToDo  = 0
	statusDone         = 1
	statusRepeated     = 2
	statusAdopt        = 2
	statusFieldsBefore = 3 // status, own part, now_ms
)

// codeNames are the names under which scripts use the codes.
var codeNames = map[string]int{
	"CODE_LOST_HISTORY":    codeLostHistory,
	"CODE_STALE_REVISION":  codeStaleRevision,
	"CODE_REPLACED":        codeReplaced,
	"CODE_GONE":            codeGone,
	"CODE_ALREADY_QUEUED":  codeAlreadyQueued,
	"CODE_IN_MATCH":        codeInMatch,
	"CODE_TOO_MANY_WORLDS": codeTooManyWorlds,
	"CODE_QUEUE_FULL":      codeQueueFull,
	"CODE_KEY_REUSED":      codeKeyReused,
	"CODE_NO_SUCH_MATCH":   codeNoSuchMatch,
	"CODE_UNKNOWN_WORLD":   codeUnknownWorld,
	"CODE_WORLD_CLOSED":    codeWorldClosed,
	"CODE_IN_PROPOSAL":     codeInProposal,
	"CODE_COOLED_DOWN":     codeCooledDown,
	"CODE_TOO_LATE":        codeTooLate,
	"CODE_TAKEN":           codeTaken,
}
