package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"muster/configs"
	"muster/hub"
	"muster/internal/ident"
	"muster/internal/pgtest"
	"muster/internal/redistest"
)

// recording has the matches of worlds written down.
func recording(tb testing.TB, worlds ...configs.World) func(*configs.Config) {
	tb.Helper()
	url := configs.Secret(pgtest.Database(tb))
	return func(c *configs.Config) { c.Worlds, c.Journal.URL = worlds, url }
}

// recorded waits until the durable record has a match in a state.
func (i *instance) recorded(match object, state string) {
	i.tb.Helper()
	eventually(i.tb, "the match is recorded as "+state, func() bool {
		m, err := i.server.after.journal.Match(i.tb.Context(), ident.Match(fmt.Sprint(match["id"])))
		return err == nil && m.State == state
	})
}

// Webhooks need no journal, also where it is about a ticket.
func TestAnEndedTicketIsToldWithoutAJournal(t *testing.T) {
	t.Parallel()
	told := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told <- string(body)
	}))
	t.Cleanup(receiver.Close)
	i := run(t, func(c *configs.Config) {
		w := duel("voice")
		w.TicketTTL = 300 * time.Millisecond
		c.Worlds = []configs.World{w}
		c.Webhooks = []configs.Webhook{{URL: configs.Secret(receiver.URL), Events: []string{"player.dequeued"}, Attempts: 3}}
	})
	ana := i.greet("ana")
	eventually(t, "the end of a ticket is told", func() bool { // of the first the readers may not be there yet
		ana.join("voice")
		ana.next("dequeued")
		select {
		case body := <-told:
			if !strings.Contains(body, `"expired"`) || !strings.Contains(body, `"ana"`) {
				t.Errorf("told %s", body)
			}
			return true
		case <-time.After(500 * time.Millisecond):
			return false
		}
	})
}

func TestAMatchIsAnsweredAfterItsEnd(t *testing.T) {
	t.Parallel()
	i := run(t, recording(t, duel("voice")))
	ana, ben := i.greet("ana"), i.greet("ben")
	match := matched(ana, ben, "voice")
	path := fmt.Sprint("/v1/matches/", match["id"])
	i.recorded(match, "complete")
	i.wantStatus(http.StatusNoContent, nil, "", http.MethodDelete, path, "")
	i.recorded(match, "ended")
	a := i.wantStatus(http.StatusOK, nil, "", http.MethodGet, path, "")
	wantFields(t, a.body, object{
		"id": match["id"], "state": "ended", "reason": "ended", "rooms": match["rooms"], "players": match["players"],
		"created_at": match["created_at"],
	})
	if number(a.body, "ended_at") < number(match, "created_at") {
		t.Errorf("it ended at %v", a.body["ended_at"])
	}
	i.wantStatus(http.StatusNotFound, object{"code": "no_such_match"}, "", http.MethodGet, "/v1/matches/none", "")
}

// Redis loses its data, and nobody is connected who could say what stood: players who live by heartbeats.
func TestMatchesThatNobodyAssertsAreRestored(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	record := recording(t, duel("voice"), lounge(3))
	i := run(t, func(c *configs.Config) {
		record(c)
		c.Redis.URL = configs.Secret(redis.URL())
		c.Worlds[0].MatchHold, c.Worlds[1].MatchHold = c.Worlds[0].TicketTTL, c.Worlds[0].TicketTTL
	})
	matches := map[string]object{}
	for player, world := range map[string]string{"ana": "voice", "ben": "voice", "cem": "lounge"} {
		i.wantStatus(http.StatusOK, nil, player, http.MethodPost, "/v1/matching/heartbeat", "")
		i.wantStatus(http.StatusCreated, nil, player, http.MethodPost, "/v1/matching/join", fmt.Sprintf(`{"world":%q}`, world))
	}
	for _, player := range []string{"ana", "ben", "cem"} {
		eventually(t, player+" is in a match", func() bool {
			a := i.wantStatus(http.StatusOK, nil, player, http.MethodGet, "/v1/matching/my-status", "")
			matches[player], _ = a.body["match"].(object)
			return matches[player] != nil
		})
		i.recorded(matches[player], "complete")
	}
	redis.Kill()
	redis.LoseData()
	redis.Restart()
	for player, match := range matches {
		eventually(t, "the match of "+player+" is back", func() bool {
			st, err := i.server.stateOf(t.Context(), ident.Player(player))
			if err != nil {
				return false
			}
			m := hub.State(st, i.server.worlds.Facts).Match
			return m != nil && m.ID == match["id"]
		})
		i.wantStatus(http.StatusOK, nil, player, http.MethodPost, "/v1/matching/heartbeat", "")
		a := i.wantStatus(http.StatusConflict, object{"code": "in_match"}, player, http.MethodPost, "/v1/matching/join", `{"world":"voice"}`)
		wantFields(t, a.body["match"].(object), object{"id": match["id"], "rooms": match["rooms"], "players": match["players"]})
	}
	dan := i.greet("dan")
	dan.join("lounge")
	wantFields(t, dan.match(), object{"id": matches["cem"]["id"], "players": "[map[id:cem] map[id:dan]]"})
}

