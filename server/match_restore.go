package server

import (
	"context"
	"fmt"
	"time"

	"muster/internal/ident"
	"muster/journal"
	"muster/store"
)

const (
	// restoreMatches is how many matches of the durable record are read at a time, restorePlayers how many players
	// those of one call may have.
	restoreMatches = 100
	restorePlayers = 100
)

// restore brings back from the durable record the matches that stood when Redis lost its data, and that no instance
// asserted. It gives the instances half of the recovery to do so. Instances that do it at the same time do no harm.
func (s *Server) restore(ctx context.Context) error {
	pause := time.NewTimer(s.config.Redis.Recovery / 2)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-pause.C:
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.after.journal.Migrated():
	}
	restored, after := 0, ident.Match("")
	for {
		open, err := s.after.journal.Open(ctx, after, restoreMatches)
		if err != nil {
			return fmt.Errorf("read open matches: %w", err)
		}
		if len(open) == 0 {
			break
		}
		n, err := s.restoreBatch(ctx, s.readable(open))
		if err != nil {
			return err
		}
		restored, after = restored+n, open[len(open)-1].ID
	}
	if restored > 0 {
		s.log.Warn().Int("matches", restored).Msg("redis lost its data; matches that nobody asserted were restored from the journal")
	}
	return nil
}

// readable returns the matches that can be restored, and logs the others.
func (s *Server) readable(open []journal.OpenMatch) []store.ArchivedMatch {
	var batch []store.ArchivedMatch
	for _, m := range open {
		if _, err := store.ParseMatch(m.ID, m.Record); err != nil {
			s.log.Error().Err(err).Msg("match of the journal cannot be read; it is not restored")
			continue
		}
		batch = append(batch, store.ArchivedMatch{ID: m.ID, Text: m.Record})
	}
	return batch
}

// restoreBatch hands matches over, so many at a time that no call has too many players.
func (s *Server) restoreBatch(ctx context.Context, batch []store.ArchivedMatch) (restored int, err error) {
	for len(batch) > 0 {
		players, end := 0, 0
		for end < len(batch) {
			m, err := store.ParseMatch(batch[end].ID, batch[end].Text)
			if players += len(m.Players); err == nil && players > restorePlayers && end > 0 {
				break
			}
			end++
		}
		n, err := s.store.RestoreMatches(ctx, batch[:end])
		if err != nil {
			return restored, fmt.Errorf("restore matches: %w", err)
		}
		restored, batch = restored+n, batch[end:]
	}
	return restored, nil
}

// restoreLoop restores when Redis was found empty, and again while PostgreSQL or Redis is away.
func (s *Server) restoreLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.emptied:
		}
		for attempt := time.Second; ; attempt = min(2*attempt, time.Minute) {
			err := s.restore(ctx)
			if err == nil || ctx.Err() != nil {
				break
			}
			s.log.Warn().Err(err).Msg("matches not restored from the journal yet")
			timer := time.NewTimer(attempt)
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
			timer.Stop()
		}
	}
}

// noteEmptied has restoreLoop restore. It does not wait.
func (s *Server) noteEmptied() {
	select {
	case s.emptied <- struct{}{}:
	default:
	}
}
