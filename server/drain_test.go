package server

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"muster/client"
	"muster/configs"
	"muster/protocol"
)

// draining has an instance begin to drain, and returns once it does. Somebody is connected, so that it lasts.
func draining(i *instance) {
	i.tb.Helper()
	go i.stop()
	eventually(i.tb, "it drains", i.server.draining.Load)
}

func TestADrainSendsClientsElsewhereAndKeepsTheirPlaces(t *testing.T) {
	t.Parallel()
	config := settings(t, func(c *configs.Config) {
		c.Drain = 2 * time.Second
		c.Presence.ReconnectGrace = 0 // what keeps the places is the drain's own grace
		c.Worlds = []configs.World{group("world1", 5)}
	})
	one, two := launch(t, config), launch(t, config)
	players := map[string]*peer{}
	tickets := map[string]object{}
	for _, name := range []string{"ana", "ben", "cem", "dan"} {
		players[name] = one.greet(name)
		tickets[name] = players[name].join("world1")
	}
	stranger := one.open()
	draining(one)
	for _, p := range players {
		if in := number(p.next("going_away"), "reconnect_in_ms"); in >= 2000 {
			t.Errorf("reconnect in %d ms, later than the drain", in)
		}
	}
	for _, p := range players {
		if code := p.closed(); code != protocol.CloseGoingAway {
			t.Errorf("close code %d", code)
		}
	}
	if code := stranger.closed(); code != protocol.CloseGoingAway {
		t.Errorf("who said no hello: close code %d", code)
	}
	one.stop()
	sweepsPassed(t, two)
	for name, ticket := range tickets {
		back := two.greet(name)
		queued := entries(back.welcome, "queued")
		if len(queued) != 1 || queued[0]["ticket_id"] != ticket["ticket_id"] {
			t.Errorf("%s has %v, notices %v", name, queued, back.welcome["notices"])
		}
	}
}

// sweepsPassed waits until time has had its chance to end what it may end.
func sweepsPassed(t *testing.T, i *instance) {
	t.Helper()
	p := i.greet("canary")
	p.join("world1")
	p.c.CloseNow()
	eventually(t, "the canary has lost its place", func() bool {
		a := i.call("canary", http.MethodGet, "/v1/matching/my-status", "")
		return len(entries(a.body, "notices")) == 1
	})
}

func TestAnInstanceThatDrainsTakesNobodyIn(t *testing.T) {
	t.Parallel()
	i := run(t, func(c *configs.Config) {
		c.Drain = 3 * time.Second
		c.Worlds = []configs.World{group("world1", 3)}
	})
	p, late := i.greet("ana"), i.open()
	p.join("world1")
	draining(i)
	_, err := client.Dial(t.Context(), i.ws(), client.Options{HTTPClient: stranger})
	var refused *client.HandshakeError
	if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable || refused.RetryAfter != time.Second {
		t.Errorf("upgrade: %v", err)
	}
	a := exchange(t, i.address, i.handshake())
	wantProblem(t, a.status, a.header, a.body, http.StatusServiceUnavailable, "draining")
	i.wantStatus(http.StatusServiceUnavailable, object{"code": "draining"}, "", http.MethodGet, "/readyz", "")
	i.wantStatus(http.StatusOK, nil, "", http.MethodGet, "/healthz", "")
	i.wantStatus(http.StatusServiceUnavailable, object{"code": "draining", "retry_after_ms": 1000}, "ana", http.MethodPost,
		"/v1/matching/join", `{"world":"world1"}`)
	wantFields(t, late.refused(`"type":"hello","player_id":"ben"`, "draining"), object{"retry_after_ms": 1000})
	if code := late.closed(); code != protocol.CloseGoingAway {
		t.Errorf("close code %d", code)
	}
	// The rest is served to the end.
	wantFields(t, p.refused(`"type":"join","world":"world1"`, "draining"), object{"retry_after_ms": 1000})
	wantFields(t, p.status(), object{"type": "status"})
	wantFields(t, p.ask(`"type":"leave"`), object{"worlds": []any{"world1"}})
}
