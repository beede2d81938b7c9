package server

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/configs"
	"muster/internal/faultproxy"
	"muster/internal/redistest"
	"muster/protocol"
)

func TestBeforeHelloEverythingElseIsRefusedAndTheConnectionStays(t *testing.T) {
	t.Parallel()
	p := run(t, serving(group("world1", 2))).open()
	for _, request := range []string{
		`"type":"join","world":"world1"`, `"type":"leave"`, `"type":"status"`, `"type":"ping"`, `"type":"ack","match_id":"m"`,
		`"type":"leave_match","match_id":"m"`, `"type":"accept","match_id":"m"`, `"type":"nonsense"`, `"type":"join"`, `"type":7`, `"x":1`,
	} {
		p.refused(request, "not_hello")
	}
	for _, request := range []string{`"type":"hello","player_id":""`, `"type":"hello","player_id":7`, `"type":"hello","have":[]`} {
		p.refused(request, "bad_message")
	}
	wantFields(t, p.ask(`"type":"hello","player_id":"ana"`), object{"type": "welcome", "player_id": "ana"})
}

func TestWelcomeTellsWhatTheInstanceIsSetTo(t *testing.T) {
	t.Parallel()
	i := run(t, serving(group("world1", 2)))
	w := i.greet("ana").welcome
	wantFields(t, w, object{
		"protocol": 1, "instance": i.server.store.Instance(), "heartbeat_ms": 10_000, "presence_ttl_ms": 25_000,
		"reconnect_grace_ms": 15_000, "queued": []any{}, "match": nil, "notices": []any{},
	})
	if off := time.Since(time.UnixMilli(number(w, "now"))).Abs(); off > patience {
		t.Errorf("now is %v off", off)
	}
}

func TestWhoDoesNotNameItselfGetsAnIdOfItsOwn(t *testing.T) {
	t.Parallel()
	i := run(t, serving(group("world1", 2)))
	var names []any
	for _, hello := range []string{`"type":"hello"`, `"type":"hello","player_id":null`, `"type":"hello","unknown":[{}]`} {
		welcome := i.open().ask(hello)
		if welcome["type"] != "welcome" || slices.Contains(names, welcome["player_id"]) {
			t.Errorf("%s: %v", hello, welcome)
		}
		names = append(names, welcome["player_id"])
	}
}

func TestHelloAgain(t *testing.T) {
	t.Parallel()
	i := run(t, serving(group("world1", 2)))
	p := i.greet("ana")
	joined := p.join("world1")
	for _, again := range []string{`"type":"hello","player_id":"ana"`, `"type":"hello"`, `"type":"hello","token":"t","client":"c/1"`} {
		w := p.ask(again)
		wantFields(t, w, object{"type": "welcome", "session_id": p.welcome["session_id"], "player_id": "ana"})
		if queued := entries(w, "queued"); len(queued) != 1 || queued[0]["ticket_id"] != joined["ticket_id"] {
			t.Errorf("%s: queued %v", again, queued)
		}
	}
	p.ask(`"type":"hello","have":{"tickets":["world1.17"]}`)
	wantFields(t, p.next("dequeued"), object{"ticket_id": "world1.17", "reason": "lost"})
	p.refused(`"type":"hello","player_id":"ben"`, "bad_message")
	wantFields(t, p.status(), object{"type": "status"})
}

func TestSubprotocols(t *testing.T) {
	t.Parallel()
	i := run(t, serving(group("world1", 2)))
	for offered, want := range map[string]struct {
		status   int
		selected string
	}{
		"":                      {http.StatusSwitchingProtocols, ""},
		"muster.v1":             {http.StatusSwitchingProtocols, "muster.v1"},
		"chat, muster.v1, soap": {http.StatusSwitchingProtocols, "muster.v1"},
		"muster.v2":             {http.StatusBadRequest, ""},
		"chat, soap":            {http.StatusBadRequest, ""},
	} {
		var lines []string
		if offered != "" {
			lines = append(lines, "Sec-WebSocket-Protocol: "+offered)
		}
		a := exchange(t, i.address, i.handshake(lines...))
		if a.status != want.status || a.header.Get("Sec-WebSocket-Protocol") != want.selected {
			t.Errorf("%q: status %d, selected %q", offered, a.status, a.header.Get("Sec-WebSocket-Protocol"))
		}
		if want.status == http.StatusBadRequest && !strings.Contains(string(a.body), protocol.Subprotocol) {
			t.Errorf("%q: the refusal does not name what is served: %s", offered, a.body)
		}
	}
}

