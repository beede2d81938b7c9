package history

import (
	"strconv"
	"time"

	"muster/protocol"
)

// nobodySpeaksForANewer checks rule 8: what a connection asks for after a newer one of the same player was
// welcomed is not carried out.
func (j *judge) nobodySpeaksForANewer() {
	for _, r := range j.players {
		late := map[string]Entry{} // requests of older connections, by message id
		newest := 0
		for _, e := range r.entries {
			switch {
			case e.Kind == Sent && e.Conn < newest:
				late[e.Request.MessageID()] = e
			case e.Kind != Heard:
			case e.Event.Type() == (&protocol.Welcome{}).Type():
				newest = max(newest, e.Conn)
			case e.Event.MessageID() != "" && changes(e.Event):
				if asked, ok := late[e.Event.MessageID()]; ok && asked.Conn == e.Conn {
					j.blame(8, e.At, r.name, "the %s of a session that was taken over is carried out", asked.Request.Type())
				}
			}
		}
	}
}

// changes tells of a reply that a changing request was carried out.
func changes(e protocol.Event) bool {
	switch e.(type) {
	case *protocol.Joined, *protocol.Left, *protocol.LeftMatch, *protocol.Acked, *protocol.Accepted, *protocol.Declined:
		return true
	default:
		return false
	}
}

// outagesEvictNobody checks that nobody who was away lost its places for the time that Redis was out of reach:
// whoever had not been away for long enough before has a while after it.
func (j *judge) outagesEvictNobody() {
	if j.opts.Grace == 0 {
		return
	}
	for _, r := range j.players {
		for _, end := range r.ends {
			if end.reason != protocol.ReasonPresenceLost || end.made.IsZero() {
				continue
			}
			for _, outage := range j.outages {
				// A little is left for what the clocks of this check are apart.
				if end.made.After(outage.From) && end.made.Before(outage.To.Add(j.opts.Calm/2)) && j.wasThere(r, outage.From) {
					j.blame(7, end.at, r.name, "ticket %s ended as presence_lost, %v after Redis was back",
						end.ticket, end.made.Sub(outage.To))
				}
			}
		}
	}
}

// wasThere reports whether the player was connected at some time within its grace before a moment.
func (j *judge) wasThere(r *replay, at time.Time) bool {
	for _, c := range r.conns {
		if !c.welcomed.IsZero() && c.welcomed.Before(at) && (c.ended.IsZero() || c.ended.Add(j.opts.Grace).After(at)) {
			return true
		}
	}
	return false
}

// moment is when a notice was made, which its id tells: it is a place, Redis' time in microseconds.
func moment(noticeID string) time.Time {
	micros, err := strconv.ParseInt(noticeID, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMicro(micros)
}
