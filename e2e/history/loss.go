package history

import (
	"slices"
	"time"

	"muster/protocol"
)

// onlyTheLostLose checks the bounds of rule 7: with a loss of history, only players whose instance did
// not live through it lose tickets and matches, and those who are in a match with them.
func (j *judge) onlyTheLostLose() {
	for _, r := range j.players {
		for _, end := range r.ends {
			if end.reason != protocol.ReasonLost || end.repeat || r.askedToEnd(end) {
				continue
			}
			from, players := j.stake(r, end)
			if !j.mayHaveLost(from, end.at, players...) {
				j.blame(7, end.at, r.name, "lost %s%s, and nothing excuses it", end.ticket, end.match)
			}
		}
	}
}

// askedToEnd reports whether the player itself had asked to leave what it lost, as far as it knows in vain:
// the reply may have been lost, and nobody keeps a notice of an end that was asked for.
func (r *replay) askedToEnd(end ending) bool {
	for _, rel := range r.releases {
		if rel.asked && rel.match == end.match && rel.at.Before(end.at) {
			return true
		}
	}
	for _, t := range r.tickets {
		if t.id != end.ticket || t.end == endLeft {
			continue // told of a leave that worked, it must not hear of a loss
		}
		return slices.ContainsFunc(r.leaves, func(l leave) bool {
			return (l.world == "" || l.world == t.world) && l.at.After(t.sent) && l.at.Before(end.at)
		})
	}
	return false
}

// stake is since when a lost ticket or match stood, and whom it belonged to.
func (j *judge) stake(r *replay, end ending) (from time.Time, players []string) {
	if m, ok := j.matches[end.match]; ok {
		return time.UnixMilli(m.CreatedAt), m.members
	}
	for _, t := range r.tickets {
		if t.id == end.ticket {
			return time.UnixMilli(t.enqueuedAt), []string{r.name}
		}
	}
	return end.at, []string{r.name}
}

// everyRequestAnswered checks the rest of rule 7: a request is answered in time, once, as long as the
// connection stands.
func (j *judge) everyRequestAnswered() {
	for _, r := range j.players {
		for _, c := range r.conns {
			j.requestsAnswered(r, c)
		}
	}
}

func (j *judge) requestsAnswered(r *replay, c *conn) {
	asked := map[string]Entry{}
	answered := map[string]bool{}
	for _, e := range r.entries {
		if e.Conn != c.number {
			continue
		}
		switch e.Kind {
		case Sent:
			asked[e.Request.MessageID()] = e
		case Heard:
			id := e.Event.MessageID()
			request, known := asked[id]
			switch {
			case id == "":
			case !known || answered[id]:
				j.blame(7, e.At, r.name, "a %s answers request %q, which does not wait", e.Event.Type(), id)
			case j.patienceFrom(request.At).Before(e.At):
				j.blame(7, e.At, r.name, "%s was answered after %v", request.Request.Type(), e.At.Sub(request.At))
			}
			answered[id] = true
		}
	}
	end := c.ended
	if end.IsZero() {
		end = j.until
	}
	for id, e := range asked {
		if !answered[id] && j.patienceFrom(e.At).Before(end) {
			j.blame(7, e.At, r.name, "%s is not answered", e.Request.Type())
		}
	}
}
