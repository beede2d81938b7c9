package matching

import "muster/store"

// Mode is how a world puts players together.
type Mode string

// The modes.
const (
	Group Mode = "group" // the Size that waited longest
	Duel  Mode = "duel"  // two that have not met lately
	Fill  Mode = "fill"  // into open rooms, one by one
)

// State says whether a world takes players.
type State string

// The states.
const (
	Open   State = "open"
	Closed State = "closed"
)

// World is a world as this instance serves it. Of the rules, Pairs follows from Mode, and where that is Fill, Size is 1:
// nobody waits for anybody.
type World struct {
	store.WorldRules
	Mode  Mode
	State State
	// Rooms are the names of a match's rooms; each match gets an id for every one.
	Rooms []string
	// PartyMax is the most players of a ticket.
	PartyMax int
	// LeaveOnClose says that a player whose connection ends by intent leaves the queue at once.
	LeaveOnClose bool
}

// MatchSize is how many players a match has, or a room takes.
func (w World) MatchSize() int { return max(w.Size, w.Seats) }
