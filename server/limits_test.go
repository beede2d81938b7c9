package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/configs"
	"muster/protocol"
)

func TestTooManyMessagesAreRefusedAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	p := run(t, func(c *configs.Config) { c.Limits.MessagesPerSecond = 4 }).greet("ana")
	for range 20 {
		p.send(`"type":"ping"`)
	}
	pongs, refused := 0, object(nil)
	for range 20 {
		reply := p.await("reply", func(object) bool { return true })
		if reply["type"] == "pong" {
			pongs++
			continue
		}
		wantFields(t, reply, object{"type": "error", "code": "rate_limited"})
		refused = reply
	}
	if pongs < 7 || pongs > 9 || refused == nil { // the burst, less hello
		t.Errorf("%d of 20 were let through", pongs)
	}
	if after := number(refused, "retry_after_ms"); after > 250 {
		t.Errorf("retry after %d ms, where one passes each 250", after)
	}
	p.raw(`{"type":"join"`)
	e := p.next("error")
	if _, there := e["id"]; there {
		t.Errorf("an id that nobody sent: %v", e)
	}
	eventually(t, "requests pass again", func() bool { return p.ask(`"type":"ping"`)["type"] == "pong" })
}

func TestTenSecondsOfTooManyMessagesCloseTheConnection(t *testing.T) {
	t.Parallel()
	p := run(t, func(c *configs.Config) { c.Limits.MessagesPerSecond = 1 }).greet("ana")
	begin := time.Now()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for open := true; open; {
		select {
		case <-p.c.Done():
			open = false
		case <-ticker.C:
			_ = p.c.SendText(t.Context(), []byte(`{"type":"ping"}`))
		}
		if time.Since(begin) > protocol.RateLimitedTimeout+patience {
			t.Fatal("still open")
		}
	}
	if code, after := p.closed(), time.Since(begin); code != protocol.CloseTooManyMessages || after < protocol.RateLimitedTimeout {
		t.Errorf("closed with %d after %v", code, after)
	}
}

func TestTooManyConnectionsAreToldAfterTheUpgrade(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*configs.Limits){
		"of this address": func(l *configs.Limits) { l.ConnectionsPerIP = 2 },
		"in all":          func(l *configs.Limits) { l.Connections = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			i := run(t, func(c *configs.Config) { set(&c.Limits) })
			first := i.greet("ana")
			i.open() // one that has not said hello counts too
			if code := i.open().closed(); code != protocol.CloseTooMany {
				t.Errorf("close code %d", code)
			}
			first.c.CloseNow()
			eventually(t, "there is room again", func() bool { return i.server.admission.count() == 1 })
			wantFields(t, i.greet("cem").status(), object{"type": "status"})
		})
	}
}

func TestFramesThatAreNoMessagesCloseTheConnection(t *testing.T) {
	t.Parallel()
	const limit = 1024
	i := run(t, func(c *configs.Config) {
		c.Limits.MessageBytes = limit
		c.Worlds = []configs.World{group("world1", 2)}
	})
	padded := func(size int) []byte {
		frame := `{"type":"ping","x":""}`
		return []byte(strings.Replace(frame, `""`, `"`+strings.Repeat("x", size-len(frame))+`"`, 1))
	}
	for name, c := range map[string]struct {
		send func(p *peer) error
		code int
	}{
		"binary":    {func(p *peer) error { return p.c.SendBinary(t.Context(), []byte(`{"type":"ping"}`)) }, protocol.CloseUnsupported},
		"no UTF-8":  {func(p *peer) error { return p.c.SendText(t.Context(), []byte("{\"type\":\"\xff\"}")) }, protocol.CloseInvalidText},
		"too large": {func(p *peer) error { return p.c.SendText(t.Context(), padded(limit+1)) }, protocol.CloseTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			player := strings.ReplaceAll(name, " ", "-")
			p := i.greet(player)
			joined := p.join("world1")
			if err := c.send(p); err != nil {
				t.Fatal(err)
			}
			if code := p.closed(); code != c.code || protocol.MayReconnect(code) {
				t.Errorf("close code %d", code)
			}
			back := i.greet(player)
			wantFields(t, entries(back.welcome, "queued")[0], object{"ticket_id": joined["ticket_id"]})
			back.ask(`"type":"leave"`)
		})
	}
	t.Run("one as large as may be does not", func(t *testing.T) {
		p := i.greet("zoe")
		p.raw(string(padded(limit)))
		p.next("pong")
		a := i.call("zoe", "POST", "/v1/matching/leave", string(padded(limit+1)))
		if a.status != 413 {
			t.Errorf("a body over the limit: status %d", a.status)
		}
	})
	t.Run("nor does the deepest", func(t *testing.T) {
		p := i.greet("yan")
		p.raw(fmt.Sprintf(`{"type":"ping","x":%s%s}`, strings.Repeat("[", 15), strings.Repeat("]", 15)))
		p.next("pong")
		p.raw(`{"type":"ping","x":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`)
		wantFields(t, p.next("error"), object{"code": "bad_message"})
	})
}

func TestWhoIsSilentIsClosedAndWhoAnswersPingsIsNot(t *testing.T) {
	t.Parallel()
	i := run(t, func(c *configs.Config) {
		c.Presence.Heartbeat, c.Presence.TTL = 200*time.Millisecond, time.Second
		c.Worlds = []configs.World{group("world1", 2)}
	})
	dead, alive := i.openSilent(), i.greet("ben")
	alive.join("world1")
	wantFields(t, dead.ask(`"type":"hello","player_id":"ana"`), object{"type": "welcome", "heartbeat_ms": 200, "presence_ttl_ms": 1000})
	begin := time.Now()
	if code := dead.closed(); code != protocol.CloseNoHeartbeat {
		t.Errorf("close code %d", code)
	}
	if after := time.Since(begin); after < 900*time.Millisecond {
		t.Errorf("closed after %v", after)
	}
	eventually(t, "twice the ttl has passed", func() bool { return time.Since(begin) > 2200*time.Millisecond })
	// It said nothing, and is matchable still.
	wantFields(t, i.call("", "GET", "/v1/matching/queue-status/world1", "").body, object{"waiting": 1})
}
