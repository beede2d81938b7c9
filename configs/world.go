package configs

import (
	"time"

	"muster/internal/ident"
)

// World is what can be set for one world. A zero value means that the feature is off.
type World struct {
	Name                ident.World   `koanf:"name" form:"id" need:"yes"`
	State               WorldState    `koanf:"state" oneof:"open closed"`
	Mode                Mode          `koanf:"mode" oneof:"group duel rules fill"`
	Size                int           `koanf:"size" range:"2..100"`
	Rooms               []string      `koanf:"rooms" form:"id" empty:"no"`
	Tick                time.Duration `koanf:"tick" range:"10ms..1m"`
	Scan                int           `koanf:"scan" range:"2..1000"`
	TicketTTL           time.Duration `koanf:"ticket_ttl" range:"100ms..168h"`
	MatchHold           time.Duration `koanf:"match_hold" range:"100ms..168h"`
	QueueLimit          int           `koanf:"queue_limit" range:"0..10000000"`
	ReadyCheck          time.Duration `koanf:"ready_check" range:"0s..5m"`
	DeclineCooldown     time.Duration `koanf:"decline_cooldown" range:"0s..24h"`
	PartyMax            int           `koanf:"party_max" range:"1..100"`
	LeaveOnClose        bool          `koanf:"leave_on_close"`
	RematchCooldown     time.Duration `koanf:"rematch_cooldown" range:"0s..24h"`
	SeatHold            time.Duration `koanf:"seat_hold" range:"100ms..1h"`
	MaxMatchesPerSecond float64       `koanf:"max_matches_per_second" range:"0..100000"`
	Allocator           *Allocator    `koanf:"allocator"`

	// What a world of mode rules has besides.
	Teams      Teams          `koanf:"teams"`
	Rules      []Rule         `koanf:"rules"`
	Roles      map[string]int `koanf:"roles" range:"1..100"`
	Balance    string         `koanf:"balance" form:"id"`
	Expansions []Expansion    `koanf:"expansions"`
}

// Mode is how a world puts players together.
type Mode string

// The modes of a world.
const (
	ModeGroup Mode = "group" // the Size that waited longest
	ModeDuel  Mode = "duel"  // two, one against the other
	ModeRules Mode = "rules" // by rules over the tickets' attributes
	ModeFill  Mode = "fill"  // into open rooms, the fullest first
)

// WorldState says whether a world takes players.
type WorldState string

// The states of a world that can be set.
const (
	WorldOpen   WorldState = "open"
	WorldClosed WorldState = "closed" // its tickets end, and joins are answered world_closed
)

// Allocator finds a game server for a match: a webhook or Agones, exactly one. Secret can only be given by
// SecretFile: the settings of a world travel through Redis, and a secret must not. A URL travels, unless it is in a
// file, and so must not have a place where a secret may be.
type Allocator struct {
	Webhook     Secret        `koanf:"webhook" form:"http_url" shared:"yes"`
	WebhookFile string        `koanf:"webhook_file"`
	Secret      Secret        `koanf:"secret"`
	SecretFile  string        `koanf:"secret_file"`
	Agones      *Agones       `koanf:"agones"`
	Timeout     time.Duration `koanf:"timeout" range:"1ms..30s"`
	Attempts    int           `koanf:"attempts" range:"1..10"`
}

// Agones is an Agones allocator service.
type Agones struct {
	URL       Secret            `koanf:"url" form:"http_url" need:"yes" shared:"yes"`
	URLFile   string            `koanf:"url_file"`
	Namespace string            `koanf:"namespace" form:"namespace"`
	Selector  map[string]string `koanf:"selector"`
}

// Teams are the teams of a match. In the file they are a list, or {count, size} for teams that are all
// alike, which are then called team1, team2 and so on.
type Teams []Team

// Team is one of them.
type Team struct {
	Name string `koanf:"name" form:"id" need:"yes"`
	Size int    `koanf:"size" range:"1..100" need:"yes"`
	// MinSize lets the team start short after an expansion says so; 0 means that it never does.
	MinSize int `koanf:"min_size" range:"1..100"`
}

// evenTeams is the short form of Teams.
type evenTeams struct {
	Count   int `koanf:"count" range:"1..100" need:"yes"`
	Size    int `koanf:"size" range:"1..100" need:"yes"`
	MinSize int `koanf:"min_size" range:"1..100"`
}

// Rule is one condition that the tickets of a match must meet. Exactly one of Distance, Equal, Shared,
// Latency, Avoid and RepeatAfter is set and says of which kind the rule is; all but the last name an
// attribute of the tickets.
type Rule struct {
	Distance    string        `koanf:"distance" form:"id"`
	Equal       string        `koanf:"equal" form:"id"`
	Shared      string        `koanf:"shared" form:"id"`
	Latency     string        `koanf:"latency" form:"id"`
	Avoid       string        `koanf:"avoid" form:"id"`
	RepeatAfter time.Duration `koanf:"repeat_after" range:"1s..168h"`

	Start     float64 `koanf:"start" range:"0..1000000000"`      // distance: allowed at once
	PerSecond float64 `koanf:"per_second" range:"0..1000000000"` // distance, latency: more for each second waited
	Max       float64 `koanf:"max" range:"0..1000000000"`        // distance: never more; latency: allowed at once, in ms
	Limit     float64 `koanf:"limit" range:"0..1000000000"`      // latency: never more, in ms
}

// Expansion loosens the rules for tickets that have waited After.
type Expansion struct {
	After   time.Duration `koanf:"after" range:"1s..168h" need:"yes"`
	Drop    []string      `koanf:"drop" form:"id"`
	MinSize int           `koanf:"min_size" range:"1..100"`
}
