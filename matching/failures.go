package matching

import "github.com/rs/zerolog"

// failures logs what fails again and again: the first of a row, and the end of the row. Only one goroutine
// may use it.
type failures struct {
	log     zerolog.Logger
	failing bool
}

// note takes the outcome of one more try.
func (f *failures) note(err error) {
	switch {
	case err != nil && !f.failing:
		f.log.Warn().Err(err).Msg("fails until further notice")
	case err == nil && f.failing:
		f.log.Info().Msg("works again")
	}
	f.failing = err != nil
}