// A connection that ends while Redis is away is no reason to lose one's place when Redis comes back without its data: this
// instance knew it.
func TestWhoDropsWhileRedisIsAwayKeepsItsPlace(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	i := run(t, func(c *configs.Config) {
		c.Worlds, c.Redis.URL = []configs.World{group("trio", 3)}, configs.Secret(redis.URL())
	})
	ana := i.greet("ana")
	ticket := ana.join("trio")
	redis.Kill()
	ana.c.CloseNow()
	eventually(t, "the connection is gone", func() bool { return i.server.hub.Count() == 0 })
	redis.LoseData()
	redis.Restart()
	eventually(t, "ana waits where it did", func() bool {
		st, err := i.server.stateOf(t.Context(), "ana")
		if err != nil {
			return false
		}
		queued := hub.State(st, i.server.worlds.Facts).Queued
		return len(queued) == 1 && queued[0].TicketID == ticket["ticket_id"]
	})
	again := i.greet("ana", fmt.Sprintf(`{"tickets":[%q]}`, ticket["ticket_id"]))
	wantFields(t, entries(again.welcome, "queued")[0], object{"ticket_id": ticket["ticket_id"], "position": 1})
	again.answered()
	if more := again.heard(); len(more) > 0 {
		t.Errorf("told %v", more)
	}
}

// Redis loses its data once more while a hello waits for what instances know: it is to be said again, and nobody took over.
func TestALossWhileAHelloWaitsIsNoTakeover(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	i := run(t, func(c *configs.Config) {
		c.Worlds, c.Redis.URL = []configs.World{group("trio", 3)}, configs.Secret(redis.URL())
		c.Redis.Recovery = time.Second
	})
	redis.Kill()
	redis.LoseData()
	redis.Restart()
	eventually(t, "the instance recovers", func() bool { return i.server.presence.Recovering() > 0 && i.server.Ready() })
	p := i.open()
	id := p.send(`"type":"hello","player_id":"ana","have":{"tickets":["trio.1"]}`)
	eventually(t, "ana has arrived", func() bool {
		st, err := i.server.stateOf(t.Context(), "ana")
		return err == nil && st.Generation != 0
	})
	redis.Kill()
	redis.LoseData()
	redis.Restart()
	reply := p.await("an answer", func(o object) bool { return o["id"] == id })
	if reply["type"] != "welcome" {
		wantFields(t, reply, object{"type": "error", "code": "unavailable"})
	}
	eventually(t, "ana is welcome", func() bool { return p.ask(`"type":"hello","player_id":"ana"`)["type"] == "welcome" })
}

// Who comes to another instance before its own has asserted is not told that it lost what it did not lose.
func TestWhoComesBackElsewhereBeforeItsInstanceHasAssertedWaitsForIt(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	change := func(c *configs.Config) {
		c.Worlds, c.Redis.URL = []configs.World{group("trio", 3)}, configs.Secret(redis.URL())
		c.Redis.Recovery, c.Realm = time.Second, redistest.Realm(t)
	}
	config := settings(t, change)
	first, second := launch(t, config), launch(t, config)
	ana := first.greet("ana")
	ticket := ana.join("trio")
	redis.Kill()
	ana.c.CloseNow()
	eventually(t, "the connection is gone", func() bool { return first.server.hub.Count() == 0 })
	redis.LoseData()
	redis.Restart()
	var again *peer
	eventually(t, "the second instance answers", func() bool {
		again = second.open()
		again.welcome = again.ask(fmt.Sprintf(`"type":"hello","player_id":"ana","have":{"tickets":[%q]}`, ticket["ticket_id"]))
		return again.welcome["type"] == "welcome"
	})
	queued := entries(again.welcome, "queued")
	if len(queued) != 1 || queued[0]["ticket_id"] != ticket["ticket_id"] {
		t.Fatalf("welcome says %v", again.welcome)
	}
	again.answered()
	for _, o := range again.heard() {
		if o["type"] == "dequeued" {
			t.Errorf("told %v", o)
		}
	}
}
