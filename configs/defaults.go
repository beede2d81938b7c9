package configs

import (
	"fmt"
	"time"

	"muster/internal/ident"
)

const (
	defaultWorldSize = 3
	// A group is looked for among ten times its players and a little more: enough to step over a few
	// who do not fit, small enough for one short script run.
	defaultGroupScan = 32
	// The opponent is looked for among the ten who waited longest.
	defaultDuelScan = 10
	defaultRoom     = "game"
	// Eight attempts with doubling pauses outlast the restart of whatever is called.
	defaultAttempts          = 8
	defaultAllocatorAttempts = 3
	defaultAllocatorTimeout  = 5 * time.Second
	defaultNamespace         = "default"
	defaultSeatHold          = 30 * time.Second
)

// Default is what holds where nothing is set, the default worlds included.
func Default() Config {
	c := defaultServer()
	c.Worlds = defaultWorlds()
	return c
}

// defaultServer is Default without the worlds.
func defaultServer() Config {
	return Config{
		Listen:    "127.0.0.1:8080",
		OpsListen: "127.0.0.1:9090",
		Realm:     "main",
		// Longer than an instance needs to notice the loss and to assert some thousand sessions.
		Redis: Redis{Recovery: 1500 * time.Millisecond},
		Auth:  Auth{Mode: AuthDev},
		Limits: Limits{
			Connections:       100_000,
			ConnectionsPerIP:  1000, // an office or a carrier's NAT fits in, a flood from one address does not
			MessagesPerSecond: 20,
			WorldsPerPlayer:   8,
			MessageBytes:      16 << 10,
		},
		Presence: Presence{
			Heartbeat:      10 * time.Second,
			TTL:            25 * time.Second, // one heartbeat may be lost
			ReconnectGrace: 15 * time.Second,
		},
		Drain:   10 * time.Second,
		Log:     Log{Level: LogInfo, Format: LogAuto},
		Journal: Journal{Attempts: defaultAttempts},
	}
}

// defaultWorlds are those of a file that names none.
func defaultWorlds() []World {
	worlds := make([]World, 0, 4)
	for i := range 3 {
		w := World{Name: ident.World(fmt.Sprintf("world%d", i+1)), Rooms: []string{"game", "chat"}}
		w.setDefaults()
		worlds = append(worlds, w)
	}
	voice := World{Name: "voice", Mode: ModeDuel}
	voice.setDefaults()
	return append(worlds, voice)
}

// setDefaults fills in what is not set. Zero means not set: where it would be a value of its own, it is
// either the default or out of the key's range.
func (w *World) setDefaults() {
	fill(&w.State, WorldOpen)
	fill(&w.Mode, ModeGroup)
	switch w.Mode {
	case ModeDuel:
		fill(&w.Size, 2)
		fill(&w.Scan, defaultDuelScan)
	case ModeRules:
		fill(&w.Size, w.Teams.players())
	case ModeFill:
		fill(&w.SeatHold, defaultSeatHold)
	}
	fill(&w.Size, defaultWorldSize)
	fill(&w.Scan, max(defaultGroupScan, w.Size))
	if len(w.Rooms) == 0 {
		w.Rooms = []string{defaultRoom}
	}
	fill(&w.Tick, time.Second)
	fill(&w.TicketTTL, time.Hour)
	fill(&w.MatchHold, time.Minute)
	fill(&w.PartyMax, 1)
	if a := w.Allocator; a != nil {
		fill(&a.Timeout, defaultAllocatorTimeout)
		fill(&a.Attempts, defaultAllocatorAttempts)
		if a.Agones != nil {
			fill(&a.Agones.Namespace, defaultNamespace)
		}
	}
}

func (t Teams) players() int {
	sum := 0
	for _, team := range t {
		sum += team.Size
	}
	return sum
}

// fill sets what p points to unless it is set already.
func fill[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}
