package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"muster/internal/child"
	"muster/protocol"
)

// proxyPage is the document whose blocks the tests below run.
const proxyPage = "docs/proxy.md"

// fileOf returns a block of a document that the document calls a file.
func fileOf(t *testing.T, page, file string) string {
	t.Helper()
	for _, b := range blocksOf(t, page) {
		if b.file == file {
			return b.text
		}
	}
	t.Fatalf("%s shows no file %s", page, file)
	return ""
}

// startNginx starts nginx with the document's block before the instances of a cluster, which must be two. The returned
// pseudo-instance has nginx' address.
func startNginx(t *testing.T, c *cluster) *instance {
	t.Helper()
	dir, front := t.TempDir(), freeAddr(t)
	block := strings.NewReplacer(
		"listen 80;", "listen "+front+";", "127.0.0.1:8081", c.instances[0].addr, "127.0.0.1:8082", c.instances[1].addr,
	).Replace(fileOf(t, proxyPage, "nginx.conf"))
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, `
daemon off;
pid %[1]s/pid;
error_log %[1]s/error.log;
events {}
http {
    access_log off;
    client_body_temp_path %[1]s/body;
    proxy_temp_path %[1]s/proxy;
    fastcgi_temp_path %[1]s/fastcgi;
    uwsgi_temp_path %[1]s/uwsgi;
    scgi_temp_path %[1]s/scgi;
%[2]s}
`, dir, block), 0o600); err != nil {
		t.Fatal(err)
	}
	// Debian keeps it where only root's PATH looks.
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx"
	}
	proc, err := child.Launch(exec.Command(program, "-c", file, "-p", dir, "-e", filepath.Join(dir, "error.log")), syscall.SIGTERM)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proc.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("stop nginx: %v", err)
		}
		<-proc.Exited()
	})
	i := &instance{t: t, cluster: c, name: "nginx", addr: front}
	eventually(t, i.readiness)
	return i
}

// startProxied starts two instances behind nginx, with the document's settings.
func startProxied(t *testing.T, env ...string) (*cluster, *instance) {
	t.Helper()
	settings := fileOf(t, proxyPage, "proxied.yaml")
	for _, line := range []string{"trusted_proxies: [127.0.0.1]", "origins: [https://play.example.com]"} {
		if !strings.Contains(settings, line) {
			t.Fatalf("the document's settings lack %s:\n%s", line, settings)
		}
	}
	c := startCluster(t, 2, withEnv(append(env, "LIMITS_TRUSTED_PROXIES=127.0.0.1", "ORIGINS=https://play.example.com")...))
	return c, startNginx(t, c)
}

// upgradeFrom asks nginx for a WebSocket from a loopback address and returns the answer. A connection that was upgraded
// stays open until the test ends.
func upgradeFrom(t *testing.T, front *instance, address string, header http.Header) *http.Response {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	own := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, to)
		},
	}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+front.addr+protocol.Path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "play.example.com"
	for name, values := range map[string][]string{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}, "Sec-Websocket-Protocol": {protocol.Subprotocol},
	} {
		request.Header[name] = values
	}
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := own.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = response.Body.Close()
		own.CloseIdleConnections()
	})
	return response
}

// isServed reports whether the first frame on a connection that was upgraded is a message and no close.
func isServed(t *testing.T, response *http.Response) bool {
	t.Helper()
	conn, ok := response.Body.(io.ReadWriter)
	if !ok {
		t.Fatalf("the upgrade is answered %d", response.StatusCode)
	}
	hello := `{"type":"hello","player_id":"ana"}`
	if _, err := conn.Write(append([]byte{0x81, 0x80 | byte(len(hello)), 0, 0, 0, 0}, hello...)); err != nil { // masked with zeros
		t.Fatal(err)
	}
	var frame [1]byte
	if _, err := io.ReadFull(conn, frame[:]); err != nil {
		t.Fatal(err)
	}
	return frame[0] == 0x81
}

