package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// gameServers answers for the allocator of a world's matches, and fails as often as it is told to. A match's endpoint
// names it, and how often it was asked for: two who are told of different answers to one match are found out.
type gameServers struct {
	*httptest.Server

	mu      sync.Mutex
	random  *rand.Rand          // guarded by mu, as all below
	failing int                 // of a hundred calls
	calls   int                 //
	failed  map[string]int      // calls by how they failed
	given   map[string][]string // endpoints by match
	// asked, if set, is called for each call, before it is answered, with its number for the match, from 1.
	asked func(match string, number int)
	// answered, if set, is called when a call was answered.
	answered func(match string)
	numbers  map[string]int // calls by match
}

// allocatorTimeout is the setting of the worlds that ask; a call that stalls takes longer.
const allocatorTimeout = 500 * time.Millisecond

func startGameServers(t *testing.T, seed uint64) *gameServers {
	g := &gameServers{
		random: rand.New(rand.NewPCG(seed, 7)), failed: map[string]int{}, given: map[string][]string{}, numbers: map[string]int{},
	}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

// fail has so many of a hundred calls fail from now on.
func (g *gameServers) fail(percent int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failing = percent
}

// hook sets what is called for each call, before and after its answer; nil for nothing.
func (g *gameServers) hook(asked func(match string, number int), answered func(match string)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked, g.answered = asked, answered
}

// ServeHTTP answers one call.
func (g *gameServers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var told struct {
		MatchID string `json:"match_id"`
	}
	if err := json.NewDecoder(r.Body).Decode(&told); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fault, asked, answered, number := g.take(told.MatchID)
	if asked != nil {
		asked(told.MatchID, number)
	}
	if answered != nil {
		defer answered(told.MatchID)
	}
	if fault != "" {
		faultyAnswers[fault](w, r, told.MatchID)
		return
	}
	fmt.Fprintf(w, `{"match_id":%q,"endpoint":%q}`, told.MatchID, g.give(told.MatchID))
}

// take counts a call and draws how it fails, "" for not.
func (g *gameServers) take(match string) (fault string, asked func(string, int), answered func(string), number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls++
	g.numbers[match]++
	if g.random.IntN(100) < g.failing {
		fault = faultNames[g.random.IntN(len(faultNames))]
		g.failed[fault]++
	}
	return fault, g.asked, g.answered, g.numbers[match]
}

// give is an endpoint for a match, another each time.
func (g *gameServers) give(match string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	endpoint := fmt.Sprintf("%s/%d", match, len(g.given[match])+1)
	g.given[match] = append(g.given[match], endpoint)
	return endpoint
}

// callsOf is how often a match's server was asked for.
func (g *gameServers) callsOf(match string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.numbers[match]
}

// String is what was asked, and how it was answered.
func (g *gameServers) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	failed := 0
	var kinds []string
	for _, name := range faultNames {
		failed += g.failed[name]
		kinds = append(kinds, fmt.Sprintf("%s %d", name, g.failed[name]))
	}
	return fmt.Sprintf("%d calls of the allocator, of which %d failed: %s", g.calls, failed, strings.Join(kinds, ", "))
}

// faultNames are the ways in which a call fails.
var faultNames = []string{"500", "stalls", "answers twice", "garbage", "another match", "hangs up"}

var faultyAnswers = map[string]func(w http.ResponseWriter, r *http.Request, match string){
	"500": func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusInternalServerError) },
	"stalls": func(_ http.ResponseWriter, r *http.Request, _ string) {
		select {
		case <-time.After(3 * allocatorTimeout):
		case <-r.Context().Done():
		}
	},
	"answers twice": func(w http.ResponseWriter, _ *http.Request, match string) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		body := fmt.Sprintf(`{"match_id":%q,"endpoint":"%s/twice"}`, match, match)
		answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		_, _ = io.WriteString(conn, answer+answer) // whoever asked may have gone
	},
	"garbage": func(w http.ResponseWriter, _ *http.Request, _ string) { _, _ = io.WriteString(w, `{"endpoint":`) },
	"another match": func(w http.ResponseWriter, _ *http.Request, _ string) {
		_, _ = io.WriteString(w, `{"match_id":"another","endpoint":"elsewhere"}`)
	},
	"hangs up": func(w http.ResponseWriter, _ *http.Request, _ string) {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = conn.Close()
		}
	},
}
