package configs

import (
	"net/netip"
	"slices"
	"testing"
)

func TestDifference(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Config)
		want   []string
	}{
		"nothing":        {func(*Config) {}, nil},
		"worlds":         {func(c *Config) { c.Worlds = c.Worlds[:1] }, nil},
		"origins":        {func(c *Config) { c.Origins = []string{"https://a.example"} }, nil},
		"log level":      {func(c *Config) { c.Log.Level = LogDebug }, nil},
		"empty for none": {func(c *Config) { c.Limits.TrustedProxies = []netip.Prefix{}; c.Webhooks = []Webhook{} }, nil},
		"log format":     {func(c *Config) { c.Log.Format = LogJSON }, []string{"log.format"}},
		"secret":         {func(c *Config) { c.Redis.URL = "redis://h" }, []string{"redis.url"}},
		"list":           {func(c *Config) { c.Limits.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("::1/128")} }, []string{"limits.trusted_proxies"}},
		"section list":   {func(c *Config) { c.Webhooks = []Webhook{{URL: "http://h"}} }, []string{"webhooks"}},
		"several":        {func(c *Config) { c.Drain++; c.Listen = "x"; c.Presence.TTL++; c.Log.Level = LogWarn }, []string{"listen", "presence.ttl", "drain"}},
	} {
		old, changed := Default(), Default()
		c.change(&changed)
		if got := Difference(old, changed); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
