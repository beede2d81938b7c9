package e2e

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"muster/protocol"
)

func TestTheUpgradeWorksWithWhatBrowsersSend(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	conn, err := net.Dial("tcp", c.instances[0].addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // dropped, as by a crash
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, err = fmt.Fprintf(conn, "GET /v1/ws HTTP/1.1\r\nHost: %s\r\nOrigin: http://%[1]s\r\nConnection: keep-alive, Upgrade\r\n"+
		"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"+
		"Sec-WebSocket-Protocol: muster.v1\r\nSec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"+
		"Accept-Encoding: gzip, deflate, br\r\n\r\n", c.instances[0].addr)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusSwitchingProtocols || response.Header.Get("Sec-WebSocket-Protocol") != protocol.Subprotocol {
		t.Errorf("the upgrade is answered with %s %v", response.Status, response.Header)
	}
	p := c.players("p", 1)[0]
	current, _ := p.current()
	current.Close(protocol.CloseNormal)
	if status, body := c.instances[0].request("GET", protocol.Path, "", ""); status < 400 || status >= 500 || body == "" {
		t.Errorf("a plain GET is answered with %d %q", status, body)
	}
}

func TestOnlyAllowedOriginsMayConnect(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1, withEnv("ORIGINS=https://game.example"))
	i := c.instances[0]
	for _, origin := range []string{
		"https://evil.example", "https://game.example.evil.example", "https://evilgame.example",
		"http://game.example", "https://game.example:8443", "null", "https://game.example@evil.example",
	} {
		if _, status := tryRaw(t, i, http.Header{"Origin": {origin}}); status != http.StatusForbidden {
			t.Errorf("origin %s is answered with %d", origin, status)
		}
	}
	if _, status := tryRaw(t, i, http.Header{"Origin": {"https://game.example", "https://evil.example"}}); status != http.StatusForbidden && status != http.StatusBadRequest {
		t.Errorf("two origins are answered with %d", status)
	}
	for _, header := range []http.Header{{"Origin": {"https://game.example"}}, {}} {
		if conn, status := tryRaw(t, i, header); conn == nil {
			t.Errorf("%v is answered with %d", header, status)
		}
	}
}

func TestByDefaultOtherSitesMayNotConnect(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	if _, status := tryRaw(t, c.instances[0], http.Header{"Origin": {"https://evil.example"}}); status != http.StatusForbidden {
		t.Errorf("a foreign origin is answered with %d", status)
	}
	if conn, status := tryRaw(t, c.instances[0], http.Header{"Origin": {"http://" + c.instances[0].addr}}); conn == nil {
		t.Errorf("the own origin is answered with %d", status)
	}
}

func TestDeeplyNestedMessagesHurtNobody(t *testing.T) {
	t.Parallel()
	// The bare connection answers no pings while a new realm's first match waits for redis.recovery.
	c := startCluster(t, 1, withEnv("PRESENCE_TTL=20s"))
	i := c.instances[0]
	pid := i.proc.PID()
	canaries := c.players("canary", 2)
	const bytes = protocol.MaxFrameBytes
	raw := dialRaw(t, i)
	raw.send(`{"type":"hello","player_id":"deep"}`)
	raw.expect(`"type":"welcome"`)
	for _, frame := range []string{
		strings.Repeat("[", bytes),
		strings.Repeat(`{"a":`, bytes/5),
		strings.Repeat("[", bytes/2) + strings.Repeat("]", bytes/2),
		strings.Repeat(`{"a":`, bytes/6) + "1" + strings.Repeat("}", bytes/6),
		`{"type":"status","x":` + strings.Repeat("[", bytes/2-20) + strings.Repeat("]", bytes/2-20) + `}`,
		`{"type":"join","world":"duel","attributes":{"a":` + strings.Repeat("[", 20) + strings.Repeat("]", 20) + `}}`,
	} {
		raw.send(frame)
		raw.expect(`"code":"bad_message"`)
		status, body := i.request("POST", "/v1/matching/join", "deep", frame)
		if status != http.StatusBadRequest || !strings.Contains(body, `"code":"bad_message"`) {
			t.Errorf("over HTTP %.40s… is answered with %d %s", frame, status, body)
		}
		canaries[0].join("duel")
		canaries[1].join("duel")
		m := together(t, canaries...)
		for _, p := range canaries {
			p.leaveMatch(m.ID)
		}
	}
	raw.send(strings.Repeat("[", bytes+1))
	raw.expectClose(protocol.CloseTooLarge)
	if i.proc.PID() != pid || !i.running() {
		t.Error("the instance has ended")
	}
}

func TestFramesThatAreNotUTF8AreRefused(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	i := c.instances[0]
	greeted := func(id string) *rawConn {
		raw := dialRaw(t, i)
		raw.send(fmt.Sprintf(`{"type":"hello","player_id":%q}`, id))
		raw.expect(`"type":"welcome"`)
		return raw
	}
	bad := greeted("p1")
	bad.send("{\"type\":\"join\",\"world\":\"duel\",\"name\":\"\xff\xfe\"}")
	bad.expectClose(protocol.CloseInvalidText)
	binary := greeted("p2")
	binary.write(websocket.MessageBinary, `{"type":"status"}`)
	binary.expectClose(protocol.CloseUnsupported)
	lone := greeted("p3")
	lone.send(`{"type":"status","id":"s","name":"\ud800"}`)
	if frame, code := lone.read(); code != 0 && code != protocol.CloseInvalidText {
		t.Errorf("a lone surrogate is answered with %s and %d", frame, code)
	}
	lone = greeted("p4")
	lone.send(`{"type":"join","world":"\ud800"}`)
	lone.expect(`"code":"bad_message"`)
}
