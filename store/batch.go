package store

import (
	"context"
	"time"

	"muster/internal/groupcommit"
	"muster/internal/ident"
)

// What many players ask of their matches at once is asked together: all that comes while one pipeline is on its way
// shares the next, with one call for each script. A lone one goes out at once.

const (
	// sharedMax is the most players of one pipeline.
	sharedMax = 50
	// sharedWithin is how long after the first player asked a pipeline may end, and sharedTooOld how long one may wait
	// for its own to begin. A client is promised an answer within 3 s.
	sharedWithin, sharedTooOld = 2500 * time.Millisecond, 1500 * time.Millisecond
)

// question is one player's part of a call of a script that takes many.
type question struct {
	script string
	who    Session
	match  ident.Match
	asked  time.Time
}

// answer is what became of the player.
type answer struct {
	Outcome
	err   error
	given bool
}

// committer commits questions in groups.
type committer = groupcommit.Committer[question, answer]

func (s *Store) newCommitter() *committer {
	opts := groupcommit.Options{Max: sharedMax, TooOld: sharedTooOld}
	return groupcommit.New(opts, func(ctx context.Context, batch []question) ([]answer, bool, error) {
		ctx, cancel := context.WithDeadline(ctx, batch[0].asked.Add(sharedWithin))
		defer cancel()
		return s.askAll(ctx, batch), false, nil
	})
}

// ask asks something of a player's match, by a script that takes many players. One whose ctx ends
// while it waits has no effect; while it is on its way that is unknown.
func (s *Store) ask(ctx context.Context, q question) (Outcome, error) {
	return s.answered(q)(s.shared.Do(ctx, q))
}

// startAsking is ask for one who does not wait. The end of ctx calls done no sooner.
func (s *Store) startAsking(ctx context.Context, q question, done func(Outcome, error)) {
	s.shared.Send(ctx, q.asked, q, func(a answer, err error) { done(s.answered(q)(a, err)) })
}

// answered is what is told of a question that was committed with an answer, or was not.
func (s *Store) answered(q question) func(answer, error) (Outcome, error) {
	return func(a answer, err error) (Outcome, error) {
		if err != nil {
			return Outcome{}, s.unavailable(q.script, err)
		}
		return a.Outcome, a.err
	}
}

// askAll asks until all are answered: a script that has looked at enough players leaves the rest undone, but never all.
func (s *Store) askAll(ctx context.Context, batch []question) []answer {
	answers := make([]answer, len(batch))
	for left := len(batch); left > 0; {
		answered, err := s.askTogether(ctx, batch, answers)
		if err != nil {
			for i := range answers {
				if !answers[i].given {
					answers[i] = answer{err: err, given: true}
				}
			}
			break
		}
		left -= answered
	}
	return answers
}

// askTogether sends one call a script for those who have no answer yet, and returns how many have got one.
func (s *Store) askTogether(ctx context.Context, batch []question, answers []answer) (answered int, err error) {
	var calls []call
	var asked [][]int // by call, who is in it
	of := map[string]int{}
	for i, q := range batch {
		if answers[i].given {
			continue
		}
		at, ok := of[q.script]
		if !ok {
			at = len(calls)
			of[q.script] = at
			calls, asked = append(calls, call{script: q.script, args: []any{0}}), append(asked, nil)
		}
		asked[at] = append(asked[at], i)
		calls[at].args[0] = len(asked[at])
		calls[at].args = append(calls[at].args, string(q.who.Player), optional(q.who.Generation), string(q.match))
	}
	replies, err := s.runAll(ctx, calls...)
	if err != nil {
		return 0, err
	}
	for at, r := range replies {
		s.back(r.text(statusFieldsBefore))
		for n, i := range asked[at] {
			l := r.list(statusFieldsBefore + 1 + n)
			switch {
			case r.err() != nil:
				answers[i] = answer{err: r.err(), given: true}
			case l.status() == statusNothingToDo:
				continue
			default:
				answers[i] = answer{Outcome: Outcome{Record: l.text(1), Before: l.place(2)}, err: l.err(), given: true}
			}
			answered++
		}
	}
	return answered, nil
}
