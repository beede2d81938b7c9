package hub

import (
	"fmt"
	"strings"

	"muster/internal/ident"
	"muster/protocol"
	"muster/store"
)

// WorldFacts are what a player's view of a queue needs to know of its world.
type WorldFacts struct {
	// Size is how many players a match has.
	Size int
	// Apart says that the same two do not meet again at once, so that enough may wait and not fit.
	Apart bool
	// MeanWait is how long matches took to form lately, as this instance last learned it.
	MeanWait store.MeanWait
}

// Estimate is how long a ticket is still to wait, in milliseconds: what matches of the world took to form
// lately, less what it has waited. nil while that is not known.
func Estimate(mean store.MeanWait, now, waitedMS int64) *int64 {
	if !mean.Known(now) {
		return nil
	}
	left := max(0, mean.Wait.Milliseconds()-waitedMS)
	return &left
}

// Queued is a ticket as its player sees it. now is Redis' time in Unix milliseconds.
func Queued(t store.Ticket, rank store.Rank, facts WorldFacts, now int64) protocol.Queued {
	enqueued := t.Place.UnixMilli()
	waited := max(0, now-enqueued)
	return protocol.Queued{
		World: string(t.World), TicketID: string(t.ID()), Party: protocol.List[string]{},
		Position: int64(rank.Position), QueueSize: int64(rank.Size), EnqueuedAt: enqueued, WaitedMS: waited,
		EstimatedWaitMS: Estimate(facts.MeanWait, now, waited), WaitingFor: waitingFor(rank.Size, facts),
	}
}

// reserved is a ticket whose player is in a match that is not complete yet. It is in no queue meanwhile, so that it is
// counted here, and it waits for that match alone, in whichever world it is.
func reserved(t store.Ticket, rank store.Rank, facts WorldFacts, now int64) protocol.Queued {
	rank.Size += t.Size
	view := Queued(t, rank, facts, now)
	view.WaitingFor = protocol.WaitingFor{Code: waitingForMatch, Text: "your match to begin"}
	return view
}

// waitingForMatch is the code of a ticket that waits for a match with enough players.
const waitingForMatch = "match"

// waitingFor says what a ticket waits for: more players, or, where enough are there, others or their match.
func waitingFor(size int, facts WorldFacts) protocol.WaitingFor {
	need := max(0, facts.Size-size)
	switch {
	case need == 0 && facts.Apart:
		return protocol.WaitingFor{Code: "opponent", Text: "somebody you have not just met"}
	case need == 0:
		return protocol.WaitingFor{Code: waitingForMatch, Text: "a match is about to be formed"}
	case need == 1:
		return protocol.WaitingFor{Code: protocol.WaitingForPlayers, Need: 1, Text: "1 more player"}
	default:
		return protocol.WaitingFor{Code: protocol.WaitingForPlayers, Need: int64(need), Text: fmt.Sprintf("%d more players", need)}
	}
}

// State is a player's whole state as it is sent.
func State(st store.PlayerState, facts func(ident.World) WorldFacts) protocol.PlayerState {
	view := protocol.PlayerState{Queued: protocol.List[protocol.Queued]{}, Notices: protocol.Notices{}}
	record, err := store.ParseRecord(st.Record)
	if err != nil {
		return view
	}
	for _, t := range record.Waiting() {
		if record.Held {
			view.Queued = append(view.Queued, reserved(t, st.Ranks[t.World], facts(t.World), st.Now))
			continue
		}
		view.Queued = append(view.Queued, Queued(t, st.Ranks[t.World], facts(t.World), st.Now))
	}
	if m, ok := matchOf(st.Record, st.Match); ok {
		view.Match = m
	}
	for _, n := range st.Notices {
		view.Notices = append(view.Notices, noticeEvent(n))
	}
	return view
}

