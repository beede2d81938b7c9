package cli

import (
	"net/netip"
	"strings"
	"testing"

	"muster/configs"
)

func TestGreeting_NamesWhatIsOn(t *testing.T) {
	t.Parallel()
	bare := strings.Join(greeting(configs.Default(), "", "127.0.0.1:8080", true), "\n")
	const want = `muster dev
  players     ws://127.0.0.1:8080/v1/ws
  demo        http://127.0.0.1:8080/ - open it twice
  settings    the defaults (muster config prints a file with all of them)
  auth        dev: clients name themselves, from this machine only
  worlds      world1 (group of 3), world2 (group of 3), world3 (group of 3), voice (duel of 2)
  allocators  none
  redis       embedded, for trying out: nothing outlives this process (set redis.url for more)
  journal     none
  webhooks    none
  metrics     http://127.0.0.1:9090/metrics`
	if bare != want {
		t.Errorf("%s\nwant\n%s", bare, want)
	}
	proxied := configs.Default()
	proxied.Limits.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	if text := strings.Join(greeting(proxied, "", "127.0.0.1:8080", true), "\n"); strings.Contains(text, "this machine only") {
		t.Errorf("behind a proxy:\n%s", text)
	}
	c := configs.Default()
	c.Auth.AllowDev, c.OpsListen = true, ""
	c.Redis.URL, c.Journal.URL = "redis://u:hunter2@h", "postgres://u:hunter2@h"
	c.Webhooks = []configs.Webhook{{URL: "http://h/hunter2"}, {URL: "http://i/hunter2"}}
	c.Worlds[0].Allocator = &configs.Allocator{Webhook: "http://h/hunter2"}
	c.Worlds[1].Allocator = &configs.Allocator{Agones: &configs.Agones{URL: "http://h/hunter2"}}
	full := strings.Join(greeting(c, "/etc/muster.yaml", "0.0.0.0:8080", false), "\n")
	for _, line := range []string{
		"settings    /etc/muster.yaml", "everybody can speak", "allocators  world1 (webhook), world2 (Agones)", "redis       as set; realm main",
		"journal     PostgreSQL, as set", "webhooks    to 2 addresses",
	} {
		if !strings.Contains(strings.ReplaceAll(full, "everybody who reaches the port can speak", "everybody can speak"), line) {
			t.Errorf("%q is not in\n%s", line, full)
		}
	}
	if strings.Contains(full, "hunter2") || strings.Contains(full, "metrics") {
		t.Errorf("shown:\n%s", full)
	}
}
