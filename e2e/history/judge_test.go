package history

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/protocol"
)

var options = Options{
	Worlds: map[string]World{
		"duel": {Size: 2}, "trio": {Size: 3}, "again": {Size: 2, Cooldown: true},
		"check": {Size: 2, Held: true}, "served": {Size: 2, Held: true, Serving: 4 * time.Second},
		"lounge": {Size: 2, Fill: true}, "open": {Size: 2, Backfill: true},
	},
	Patience: 3 * time.Second,
	Grace:    time.Second,
	Calm:     5 * time.Second,
}

// good are histories in which nothing is wrong.
var good = map[string]func(s *story){
	"a pair meets, leaves and meets again": func(s *story) {
		m := s.pair("a", "b")
		for _, p := range []string{"a", "b"} {
			s.ask(p, &protocol.LeaveMatch{MatchID: m.ID}, &protocol.LeftMatch{MatchID: m.ID})
			s.join(p, "duel")
		}
		s.match("duel", "a", "b")
	},
	"a match that ran out does not forbid the next": func(s *story) {
		s.pair("a", "b")
		s.wait(11 * time.Second)
		s.join("a", "duel")
		s.join("b", "duel")
		s.match("duel", "a", "b")
	},
	"who was away is told by the welcome": func(s *story) {
		s.arrive("a", "b")
		s.join("a", "duel")
		s.join("b", "duel")
		s.cut("b")
		m := s.form("duel", "a", "b")
		s.tell(m, "a")
		s.connect("b", "i2", protocol.PlayerState{Match: m})
		s.wait(5 * time.Second)
		s.status("b", protocol.PlayerState{Match: m})
	},
	"a leave whose reply was lost explains that the ticket is gone": func(s *story) {
		s.arrive("a")
		s.join("a", "duel")
		s.ask("a", &protocol.Leave{}, nil)
		s.cut("a")
		s.arrive("a")
	},
	"a match that a loss took while its player said hello": func(s *story) {
		s.pair("a", "b")
		s.lose("i1")
		s.cut("a")
		s.connect("a", "i2", protocol.PlayerState{})
	},
	"a match that a loss took as only who had left it knew of it": func(s *story) {
		s.arrive("a", "b", "c", "d")
		for _, p := range []string{"a", "b", "c", "d"} {
			s.join(p, "trio")
		}
		m := s.form("trio", "a", "b", "c")
		s.tell(m, "a")
		s.ask("a", &protocol.LeaveMatch{MatchID: m.ID}, &protocol.LeftMatch{MatchID: m.ID})
		s.lose()
		s.match("trio", "b", "c", "d")
	},
	"a match that a loss took with the instance of the only one who had been told of it": func(s *story) {
		s.connect("a", "i2", protocol.PlayerState{})
		s.arrive("b", "c")
		for _, p := range []string{"a", "b", "c"} {
			s.join(p, "duel")
		}
		m := s.form("duel", "a", "b")
		s.tell(m, "a")
		s.lose("i2")
		s.cut("a")
		s.match("duel", "b", "c")
		s.wait(3 * time.Second)
		s.connect("a", "i1", protocol.PlayerState{})
		s.hear("a", &protocol.MatchCancelled{MatchID: m.ID, Reason: protocol.ReasonLost})
	},
	"a match that was left and comes back, as the leaver's instance died": func(s *story) {
		s.connect("a", "i2", protocol.PlayerState{})
		s.arrive("b")
		s.join("a", "duel")
		s.join("b", "duel")
		m := s.match("duel", "a", "b")
		s.wait(time.Second)
		s.ask("a", &protocol.LeaveMatch{MatchID: m.ID}, &protocol.LeftMatch{MatchID: m.ID})
		s.lose("i2")
		s.cut("a")
		s.wait(3 * time.Second)
		s.connect("a", "i1", protocol.PlayerState{Match: m})
	},
	"a ticket that was left and comes back, as the leaver's instance died with the history": func(s *story) {
		s.connect("a", "i2", protocol.PlayerState{})
		ticket := s.joined("a", "duel")
		s.leave("a", "duel")
		s.lose("i2")
		s.cut("a")
		s.wait(3 * time.Second)
		s.connect("a", "i1", holding(nil, ticket))
	},
	"what was left with a lost reply may be told lost": func(s *story) {
		m := s.pair("a", "b")
		s.ask("a", &protocol.LeaveMatch{MatchID: m.ID}, nil)
		s.cut("a")
		s.arrive("a")
		s.hear("a", &protocol.MatchCancelled{MatchID: m.ID, Reason: protocol.ReasonLost})
	},
	"a match was faster than the leave": func(s *story) {
		s.arrive("a", "b")
		s.join("a", "duel")
		s.join("b", "duel")
		m := s.form("duel", "a", "b")
		s.ask("a", &protocol.Leave{World: "duel"}, &protocol.Left{})
		s.tell(m, "a", "b")
	},
	"the players of a killed instance lose their places, the partners of their matches the match": func(s *story) {
		s.connect("c", "i2", protocol.PlayerState{})
		ticket := s.join("c", "trio")
		s.connect("a", "i1", protocol.PlayerState{})
		s.connect("b", "i2", protocol.PlayerState{})
		s.join("a", "duel")
		s.join("b", "duel")
		m := s.match("duel", "a", "b")
		s.lose("i2")
		s.cut("b")
		s.cut("c")
		s.hear("a", &protocol.MatchCancelled{MatchID: m.ID, Reason: protocol.ReasonLost})
		s.wait(3 * time.Second)
		s.connect("c", "i1", protocol.PlayerState{})
		s.hear("c", &protocol.Dequeued{World: "trio", TicketID: ticket, Reason: protocol.ReasonLost})
	},
	"the older waits where a cooldown forbids the pair": func(s *story) {
		s.arrive("a", "b", "c")
		s.join("a", "again")
		s.join("b", "again")
		s.join("c", "again")
		s.match("again", "b", "c")
	},
	"a session that was taken over is refused": func(s *story) {
		s.arrive("a")
		ticket := s.join("a", "duel")
		s.connect("a", "i2", queued("duel", ticket))
		s.older("a", &protocol.Leave{}, &protocol.Error{Code: protocol.CodeReplaced})
	},
	"who was away when Redis went has a while after it": func(s *story) { s.evictedAfterOutage(4 * time.Second) },
	"two waiting are too few for three": func(s *story) {
		s.arrive("a", "b")
		s.join("a", "trio")
		s.join("b", "trio")
	},
}

func TestGoodHistoriesPass(t *testing.T) {
	t.Parallel()
	for _, stories := range []map[string]func(s *story){good, goodLives} {
		for name, tell := range stories {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if violations := judged(tell); len(violations) > 0 {
					t.Errorf("blamed:\n%s", Report(violations))
				}
			})
		}
	}
}

// judged judges a story a moment after its end, when all has settled.
func judged(tell func(s *story)) []Violation {
	s := newStory()
	tell(s)
	s.wait(time.Millisecond)
	o := options
	o.SettledAt = s.now
	return s.h.Judge(o)
}

func TestPlantedViolationsAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range slices.Concat(planted, plantedLives) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			violations := judged(c.tell)
			for _, v := range violations {
				if v.Rule == c.rule && strings.Contains(v.Text, c.text) {
					return
				}
			}
			t.Errorf("rule %d (%s) is not blamed, but:\n%s", c.rule, c.text, Report(violations))
		})
	}
}
