package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

func TestForgedAddressesDoNotPassTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 5
	c := startCluster(t, 1, withEnv(fmt.Sprintf("LIMITS_CONNECTIONS_PER_IP=%d", limit)))
	admitted := 0
	for k := range 3 * limit {
		address := fmt.Sprintf("10.9.8.%d", k)
		raw := upgraded(t, c.instances[0], http.Header{
			"X-Forwarded-For": {address}, "X-Real-Ip": {address}, "Cf-Connecting-Ip": {address}, "Forwarded": {"for=" + address},
		})
		if admits(raw) {
			admitted++
		}
	}
	if admitted != limit {
		t.Errorf("%d of %d were admitted, want %d", admitted, 3*limit, limit)
	}
}

func TestATrustedProxysClientsAreCountedByTheirOwnAddress(t *testing.T) {
	t.Parallel()
	const limit = 3
	c := startCluster(t, 1, withEnv(fmt.Sprintf("LIMITS_CONNECTIONS_PER_IP=%d", limit), "LIMITS_TRUSTED_PROXIES=127.0.0.1/32"))
	from := func(header string) bool {
		return admits(upgraded(t, c.instances[0], http.Header{"X-Forwarded-For": {header}}))
	}
	for range limit {
		if !from("192.0.2.1, 198.51.100.7") {
			t.Error("refused below the limit")
		}
	}
	if from("192.0.2.2, 198.51.100.7") {
		t.Error("another forged address in front passes the limit")
	}
	if !from("192.0.2.1") {
		t.Error("the address that was only claimed is limited")
	}
	junk := 0
	for _, header := range []string{"a,b", strings.Repeat("x", 8000), "::x%eth0", "300.1.2.3", ",,,", "1.2.3.4:x"} {
		if from(header) {
			junk++
		}
	}
	if junk > limit {
		t.Errorf("%d of 6 junk addresses were admitted, each with a count of its own", junk)
	}
}

// upgraded is a connection, nil where the server refused the upgrade with a status that says so.
func upgraded(t *testing.T, i *instance, header http.Header) *rawConn {
	t.Helper()
	conn, status := tryRaw(t, i, header)
	if conn == nil {
		if status >= 500 && status != http.StatusServiceUnavailable {
			t.Errorf("%.60v is answered with %d", header, status)
		}
		return nil
	}
	return &rawConn{t, conn}
}

// admits reports whether the connection gets a welcome.
func admits(raw *rawConn) bool {
	if raw == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(raw.t.Context(), patience)
	defer cancel()
	_ = raw.conn.Write(ctx, websocket.MessageText, []byte(`{"type":"hello"}`)) // may be closed already
	frame, _ := raw.read()
	return strings.Contains(frame, `"welcome"`)
}