func TestBehindNginx_PlayersMeet(t *testing.T) {
	t.Parallel()
	c, front := startProxied(t)
	a, b := c.player("a"), c.player("b")
	a.connect(front)
	b.connect(front)
	a.join("duel")
	b.join("duel")
	first, second := a.awaitMatch(), b.awaitMatch()
	if first.ID != second.ID {
		t.Errorf("they are in the matches %s and %s", first.ID, second.ID)
	}
	for _, path := range []string{"/v1/matches/", "/v1//matches/", "/v1/%6datches/", "/v1/x/../matches/"} {
		if status, _ := front.request(http.MethodDelete, path+first.ID, "", ""); status != http.StatusForbidden {
			t.Errorf("a player may end a match through the proxy: DELETE %s is answered %d", path, status)
		}
	}
}

func TestBehindNginx_OriginsAreCompared(t *testing.T) {
	t.Parallel()
	_, front := startProxied(t)
	for origin, want := range map[string]int{
		"https://play.example.com": http.StatusSwitchingProtocols, // TLS ends at the proxy
		"https://evil.example.com": http.StatusForbidden,
	} {
		response := upgradeFrom(t, front, "127.0.0.1", http.Header{"Origin": {origin}}) //nolint:bodyclose // upgradeFrom closes it when the test ends
		if response.StatusCode != want {
			t.Errorf("origin %s is answered %d, want %d", origin, response.StatusCode, want)
		}
	}
}

// TestBehindNginx_LimitsCountClients: each client address has a limit of its own, and a header of the client does not
// change its address.
func TestBehindNginx_LimitsCountClients(t *testing.T) {
	t.Parallel()
	c, front := startProxied(t, "LIMITS_CONNECTIONS_PER_IP=1")
	c.instances[1].kill() // the limit is of one instance
	for n, call := range []struct {
		from, claimed string
		served        bool
	}{
		{"127.0.0.2", "", true},
		{"127.0.0.3", "", true},
		{"127.0.0.2", "", false},
		{"127.0.0.2", "192.0.2.1", false},
	} {
		header := http.Header{}
		if call.claimed != "" {
			header.Set("X-Forwarded-For", call.claimed)
		}
		if got := isServed(t, upgradeFrom(t, front, call.from, header)); got != call.served { //nolint:bodyclose // likewise
			t.Errorf("connection %d, from %s as %q, is served: %v", n, call.from, call.claimed, got)
		}
	}
}

// TestBehindNginx_NoReconnectFailsInADrain connects through nginx again and again while an instance drains, which
// refuses all who come.
func TestBehindNginx_NoReconnectFailsInADrain(t *testing.T) {
	t.Parallel()
	c, front := startProxied(t, "DRAIN="+patience.String())
	stopping := c.instances[0]
	c.player("stays").connect(stopping) // the drain lasts while a player is there
	drainAndReconnect(t, front, stopping)
}

// TestBehindNginx_InstancesTakeTurns drains the second instance as soon as the first is back: nginx must not shun
// the first for the 503 of its own drain, or no instance is left.
func TestBehindNginx_InstancesTakeTurns(t *testing.T) {
	t.Parallel()
	c, front := startProxied(t, "DRAIN="+patience.String())
	first, second := c.instances[0], c.instances[1]
	c.player("stays").connect(first) // the drain lasts while a player is there
	drainAndReconnect(t, front, first)
	first.kill()
	first.start()
	first.awaitReady()
	c.player("remains").connect(second)
	drainAndReconnect(t, front, second)
}

// drainAndReconnect drains an instance, and connects through nginx again and again meanwhile.
func drainAndReconnect(t *testing.T, front, stopping *instance) {
	t.Helper()
	stopping.signal(syscall.SIGTERM)
	eventually(t, func() string {
		if stopping.readiness() == "" {
			return "it does not drain yet"
		}
		return ""
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for n := range 20 {
		p := stopping.cluster.player(fmt.Sprint(stopping.name, "p", n))
		if _, err := p.tryConnect(ctx, front); err != nil {
			t.Fatalf("connection %d while %s drains: %v", n, stopping.name, err)
		}
	}
	stopping.mustRun()
}
