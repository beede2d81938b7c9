package server

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"
	"time"

	"muster/configs"
	"muster/internal/faultproxy"
	"muster/internal/redistest"
	"muster/protocol"
)

// waits waits until so many players of a world could be matched.
func (i *instance) waits(world string, players int64) {
	i.tb.Helper()
	eventually(i.tb, fmt.Sprintf("%d wait in %s", players, world), func() bool {
		a := i.wantStatus(http.StatusOK, nil, "", http.MethodGet, "/v1/matching/queue-status/"+world, "")
		return number(a.body, "waiting") == players
	})
}

func TestAFullQueueRefusesUntilSomebodyLeaves(t *testing.T) {
	t.Parallel()
	limited := group("world1", 3)
	limited.QueueLimit = 2
	i := run(t, serving(limited))
	ana, ben, cem := i.greet("ana"), i.greet("ben"), i.greet("cem")
	ana.join("world1")
	ben.join("world1")
	wantFields(t, cem.refused(`"type":"join","world":"world1"`, "queue_full"), object{"retry_after_ms": 1000})
	cem.refused(`"type":"join","world":"world1","ticket":"k"`, "queue_full")
	ana.ask(`"type":"leave"`)
	wantFields(t, cem.ask(`"type":"join","world":"world1","ticket":"k"`), object{"type": "joined", "position": 2, "queue_size": 2})
}

func TestAReconnectKeepsThePlaceAndThoseAwayAreSkipped(t *testing.T) {
	t.Parallel()
	config := settings(t, serving(group("world1", 3)))
	one, two := launch(t, config), launch(t, config)
	ana, ben := one.greet("ana"), one.greet("ben")
	joined := ana.join("world1")
	ben.join("world1")
	ana.c.CloseNow()
	one.waits("world1", 1)
	queued := entries(ben.status(), "queued")[0]
	wantFields(t, queued, object{"position": 1, "queue_size": 1, "waiting_for": object{"code": "players", "need": 2, "text": "2 more players"}})

	back := two.greet("ana")
	wantFields(t, entries(back.welcome, "queued")[0], object{
		"ticket_id": joined["ticket_id"], "enqueued_at": joined["enqueued_at"], "position": 1, "queue_size": 2,
	})
	wantFields(t, entries(ben.status(), "queued")[0], object{"position": 2, "queue_size": 2})
	two.greet("cem").join("world1")
	for _, p := range []*peer{ben, back} { // the oldest ticket is the first in the match
		wantFields(t, p.match(), object{"players": []any{object{"id": "ana"}, object{"id": "ben"}, object{"id": "cem"}}})
	}
}

func TestTheOldestAreMatchedFirstOverPlacesThatWereKept(t *testing.T) {
	t.Parallel()
	config := settings(t, serving(group("world1", 2)))
	one, two := launch(t, config), launch(t, config)
	ana := one.greet("ana")
	ana.join("world1")
	ana.c.CloseNow()
	one.waits("world1", 0)
	ben := two.greet("ben")
	ben.join("world1") // waits alone: ana is away
	two.waits("world1", 1)
	back := two.greet("ana")
	wantFields(t, back.match(), object{"players": []any{object{"id": "ana"}, object{"id": "ben"}}})
	ben.match()

	var order []any
	var last *peer
	for _, name := range []string{"p1", "p2", "p3", "p4", "p5", "p6"} {
		last = []*instance{one, two}[len(order)%2].greet(name)
		last.join("world1")
		order = append(order, object{"id": name})
		if len(order) == 2 {
			wantFields(t, last.match(), object{"players": order})
			order = nil
		}
	}
}

func TestQueueUpdates(t *testing.T) {
	t.Parallel()
	i := run(t, serving(group("world1", 5)))
	ana, ben := i.greet("ana"), i.greet("ben")
	ana.join("world1")
	joined := ben.join("world1")
	same := object{"world": "world1", "ticket_id": joined["ticket_id"], "enqueued_at": joined["enqueued_at"]}
	ana.ask(`"type":"leave"`)
	wantFields(t, ben.next("queue_update"), with(same, object{"position": 1, "queue_size": 1}))
	for _, size := range []int{2, 3} {
		before := time.Now()
		i.greet(fmt.Sprint("more-", size)).join("world1")
		wantFields(t, ben.next("queue_update"), with(same, object{"position": 1, "queue_size": size}))
		if since := time.Since(before); since < 200*time.Millisecond {
			t.Errorf("an update %v after the one before", since)
		}
	}
	begin := time.Now()
	eventually(t, "two turns of the updates", func() bool { return time.Since(begin) > 2200*time.Millisecond })
	ben.answered()
	ben.mu.Lock()
	defer ben.mu.Unlock()
	if len(ben.frames) > 0 {
		t.Errorf("nothing changed, and yet: %v", ben.frames)
	}
}

