package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"muster/client"
	"muster/e2e/history"
	"muster/protocol"
)

// Rows of the report that are of no single fault.
const (
	atOnce   = "two or three of them at once"
	comeBack = "players of a killed instance, from their reconnect on"
	toldLate = "players whose match is told by what is lost, from the loss on"
)

// chosenFaults are those that the flag names.
func chosenFaults() []fault {
	var chosen []fault
	for _, f := range allFaults {
		for part := range strings.SplitSeq(*kindsFlag, "|") {
			if strings.Contains(f.name, part) {
				chosen = append(chosen, f)
				break
			}
		}
	}
	return chosen
}

// draw takes faults that can strike together, at most so many and at least one: each kind comes once before
// any comes again.
func (s *storm) draw(most int) []fault {
	var drawn []fault
	var held part
	for _, f := range s.shuffled() {
		if len(drawn) < most && held&f.holds == 0 {
			drawn = append(drawn, f)
			held |= f.holds
			continue
		}
		s.deck = append(s.deck, f)
	}
	return drawn
}

// shuffled takes the deck, which is made anew when it has run out.
func (s *storm) shuffled() []fault {
	deck := s.deck
	if len(deck) == 0 {
		deck = chosenFaults()
		if len(deck) == 0 {
			s.cluster.t.Fatalf("no fault is called %q", *kindsFlag)
		}
		s.random.Shuffle(len(deck), func(i, k int) { deck[i], deck[k] = deck[k], deck[i] })
	}
	s.deck = nil
	return deck
}

// suffer lets faults happen, one or several that overlap, and waits until all is healed.
func (s *storm) suffer(faults []fault) {
	c := s.cluster
	names, bound, loses := names(faults)
	loss := history.Loss{}
	branches := s.branches(faults)
	for _, b := range branches {
		if loses && len(faults) > 1 {
			// It may be deaf to the loss for too long.
			loss.Instances = append(loss.Instances, b.victim.identity())
		}
	}
	from := time.Now()
	c.t.Logf("%s %s", from.Format("15:04:05.000"), names)
	var striking sync.WaitGroup
	for i, b := range branches {
		striking.Go(func() {
			if i > 0 {
				<-time.After(b.between(0, time.Second)) // while the first still lasts
			}
			faults[i].strike(b)
		})
	}
	striking.Wait()
	over := time.Now()
	took := s.probe(over)
	c.t.Logf("%s healed after %v", over.Format("15:04:05.000"), took)
	checkTook(c.t, fmt.Sprintf("seed %d: recovery from %s", s.seed, names), took, bound)
	if len(faults) > 1 {
		names = atOnce
	}
	s.report.suffered(names, took)
	loss.Span = history.Span{From: from, To: over.Add(max(healing, took))}
	if !loses {
		c.history.Troubled(loss.Span)
		return
	}
	// Who is not connected to an instance that lives from the loss until all is healed may lose its place;
	// the next fault is not to widen that.
	c.history.Lost(loss)
	<-time.After(time.Until(loss.To))
}

// names is what several faults are called together, the longest of their bounds, and whether any loses
// history.
func names(faults []fault) (name string, bound time.Duration, loses bool) {
	var all []string
	for _, f := range faults {
		all = append(all, f.name)
		if f.bound == 0 {
			f.bound = usualBound
		}
		bound = max(bound, f.bound)
		loses = loses || f.loses
	}
	return strings.Join(all, " + "), bound, loses
}

// branches are a storm for each of several faults: with a random source of its own, as they draw from it at
// the same time, and an instance that no other harms.
func (s *storm) branches(faults []fault) []*storm {
	order := s.random.Perm(len(s.cluster.instances))
	var all []*storm
	for i := range faults {
		b := *s
		b.random = rand.New(rand.NewPCG(s.random.Uint64(), uint64(i)))
		b.victim, b.alone = s.cluster.instances[order[i]], len(faults) == 1
		all = append(all, &b)
	}
	return all
}

// identity is the name that the running process has among the instances of the realm.
func (i *instance) identity() string {
	i.t.Helper()
	var name string
	eventually(i.t, func() string {
		c, err := client.Open(i.t.Context(), i.url(), client.Options{OnEvent: func(protocol.Event) {}})
		if err != nil {
			return err.Error()
		}
		defer c.CloseNow()
		reply, err := c.Do(i.t.Context(), &protocol.Hello{PlayerID: "who-" + i.name})
		if err != nil {
			return err.Error()
		}
		welcome, ok := reply.(*protocol.Welcome)
		if !ok {
			return "hello is answered with " + reply.Type()
		}
		name = welcome.Instance
		return ""
	})
	return name
}
