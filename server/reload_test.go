package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/configs"
	"muster/internal/ident"
)

func TestAReloadAddsAndChangesWorldsOnAllInstancesWithoutALostTicket(t *testing.T) {
	t.Parallel()
	config := settings(t, serving(group("world1", 4), group("world2", 3)))
	one, two := launch(t, config), launch(t, config)
	ana, ben, cem := one.greet("ana"), two.greet("ben"), two.greet("cem")
	tickets := map[*peer]object{ana: ana.join("world1"), ben: ben.join("world1"), cem: cem.join("world2")}
	ben.refused(`"type":"join","world":"fresh"`, "unknown_world")

	one.reload(func(c *configs.Config) {
		c.Worlds = []configs.World{group("world1", 3), group("world2", 3), duel("fresh")}
	})
	for _, i := range []*instance{one, two} {
		eventually(t, "the worlds are those of the file", func() bool {
			a := i.wantStatus(http.StatusOK, nil, "", get, worldsPath, "")
			listed := entries(a.body, "worlds")
			return len(listed) == 3 && number(listed[0], "size") == 3 && listed[2]["name"] == "fresh"
		})
	}
	for p, ticket := range tickets {
		queued := entries(p.status(), "queued")
		if len(queued) != 1 || queued[0]["ticket_id"] != ticket["ticket_id"] {
			t.Errorf("after the reload: %v", queued)
		}
		p.answered()
		for _, told := range p.heard() {
			t.Errorf("told %v", told)
		}
	}
	two.greet("dan").join("world1") // the third, by the size of now
	wantFields(t, ana.match(), object{"players": []any{object{"id": "ana"}, object{"id": "ben"}, object{"id": "dan"}}})
	ben.match()
	matched(one.greet("eve"), two.greet("fay"), "fresh")
}

func TestASizeThatShrinksMatchesThoseWhoWaitAtOnce(t *testing.T) {
	t.Parallel()
	config := settings(t, serving(group("world1", 3)))
	one, two := launch(t, config), launch(t, config)
	ana, ben := one.greet("ana"), two.greet("ben")
	ana.join("world1")
	ben.join("world1")
	two.reload(func(c *configs.Config) { c.Worlds = []configs.World{group("world1", 2)} })
	wantFields(t, ana.match(), object{"players": []any{object{"id": "ana"}, object{"id": "ben"}}})
}

func TestAWorldThatIsClosedOrRemovedEndsItsTickets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		worlds func() []configs.World
		code   string
		status int
		leave  string
	}{
		"closed": {func() []configs.World {
			closed := group("world1", 4)
			closed.State = configs.WorldClosed
			return []configs.World{closed, group("world2", 3)}
		}, "world_closed", http.StatusConflict, "left"},
		"removed": {func() []configs.World { return []configs.World{group("world2", 3)} }, "unknown_world", http.StatusNotFound, "error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := settings(t, serving(group("world1", 4), group("world2", 3)))
			one, two := launch(t, config), launch(t, config)
			ana, ben, away := one.greet("ana"), two.greet("ben"), two.greet("cem")
			kept := ana.join("world2")
			tickets := map[*peer]object{ana: ana.join("world1"), ben: ben.join("world1")}
			lost := away.join("world1")
			away.c.CloseNow()
			two.waits("world1", 2)
			one.reload(func(cfg *configs.Config) { cfg.Worlds = c.worlds() })
			for p, ticket := range tickets {
				wantFields(t, p.next("dequeued"), object{"world": "world1", "ticket_id": ticket["ticket_id"], "reason": "world_closed"})
			}
			for _, p := range []*peer{ana, ben} {
				eventually(t, "both instances know", func() bool { return p.ask(`"type":"join","world":"world1"`)["code"] == c.code })
				wantFields(t, p.ask(`"type":"leave","world":"world1"`), object{"type": c.leave})
			}
			two.wantStatus(c.status, object{"code": c.code}, "ben", post, joinPath, `{"world":"world1"}`)
			wantFields(t, entries(ana.status(), "queued")[0], object{"ticket_id": kept["ticket_id"]})
			back := two.greet("cem")
			n := entries(back.welcome, "notices")
			if len(n) != 1 || n[0]["ticket_id"] != lost["ticket_id"] || n[0]["reason"] != "world_closed" {
				t.Errorf("who was away is told %v, queued %v", n, back.welcome["queued"])
			}

			two.reload(func(cfg *configs.Config) { cfg.Worlds = []configs.World{group("world1", 2), group("world2", 3)} })
			for _, i := range []*instance{one, two} {
				eventually(t, "it is open again", func() bool {
					w, ok := i.server.matching.World(ident.World("world1"))
					return ok && w.State == "open" && w.Size == 2
				})
			}
			matched(ana, ben, "world1")
		})
	}
}

func TestAReloadNamesWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	i := run(t, serving(group("world1", 2)))
	i.reload(func(c *configs.Config) {
		c.Drain, c.Presence.TTL, c.Limits.Connections = time.Minute, time.Hour, 5
		c.Origins = []string{"https://game.example"}
	})
	lines := i.log.lines(t, "settings changed that need a restart")
	if len(lines) != 1 || !slices.Equal(lines[0]["keys"].([]any), []any{"limits.connections", "presence.ttl", "drain"}) {
		t.Errorf("logged %v", lines)
	}
	answer := serve(i.server.opsHandler(), httptest.NewRequest(http.MethodPost, "/reload", http.NoBody))
	if want := `{"status":"reloaded","restart":["limits.connections","presence.ttl","drain"]}`; strings.TrimSpace(answer.Body.String()) != want {
		t.Errorf("/reload answers %s, want %s", answer.Body, want)
	}
	for origin, status := range map[string]int{"https://game.example": http.StatusSwitchingProtocols, "http://" + i.address: http.StatusSwitchingProtocols, "https://old.example": http.StatusForbidden} {
		a := exchange(t, i.address, i.handshake(fmt.Sprint("Origin: ", origin)))
		if a.status != status {
			t.Errorf("origin %s: status %d", origin, a.status)
		}
	}
}

func TestThatAWorldCanFormNoMatchIsSaid(t *testing.T) {
	t.Parallel()
	short, enough := group("short", 4), group("enough", 4)
	short.QueueLimit, enough.QueueLimit = 3, 4
	i := run(t, serving(short, enough))
	lines := i.log.lines(t, "fewer may wait than a match takes, so that none is ever formed")
	if len(lines) == 0 {
		t.Fatal("nothing is logged")
	}
	for _, line := range lines {
		if line["world"] != "short" || line["level"] != "warn" {
			t.Errorf("logged %v", line)
		}
	}
}
