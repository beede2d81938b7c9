package allocation

import (
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/faultlog"
	"muster/internal/ident"
	"muster/store"
)

// failures logs how the allocators of the worlds fare. A thousand matches that wait for an allocator which is down are
// one fault.
type failures struct {
	log    zerolog.Logger
	claims *faultlog.Log

	mu     sync.Mutex
	worlds map[ident.World]*worldLog // guarded by mu
}

// worldLog is the log of one world's allocator.
type worldLog struct {
	*faultlog.Log
	usedAt time.Time
}

// worldLogLife is how long the log of a world is kept after its last use: the world may have been removed.
const worldLogLife = time.Hour

func newFailures(log zerolog.Logger) *failures {
	return &failures{
		log: log, worlds: map[ident.World]*worldLog{},
		claims: faultlog.New(log, faultlog.Messages{
			Level: zerolog.WarnLevel, Fails: "matches that wait for a server cannot be claimed; retrying", Works: "matches that wait for a server can be claimed again",
		}),
	}
}

// note takes the outcome of one more attempt to get a server.
func (f *failures) note(world ident.World, match ident.Match, err error) {
	log := f.of(world)
	if err == nil {
		log.Worked()
		return
	}
	f.log.Debug().Err(err).Str("world", string(world)).Str("match_id", string(match)).Msg("allocation failed")
	log.Failed(err, "match_id", string(match))
}

// of returns the log of a world, and forgets those that were not used for long.
func (f *failures) of(world ident.World) *worldLog {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.worlds, func(_ ident.World, l *worldLog) bool { return now.Sub(l.usedAt) > worldLogLife })
	log := f.worlds[world]
	if log == nil {
		log = &worldLog{Log: faultlog.New(f.log.With().Str("world", string(world)).Logger(), faultlog.Messages{
			Level: zerolog.WarnLevel, Fails: "allocation fails until further notice", Works: "allocation works again", Reached: "allocator reached",
		})}
		f.worlds[world] = log
	}
	log.usedAt = now
	return log
}

// noteClaim takes the outcome of a claim. An outage of Redis has a warning of its own, and concerns instances that have no
// allocator at all.
func (f *failures) noteClaim(err error) {
	switch {
	case err == nil:
		f.claims.Worked()
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrLostHistory):
		f.log.Debug().Err(err).Msg("matches that wait for a server not claimed; retrying")
	default:
		f.claims.Failed(err)
	}
}
