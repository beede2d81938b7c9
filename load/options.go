package load

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"muster/internal/ident"
)

// Pattern is how players arrive.
type Pattern string

// The patterns.
const (
	Burst  Pattern = "burst"  // all connect, then all join at one moment
	Steady Pattern = "steady" // joins at fixed moments, whatever became of the earlier ones
	Churn  Pattern = "churn"  // as Steady; each player's connection breaks once while it waits
	Idle   Pattern = "idle"   // all connect and do nothing
)

// Options say what a run does.
type Options struct {
	// URLs are the servers' addresses (ws or wss, with the path /v1/ws); players take them in turn.
	URLs []string
	// Players is how many connect.
	Players int
	// Worlds are where they join, in turn; with EveryWorld each player waits in all at once.
	Worlds     []string
	EveryWorld bool
	Pattern    Pattern
	// Rate is joins a second, with Steady and Churn.
	Rate float64
	// Duration is for how long players arrive, and for how long Idle stays.
	Duration time.Duration
	// Leave has each player leave its match at once and join again later, with Steady and Churn.
	Leave bool
	// ConnectRate is connections a second; 0 is as many as go.
	ConnectRate float64
	// Sources are local addresses to connect from, in turn; none is the system's choice.
	Sources []string
	// IDPrefix is what players' ids begin with. A tag that is new in each run follows.
	IDPrefix string
	// Timeout bounds all until the last join; Settle is how long nothing must happen, after it, until
	// who waits still is taken to wait for ever.
	Timeout, Settle time.Duration
	// Progress, if set, is called about once a second, by one goroutine.
	Progress func(Progress)
	// Reached, if set, is called at each stage, before what follows it begins. The run waits for it.
	Reached func(Stage)
}

// Stage is how far a run is.
type Stage string

// The stages.
const (
	Connected Stage = "connected" // all are connected who will be; nobody has joined
	Settled   Stage = "settled"   // all who joined were told, or given up; nobody has disconnected
)

// maxIDPrefix leaves room for the tag and a number.
const maxIDPrefix = ident.MaxLength - 16

// maxPlayers bounds what a slip of the finger can do.
const maxPlayers = 1_000_000

// Validate names everything that is wrong, by the names of the flags.
func (o *Options) Validate() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	check(len(o.URLs) > 0, "url: there must be one")
	for _, address := range o.URLs {
		u, err := url.Parse(address)
		check(err == nil && (u.Scheme == "ws" || u.Scheme == "wss") && u.Host != "",
			"url: %q is not ws://host:port/v1/ws", address)
	}
	check(o.Players >= 1 && o.Players <= maxPlayers, "players: %d is not 1 to %d", o.Players, maxPlayers)
	for _, world := range o.Worlds {
		check(ident.Valid(world), "world: %q is no name of a world", world)
	}
	for _, source := range o.Sources {
		check(net.ParseIP(source) != nil, "sources: %q is no IP address", source)
	}
	check(ident.Valid(o.IDPrefix) && len(o.IDPrefix) <= maxIDPrefix,
		"id-prefix: %q is not 1 to %d characters out of A-Z a-z 0-9 . _ : @ -", o.IDPrefix, maxIDPrefix)
	check(o.ConnectRate >= 0, "connect-rate: %v is below 0", o.ConnectRate)
	check(o.Timeout > 0, "timeout: %v is not above 0", o.Timeout)
	check(o.Settle > 0, "settle: %v is not above 0", o.Settle)
	problems = append(problems, o.validatePattern()...)
	return errors.Join(problems...)
}

// validatePattern names what is wrong for the pattern.
func (o *Options) validatePattern() (problems []error) {
	arrivals := o.Pattern == Steady || o.Pattern == Churn
	switch {
	case !arrivals && o.Pattern != Burst && o.Pattern != Idle:
		return []error{fmt.Errorf("pattern: %q is not one of burst, steady, churn, idle", o.Pattern)}
	case arrivals && !(o.Rate > 0):
		problems = append(problems, fmt.Errorf("rate: %v is not above 0", o.Rate))
	}
	if o.Pattern != Burst && o.Duration <= 0 {
		problems = append(problems, fmt.Errorf("duration: %v is not above 0", o.Duration))
	}
	if o.Pattern != Idle && len(o.Worlds) == 0 {
		problems = append(problems, errors.New("world: there must be one"))
	}
	if o.Leave && !arrivals {
		problems = append(problems, fmt.Errorf("leave: is for steady and churn only, and the pattern is %s", o.Pattern))
	}
	return problems
}
