// Package ident holds the identifiers that more than one package needs: their types, and the rule of
// what an id from outside may look like. It knows nothing of Redis, of the wire or of configuration.
package ident

import "strconv"

// The identifiers of Muster. They are strings on the wire and in Redis; as types of their own they
// cannot be passed in each other's place.
type (
	// Player names a player within a realm.
	Player string
	// World names a world within a realm.
	World string
	// Match names a match; a UUIDv7 made by the instance that formed it.
	Match string
	// Ticket names a ticket on the wire: `<world>.<place>`.
	Ticket string
	// Instance names one server process; new at every start.
	Instance string
)

// Place is the realm's one number: max(last + 1, Redis' time in microseconds). It orders tickets,
// versions records and numbers generations and epochs. Zero means none.
type Place int64

// UnixMilli is the time, by Redis' clock, at which the place was given out.
func (p Place) UnixMilli() int64 { return int64(p) / 1000 }

// String is the place in decimal, as it stands in Redis.
func (p Place) String() string { return strconv.FormatInt(int64(p), 10) }

// TicketOf is the id of the ticket that stands in a world at a place.
func TicketOf(w World, p Place) Ticket { return Ticket(string(w) + "." + p.String()) }

// MaxLength is the most characters that an id may have.
const MaxLength = 64

// Valid reports whether s may be an id: 1 to 64 characters out of `A-Z a-z 0-9 . _ : @ -`. Every id
// that comes from outside passes here, which is why records in Redis may use `| ; = ,` and spaces
// as delimiters.
func Valid(s string) bool {
	if s == "" || len(s) > MaxLength {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '.', c == '_', c == ':', c == '@', c == '-':
		default:
			return false
		}
	}
	return true
}