// MatchView is a match as a participant sees it. While it does not stand it says how many are asked and how many
// accepted, but neither who they are nor where to go.
func MatchView(m store.Match, acked bool) *protocol.Match {
	view := &protocol.Match{
		ID: string(m.ID), World: string(m.World), State: m.State, CreatedAt: m.Created.UnixMilli(), ExpiresAt: m.EndsAt,
		Acked: acked,
	}
	if m.Held() {
		accepted := int64(len(m.Accepted))
		view.AcceptBy, view.Accepted, view.Size = m.AcceptBy, &accepted, int64(len(m.Players))
		return view
	}
	view.Rooms, view.Players, view.Endpoint = map[string]string{}, protocol.List[protocol.Player]{}, m.Endpoint
	for _, r := range m.Rooms {
		view.Rooms[r.Name] = r.ID
	}
	for _, p := range m.Players {
		view.Players = append(view.Players, protocol.Player{ID: string(p)})
	}
	return view
}

// matchOf is the match that a record names, from its text.
func matchOf(record, text string) (*protocol.Match, bool) {
	r, err := store.ParseRecord(record)
	if err != nil || r.Match == "" || text == "" {
		return nil, false
	}
	m, err := store.ParseMatch(r.Match, text)
	if err != nil {
		return nil, false
	}
	return MatchView(m, r.Acked), true
}

// noticeEvent is a notice as its event is sent.
func noticeEvent(n store.Notice) protocol.Notice {
	switch n.Kind {
	case protocol.TypeMatchCancelled:
		return &protocol.MatchCancelled{NoticeID: n.ID, MatchID: string(n.Match), Reason: n.Reason}
	case protocol.TypeMatchEnded:
		return &protocol.MatchEnded{NoticeID: n.ID, MatchID: string(n.Match), Reason: n.Reason}
	default:
		return &protocol.Dequeued{NoticeID: n.ID, World: string(n.World), TicketID: string(n.Ticket), Reason: n.Reason}
	}
}

// InvalidClaims tells a client what of that which it believes does not stand: with the notice of its end where
// there is one, as lost otherwise. A match that is complete ended its player's tickets, so that nothing is said of those; one
// that is proposed or waits for its server has them still, unless they are lost.
func InvalidClaims(have *protocol.Have, st store.PlayerState) []protocol.Message {
	var told []protocol.Message
	for _, n := range unfounded(have, st) {
		told = append(told, noticeEvent(n))
	}
	return told
}

// unfounded are the ends that InvalidClaims tells of.
func unfounded(have *protocol.Have, st store.PlayerState) []store.Notice {
	if have == nil {
		return nil
	}
	record, err := store.ParseRecord(st.Record)
	if err != nil {
		return nil
	}
	ends := map[string]store.Notice{}
	for _, n := range st.Notices {
		ends[string(n.Ticket)+string(n.Match)] = n
	}
	standing := tickets(record)
	var list []store.Notice
	for _, id := range have.Tickets {
		if !standing[ident.Ticket(id)] && (record.Match == "" || record.Held) {
			list = append(list, endOf(ends, id, store.Notice{Kind: protocol.TypeDequeued, World: worldOf(id), Ticket: ident.Ticket(id)}))
		}
	}
	if have.Match != "" && have.Match != string(record.Match) {
		list = append(list, endOf(ends, have.Match, store.Notice{Kind: protocol.TypeMatchCancelled, Match: ident.Match(have.Match)}))
	}
	return list
}

// lostMark begins the ids of notices that Redis does not have: nobody wrote down what was lost.
const lostMark = "lost."

// isLost tells whether a notice was made up for what was lost.
func isLost(n store.Notice) bool { return strings.HasPrefix(n.ID, lostMark) }

func endOf(ends map[string]store.Notice, id string, lost store.Notice) store.Notice {
	if n, ok := ends[id]; ok {
		return n
	}
	// Of a long id the end is kept, which tells tickets of a world apart.
	lost.ID, lost.Reason = lostMark+id[max(0, len(lostMark)+len(id)-protocol.MaxIDLength):], protocol.ReasonLost
	return lost
}

// worldOf is the world that a ticket's id names.
func worldOf(ticket string) ident.World {
	for i := len(ticket) - 1; i >= 0; i-- {
		if ticket[i] == '.' {
			return ident.World(ticket[:i])
		}
	}
	return ident.World(ticket)
}