func TestAnEstimateIsWhatMatchesTook(t *testing.T) {
	t.Parallel()
	i := run(t, serving(group("world1", 2)))
	matched(i.greet("ana"), i.greet("ben"), "world1")
	p := i.greet("cem")
	joined := p.join("world1")
	if joined["estimated_wait_ms"] == nil || number(joined, "estimated_wait_ms") > patience.Milliseconds() {
		t.Errorf("estimate %v", joined["estimated_wait_ms"])
	}
	if queued := entries(p.status(), "queued")[0]; queued["estimated_wait_ms"] == nil {
		t.Errorf("status has no estimate: %v", queued)
	}
}

func TestACloseWith1000LeavesTheWorldsThatAreSetSo(t *testing.T) {
	t.Parallel()
	leaving := group("leaving", 3)
	leaving.LeaveOnClose = true
	i := run(t, serving(leaving, group("keeping", 3)))
	for code, left := range map[int]bool{protocol.CloseNormal: true, 3000: false, protocol.CloseGoingAway: false, -1: false} {
		name := fmt.Sprint("player", code)
		p := i.greet(name)
		p.join("leaving")
		kept := p.join("keeping")
		if code > 0 {
			p.c.Close(code)
		} else {
			p.c.CloseNow()
		}
		i.waits("leaving", 0)
		i.waits("keeping", 0)
		back := i.greet(name)
		wantFields(t, back.welcome, object{"notices": []any{}})
		stands := map[any]bool{}
		for _, q := range entries(back.welcome, "queued") {
			stands[q["world"]] = true
		}
		if stands["leaving"] == left || !stands["keeping"] {
			t.Errorf("after %d: %v stand", code, stands)
		}
		for _, q := range entries(back.welcome, "queued") {
			if q["world"] == "keeping" {
				wantFields(t, q, object{"ticket_id": kept["ticket_id"]})
			}
		}
		back.ask(`"type":"leave"`)
	}
}

// A join that is in flight when its client closes with 1000 is left too. Redis is so far away that the close comes first.
func TestLeaveOnClose_JoinInFlight(t *testing.T) {
	t.Parallel()
	redis := redistest.Shared(t)
	proxy := faultproxy.Start(t, redis.Addr())
	leaving := group("leaving", 3)
	leaving.LeaveOnClose = true
	config := settings(t, func(c *configs.Config) {
		c.Redis.URL = configs.Secret("redis://" + proxy.Addr())
		c.Worlds = []configs.World{leaving}
		c.Presence.ReconnectGrace = time.Hour // no ticket ends by itself here
	})
	i := launch(t, config)
	p := i.greet("ana")
	proxy.Delay(40 * time.Millisecond)
	p.send(`"type":"join","world":"leaving","ticket":"k"`)
	p.c.Close(protocol.CloseNormal)
	// The ticket of a client's key is remembered with the time of its end, which is empty while it waits.
	left := regexp.MustCompile(`leaving=\d+,1,k,[^,;]*,\d+,`)
	eventually(t, "the join is carried out, and its world left", func() bool {
		record, err := redis.Do(t.Context(), "HGET", "mm:{"+config.Realm+"}:pl", "ana")
		return err == nil && left.MatchString(fmt.Sprint(record))
	})
}

func TestTheSameTwoMeetAgainOnlyAfterTheCooldown(t *testing.T) {
	t.Parallel()
	voice := duel("voice")
	voice.RematchCooldown = 2500 * time.Millisecond
	i := run(t, func(c *configs.Config) { c.Worlds = []configs.World{voice} })
	ana, ben, cem, dan := i.greet("ana"), i.greet("ben"), i.greet("cem"), i.greet("dan")
	first := matched(ana, ben, "voice")
	ana.leaveMatch(first)
	ben.leaveMatch(first)
	ana.join("voice")
	wantFields(t, ben.join("voice"), object{"position": 2, "queue_size": 2}) // both wait on
	cem.join("voice")
	second := ana.match() // the oldest meets the newcomer, ben waits on
	wantFields(t, second, object{"players": []any{object{"id": "ana"}, object{"id": "cem"}}})
	dan.join("voice")
	third := ben.match()
	wantFields(t, third, object{"players": []any{object{"id": "ben"}, object{"id": "dan"}}})

	ana.leaveMatch(second)
	ben.leaveMatch(third)
	ana.join("voice")
	ben.join("voice")
	again := ana.match()
	wantFields(t, again, object{"players": []any{object{"id": "ana"}, object{"id": "ben"}}})
	if since := number(again, "created_at") - number(first, "created_at"); since < 2500 {
		t.Errorf("again after %d ms", since)
	}
}
