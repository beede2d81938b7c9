package allocation

import (
	"maps"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/musterhq/muster/internal/ident"
)

// failures logs what fails again and again: the first of a row, and the end of the row. A thousand matches that
// wait for an allocator which is down are one fault. There is one row a world, and one, of the world "", for the
// claims. A row ends also if nothing failed in it for rowLife: its world may have been removed.
type failures struct {
	log zerolog.Logger

	mu sync.Mutex
	// guarded by mu
	failing map[ident.World]time.Time // the last failure of each row
}

const rowLife = time.Hour

// note takes the outcome of one more try.
func (f *failures) note(world ident.World, match ident.Match, err error) {
	now := time.Now()
	f.mu.Lock()
	maps.DeleteFunc(f.failing, func(_ ident.World, last time.Time) bool { return now.Sub(last) > rowLife })
	_, was := f.failing[world]
	if err == nil {
		delete(f.failing, world)
	} else {
		f.failing[world] = now
	}
	f.mu.Unlock()
	log := f.log.With().Str("world", string(world)).Logger()
	switch {
	case err != nil && !was:
		log.Warn().Err(err).Str("match_id", string(match)).Msg("allocation fails until further notice")
	case err != nil:
		log.Debug().Err(err).Str("match_id", string(match)).Msg("allocation failed")
	case was:
		log.Info().Msg("allocation works again")
	}
}