func TestANewerConnectionTakesOver(t *testing.T) {
	t.Parallel()
	settings := settings(t, serving(group("world1", 2), group("world2", 2)))
	one, two := launch(t, settings), launch(t, settings)
	for name, second := range map[string]*instance{"on the same instance": one, "on another": two} {
		t.Run(name, func(t *testing.T) {
			player := strings.ReplaceAll(name, " ", "-")
			old := one.greet(player)
			joined := old.join("world1")
			newer := second.greet(player)
			queued := entries(newer.welcome, "queued")
			if len(queued) != 1 || queued[0]["ticket_id"] != joined["ticket_id"] {
				t.Errorf("the newer one is told %v", queued)
			}
			if code := old.closed(); code != protocol.CloseReplaced {
				t.Errorf("close code %d", code)
			}
			if newer.welcome["session_id"] == old.welcome["session_id"] {
				t.Error("it is the same session")
			}
			wantFields(t, newer.ask(`"type":"leave"`), object{"worlds": []any{"world1"}})
		})
	}
}

// The way of one instance to Redis is so slow that the newer session is there before the request.
func TestARequestOfAReplacedSessionIsVoid(t *testing.T) {
	t.Parallel()
	config := settings(t, serving(group("world1", 2)))
	proxy := faultproxy.Start(t, redistest.Shared(t).Addr())
	near := launch(t, config)
	config.Redis.URL = configs.Secret("redis://" + proxy.Addr())
	far := launch(t, config)
	old := far.greet("ana")
	proxy.Delay(400 * time.Millisecond)
	old.send(`"type":"join","world":"world1"`)
	newer := near.greet("ana")
	proxy.Delay(0)
	far.counted(`muster_errors_sent_total{code="replaced"} 1`)
	if code := old.closed(); code != protocol.CloseReplaced {
		t.Errorf("close code %d", code)
	}
	wantFields(t, newer.status(), object{"queued": []any{}})
}

func TestHelloMustComeInTime(t *testing.T) {
	t.Parallel()
	p := run(t, serving(group("world1", 2))).open()
	begin := time.Now()
	p.refused(`"type":"status"`, "not_hello")
	if code := p.closed(); code != protocol.CloseHelloTimeout {
		t.Errorf("close code %d", code)
	}
	if after := time.Since(begin); after < protocol.HelloTimeout-time.Second || after > protocol.HelloTimeout+patience {
		t.Errorf("closed after %v", after)
	}
}

func TestUnavailableAsAnswerToHelloStartsTheTimeAnew(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	i := run(t, func(c *configs.Config) { c.Redis.URL = configs.Secret(redis.URL()) })
	p := i.open()
	opened := time.Now()
	eventually(t, "the time is nearly over", func() bool { return time.Since(opened) > protocol.HelloTimeout-time.Second })
	redis.Pause()
	// It is in time, though the answer to it is not.
	p.refused(`"type":"hello","player_id":"ana"`, "unavailable")
	refused := time.Now()
	redis.Resume()
	if since := refused.Sub(opened); since < protocol.HelloTimeout {
		t.Fatalf("the answer came after %v, too early for this test", since)
	}
	if code := p.closed(); code != protocol.CloseHelloTimeout {
		t.Errorf("close code %d", code)
	}
	if since := time.Since(refused); since < protocol.HelloTimeout-time.Second {
		t.Errorf("closed %v after the answer", since)
	}
}

// A client that goes before its hello was carried out leaves nothing behind.
func TestWhoGoesBeforeItsWelcomeIsForgotten(t *testing.T) {
	t.Parallel()
	i := run(t, serving(group("world1", 2)))
	for n := range 200 {
		c, err := net.Dial("tcp", i.address)
		if err != nil {
			t.Fatal(err)
		}
		sent := strings.Replace(handshake(), "GET / ", "GET "+protocol.Path+" ", 1)
		if _, err := c.Write(append([]byte(sent), frameOf(fmt.Sprintf(`{"type":"hello","player_id":"hasty%d"}`, n))...)); err != nil {
			t.Fatal(err)
		}
		if n%2 == 0 {
			_ = c.(*net.TCPConn).SetLinger(0) // a reset
		}
		_ = c.Close()
	}
	i.greet("ana")
	eventually(t, "only who stayed has a session", func() bool { return i.server.hub.Count() == 1 })
}

// The player of a hello that was refused after its arrival is away, as it has no session here: it is not matched.
func TestHello_RefusedInRecoveryDeparts(t *testing.T) {
	t.Parallel()
	redis := redistest.Shared(t)
	config := settings(t, func(c *configs.Config) {
		c.Worlds = []configs.World{group("world1", 2)}
		c.Redis.Recovery = time.Minute // longer than an answer may take
		c.Presence.TTL = time.Hour     // no presence ends by itself here
	})
	p := launch(t, config).open()
	presence := fmt.Sprintf("mm:{%s}:pr:ana", config.Realm)
	exists := func() int64 {
		n, err := redis.Do(t.Context(), "EXISTS", presence)
		if err != nil {
			t.Fatal(err)
		}
		return n.(int64)
	}
	id := p.send(`"type":"hello","player_id":"ana","have":{"tickets":["world1.1"]}`)
	eventually(t, "the player has arrived", func() bool { return exists() == 1 })
	answer := p.await("an answer", func(o object) bool { return o["id"] == id })
	wantFields(t, answer, object{"type": "error", "code": "unavailable"})
	eventually(t, "the player has departed", func() bool { return exists() == 0 })
}
